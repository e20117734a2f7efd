"""A second inspection: what is known stands where the files are as they were, and only as long as it holds."""

import os
import time
from pathlib import Path

import msgspec

from gitdash.model.inspection import Inspection, LooseFacts
from gitdash.survey.inspect_now import inspect_again, inspect_now
from tests.support.repositories import GitRepository


def _known(tmp_path: Path) -> tuple[GitRepository, bytes, Inspection, float]:
    """Return a repository whose files are a day old, with its git directory, an inspection, and the time of it."""
    repository = GitRepository.init(tmp_path / "r.git")
    repository.commit({"a": "1"})
    now_s = time.time()
    for folder, _, names in os.walk(repository.path, topdown=False):
        for path in (*(os.path.join(folder, name) for name in names), folder):
            os.utime(path, (now_s - 86_400, now_s - 86_400))
    git_dir = os.fsencode(repository.path)
    known = inspect_now(git_dir, git_dir, now_s=now_s)
    assert isinstance(known, Inspection)
    return repository, git_dir, known, now_s


def test_what_is_known_stands_where_nothing_has_changed(tmp_path: Path) -> None:
    _, git_dir, known, now_s = _known(tmp_path)
    assert inspect_again(git_dir, git_dir, known, now_s=now_s + 1) is known


def test_new_objects_are_counted(tmp_path: Path) -> None:
    repository, git_dir, known, now_s = _known(tmp_path)
    repository.commit({"a": "2"})
    again = inspect_again(git_dir, git_dir, known, now_s=now_s + 1)
    assert isinstance(again, Inspection)
    assert isinstance(again.loose, LooseFacts)
    assert isinstance(known.loose, LooseFacts)
    # a commit, its tree, and the file
    assert again.loose.count == known.loose.count + 3


def test_what_holds_no_longer_is_read_anew(tmp_path: Path) -> None:
    _, git_dir, known, now_s = _known(tmp_path)
    expired = msgspec.structs.replace(known, valid_until_s=now_s)
    again = inspect_again(git_dir, git_dir, expired, now_s=now_s + 1)
    assert isinstance(again, Inspection)
    assert (again.inspected_at_s, again.fingerprint) == (now_s + 1, known.fingerprint)
