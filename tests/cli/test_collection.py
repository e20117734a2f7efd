"""Python's collector while all is surveyed, and after that."""

import gc
import os
from pathlib import Path

from gitdash.cli.acted_on import repositories
from gitdash.cli.session import Session
from tests.support.repositories import GIT, GitRepository


def test_collector_goes_on_after_a_survey_that_selects_what_is_acted_on(tmp_path: Path) -> None:
    GitRepository.init(tmp_path / "one.git").commit({"a": "1"})
    session = Session(config_path=None, state_path=None, keeps_state=False, git_program=GIT)
    try:
        meant = repositories(session, (os.fsencode(tmp_path),), "loose > 0")
        assert [os.path.basename(one.path) for one in meant.repositories] == [b"one.git"]
        assert gc.isenabled()
    finally:
        gc.unfreeze()
