"""Prints experiments in the format that was asked for, and writes their picture."""

import shutil
from collections.abc import Sequence
from typing import Final

from gitdash import __version__
from gitdash.cli.clock import wall_clock
from gitdash.cli.output import is_terminal, say, write_text
from gitdash.cli.session import Session
from gitdash.export.experiment_plot import ASCII, UNICODE
from gitdash.export.json_values import json_text
from gitdash.model.experiment import ExperimentResult
from gitdash.units import printable

COMPARED_COUNT: Final = 5
"""Earlier results beside one that is printed."""
_WIDTH_OF_PIPES: Final = 100


def print_experiment(
    session: Session, result: ExperimentResult, output_format: str, *, earlier: Sequence[ExperimentResult] = ()
) -> None:
    """Print one experiment; as a table beside `earlier` ones of the same repository."""
    if output_format == "table":
        from gitdash.export.experiment_lines import experiment_lines

        width = shutil.get_terminal_size().columns if is_terminal() else _WIDTH_OF_PIPES
        glyphs = ASCII if session.dashboard.glyphs == "ascii" else UNICODE
        lines = experiment_lines(result, width=width, glyphs=glyphs, earlier=earlier)
        write_text("".join(f"{line}\n" for line in lines))
    elif output_format == "markdown":
        from gitdash.export.experiment_markdown import experiment_markdown

        write_text(experiment_markdown(result))
    else:
        print_experiments([result], output_format)


def print_experiments(results: Sequence[ExperimentResult], output_format: str) -> None:
    """Print experiments as data: `json` or `csv`."""
    from gitdash.export.experiment_record import experiments_csv, experiments_document

    if output_format == "csv":
        write_text(experiments_csv(results))
    else:
        write_text(json_text(experiments_document(results, gitdash_version=__version__, now_s=wall_clock())))


def plot_experiment(result: ExperimentResult, path: str | None) -> None:
    """Write the picture of an experiment, and say so; nothing if no file was asked for. Raises PictureError."""
    if path is None:
        return
    from gitdash.cli.picture_file import write_picture
    from gitdash.export.experiment_picture import picture_of

    picture = picture_of(result)
    if picture is None:
        say("gitdash: nothing was run, so nothing is drawn")
        return
    write_picture(picture, path)
    say(f"gitdash: the runs are drawn in {printable(path)}")
