"""Experiments on repositories of a test: few runs, and what must not change."""

import os
import stat
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gitdash.gitcmd.installed import find_git
from gitdash.lab.experiments import EXPERIMENTS
from gitdash.lab.request import ExperimentRequest
from gitdash.lab.variant import Limits
from gitdash.model.experiment import ExperimentKind, ExperimentResult, ExperimentRun, VariantResult
from gitdash.survey.exclusive import with_exclusive
from tests.support.fetching import report_of
from tests.support.repositories import GIT


def request_for(
    path: Path,
    *,
    runs: int = 1,
    chosen: tuple[str, ...] = (),
    on_run: Callable[[ExperimentRun], None] = lambda _: None,
    on_discard: Callable[[], None] = lambda: None,
    is_cold: bool = False,
    **options: Any,
) -> ExperimentRequest:
    """A request by a report made now; the registry lies in the temporary folder of the test run."""
    registry = Path(tempfile.mkdtemp(prefix="registry-", dir=path.parent))
    return ExperimentRequest(
        report=with_exclusive(report_of(path), now_s=time.time()),
        program=find_git(GIT),
        clock=time.time,
        registry_dir=os.fsencode(registry),
        limits=Limits(least_runs=runs, most_runs=runs, budget_s=60.0),
        is_cold=is_cold,
        chosen=chosen,
        on_run=on_run,
        on_discard=on_discard,
        options=options,
    )


def made(kind: ExperimentKind, path: Path, **wishes: Any) -> ExperimentResult:
    """Make an experiment; no copy may be left."""
    request = request_for(path, **wishes)
    result = EXPERIMENTS[kind].run(request)
    assert os.listdir(request.registry_dir) == []
    os.rmdir(request.registry_dir)
    return result


def by_name(result: ExperimentResult) -> dict[str, VariantResult]:
    """The variants by their names."""
    return {variant.name: variant for variant in result.variants}


def answers(result: ExperimentResult) -> dict[str, int | None]:
    """What the variants that ran answered."""
    return {variant.name: variant.runs[-1].answer for variant in result.variants if variant.runs}


def state_of(*folders: Path) -> dict[str, tuple[int, int, int, int, bytes]]:
    """Mode, owner, inode, time and content of everything below the folders, and of these."""
    found = {}
    for folder in folders:
        for path in [folder, *folder.rglob("*")]:
            status = path.lstat()
            content = path.read_bytes() if stat.S_ISREG(status.st_mode) else b""
            found[str(path)] = (status.st_mode, status.st_uid, status.st_ino, status.st_mtime_ns, content)
    return found
