"""`gitdash bench list` and `gitdash bench show`: experiments that the state file remembers. Needs no git."""

import os
from typing import TYPE_CHECKING

from gitdash.cli.bench_output import COMPARED_COUNT, plot_experiment, print_experiment, print_experiments
from gitdash.cli.clock import wall_clock
from gitdash.cli.output import say, write_text
from gitdash.cli.session import Session, absolute_path
from gitdash.errors import ExitCode, GitdashError
from gitdash.model.experiment import ExperimentKind
from gitdash.survey.single import find_repository
from gitdash.units import printable_path

if TYPE_CHECKING:
    from gitdash.history.experiments import Experiments


class NoExperimentError(GitdashError):
    """No experiment has this number."""


def run_list(session: Session, *, repository: bytes | None, kind: str | None, limit: int, output_format: str) -> int:
    """Print the last experiments; a repository that is gone is known by its path."""
    with session.required_history() as history:
        path = None if repository is None else _known_path(session, history.experiments, absolute_path(repository))
        wanted = None if kind is None else ExperimentKind(kind)
        results = history.experiments.newest(path, wanted, limit=limit)
    if output_format != "table":
        print_experiments(results, output_format)
    elif results:
        from gitdash.export.experiment_lines import list_lines

        write_text("".join(f"{line}\n" for line in list_lines(results, wall_clock())))
    else:
        say("gitdash: no experiment is remembered" + (f" of {printable_path(path)}" if path is not None else ""))
    return ExitCode.DONE


def run_show(session: Session, number: int, *, output_format: str, plot_path: str | None) -> int:
    """Print one experiment as it was printed when it was made, beside those before it."""
    if plot_path is not None:
        from gitdash.cli.picture_file import require_picture_file

        require_picture_file(plot_path)
    with session.required_history() as history:
        result = history.experiments.one(number)
        if result is None:
            raise NoExperimentError(f"no experiment has number {number}; `gitdash bench list` names them")
        earlier = history.experiments.before(result, limit=COMPARED_COUNT)
    print_experiment(session, result, output_format, earlier=earlier)
    plot_experiment(result, plot_path)
    return ExitCode.DONE


def _known_path(session: Session, experiments: "Experiments", path: bytes) -> bytes:
    """Return the path under which experiments are remembered; raises GitdashError if there is neither."""
    try:
        return find_repository(path, settings=session.settings, effective_uid=os.geteuid()).path
    except GitdashError:
        if experiments.newest(path, limit=1):
            return path
        raise
