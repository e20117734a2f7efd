"""`gitdash maintain`: the plan of each repository that is named, then, if the user agrees, the running of it."""

import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from gitdash import __version__
from gitdash.cli.acted_on import Meant, repositories
from gitdash.cli.acting import Run, acting, worst
from gitdash.cli.clock import wall_clock
from gitdash.cli.output import ProgressLine, say, write_text
from gitdash.cli.session import Session
from gitdash.errors import ExitCode, GitdashError
from gitdash.export.json_values import SCHEMA_VERSION, json_text
from gitdash.export.plan_lines import plan_record, plans_lines
from gitdash.maintenance.claims import Families
from gitdash.model.plan import Plan
from gitdash.model.progress import CommandProgress
from gitdash.model.task import Task
from gitdash.survey.acting import Actions
from gitdash.survey.maintaining import Planned
from gitdash.units import counted, printable_path, utc_text

_RECLAIM_ALONE: Final = "reclaim drops objects: it is a task of its own, for one repository at a time"


class NotConfirmedError(GitdashError):
    """Nobody is there to agree, or what was typed is not what was asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MaintainCommand:
    """What the command line says."""

    paths: tuple[bytes, ...]
    where: str | None
    task_names: tuple[str, ...]
    """Empty for what the findings name."""
    dry_run: bool
    agreed: bool
    confirmed_name: str | None
    """What was typed to confirm `reclaim`."""
    output_format: str
    verbose: bool

    @property
    def tasks(self) -> tuple[Task, ...]:
        """The tasks that are asked for, each once; their names have to be known."""
        return tuple(dict.fromkeys(map(Task, self.task_names)))


def run_maintain(session: Session, command: MaintainCommand) -> int:
    """Show the plans; run what nothing speaks against. One repository that fails stops no other."""
    unknown = [name for name in command.task_names if name not in set(Task)]
    if unknown:
        say(f"gitdash: there is no task '{unknown[0]}'{_hint(unknown[0])}")
        return ExitCode.REFUSED
    if Task.RECLAIM in command.tasks:
        _require_one(command)
    meant = repositories(session, command.paths, command.where)
    if not meant.repositories:
        return meant.exit_code
    if Task.RECLAIM in command.tasks:
        _require_name(meant, command.confirmed_name)
    with acting(session) as actions:
        planned = list(_plans(actions, meant, command))
        has_failed = len(planned) < len(meant.repositories)
        exit_code = worst(meant.exit_code, ExitCode.FINDINGS if has_failed else ExitCode.DONE)
        return worst(_show_and_run(session, actions, planned, command), exit_code) if planned else exit_code


def _hint(name: str) -> str:
    import difflib

    nearest = difflib.get_close_matches(name, list(Task), n=1, cutoff=0.6)
    return f"; did you mean '{nearest[0]}'?" if nearest else f"; the tasks are {', '.join(Task)}"


def _plans(actions: Actions, meant: Meant, command: MaintainCommand) -> Iterator[Planned]:
    """Yield the plans that can be made; says why the others cannot."""
    progress = ProgressLine()
    for number, repository in enumerate(meant.repositories, 1):
        progress.show(f"making plans {number}/{len(meant.repositories)}")
        try:
            yield actions.plan(
                repository,
                command.tasks or None,
                known=meant.known.get(repository.path),
                on_progress=partial(_show_walk, progress),
            )
        except GitdashError as error:
            progress.clear()
            say(f"gitdash: {printable_path(repository.path)}: {error}")
    progress.clear()


def _show_walk(progress: ProgressLine, walk: CommandProgress) -> None:
    progress.show(f"counting what would be dropped: {walk.done_count:,} objects that are needed")


def _show_and_run(session: Session, actions: Actions, planned: Sequence[Planned], command: MaintainCommand) -> int:
    plans = [one.plan for one in planned]
    is_only_shown = command.dry_run or command.output_format == "script"
    can_be_run = any(plan.runnable for plan in plans)
    is_written_down = can_be_run or any(plan.is_refused for plan in plans)
    if is_only_shown or not is_written_down or command.output_format == "table":
        _print_plans(session, plans, command)
    if is_only_shown:
        return _refusal_code(plans)
    if not is_written_down:
        say("there is nothing to do")
        return ExitCode.DONE
    name = command.confirmed_name
    if can_be_run:
        name = _name_or_agreement(plans, command)
    return _run(actions, planned, command, name)


def _run(actions: Actions, planned: Sequence[Planned], command: MaintainCommand, confirmed_name: str | None) -> int:
    meant = [one for one in planned if one.plan.tasks or one.plan.is_refused]
    paths = [one.plan.path for one in meant]
    run = Run(paths, output_format=command.output_format, is_verbose=command.verbose)
    run_id = actions.new_run()
    families = Families(one.report for one in planned)
    name = None if confirmed_name is None else os.fsencode(confirmed_name)
    with run.reported(actions):
        for one in meant:
            what = ", ".join(task.task for task in one.plan.runnable)
            watch = run.watch(one.plan.path, f"maintain {what}".rstrip())
            run.follow([actions.maintain(one, watch, run=run_id, families=families, confirmed_name=name)])
    return run.finish()


def _print_plans(session: Session, plans: Sequence[Plan], command: MaintainCommand) -> None:
    if command.output_format == "script":
        from gitdash.maintenance.script import shell_script

        write_text(shell_script(plans, git=session.git.path))
    elif command.output_format == "json":
        document = {
            "schema_version": SCHEMA_VERSION,
            "gitdash_version": __version__,
            "git_version": session.git.version_text,
            "generated_at": utc_text(wall_clock()),
            "plans": [plan_record(plan) for plan in plans],
        }
        write_text(json_text(document))
    else:
        write_text("".join(f"{line}\n" for line in plans_lines(plans, is_whole=command.verbose)))


def _refusal_code(plans: Sequence[Plan]) -> int:
    """The same as if the plans were run: whoever starts this every night shall hear of what is not done."""
    if any(plan.is_skipped for plan in plans):
        return ExitCode.FINDINGS
    return ExitCode.REFUSED if any(plan.is_refused for plan in plans) else ExitCode.DONE


def _require_one(command: MaintainCommand) -> None:
    if len(command.paths) != 1 or len(command.tasks) != 1:
        raise NotConfirmedError(_RECLAIM_ALONE)


def _require_name(meant: Meant, confirmed_name: str | None) -> None:
    """Whatever is to be done with the plan: a name that is none of its repository's was not meant for that."""
    if len(meant.repositories) > 1:
        raise NotConfirmedError(_RECLAIM_ALONE)
    name = os.path.basename(meant.repositories[0].path)
    if confirmed_name is not None and os.fsencode(confirmed_name) != name:
        given, right = printable_path(os.fsencode(confirmed_name)), printable_path(name)
        raise NotConfirmedError(f"'{given}' is not its name, which is '{right}'")


def _name_or_agreement(plans: Sequence[Plan], command: MaintainCommand) -> str | None:
    """Ask on the terminal, after the plan; where there is none, only --yes is an answer, and to `reclaim` --confirm.

    What changes nothing is not asked about.
    Returns the name that confirms `reclaim`.
    """
    if Task.RECLAIM in command.tasks:
        return _typed_name(plans[0]) if command.confirmed_name is None else command.confirmed_name
    if not command.agreed and any(task.task.changes_repository for plan in plans for task in plan.runnable):
        _require_agreement(plans)
    return None


def _typed_name(plan: Plan) -> str:
    if sys.stdin is None or not sys.stdin.isatty():
        raise NotConfirmedError("reclaim drops objects: confirm it with --confirm and the repository's name")
    import click

    gain = next(task.gain for task in plan.tasks if task.task is Task.RECLAIM)
    typed = click.prompt(f"{gain}; type the repository's name to run it", default="", show_default=False, err=True)
    if not typed:
        raise NotConfirmedError("nothing is run")
    return str(typed)


def _require_agreement(plans: Sequence[Plan]) -> None:
    tasks = counted(sum(len(plan.runnable) for plan in plans), "task")
    where = counted(sum(bool(plan.runnable) for plan in plans), "repository", "repositories")
    question = f"run {tasks} in {where}?"
    if sys.stdin is None or not sys.stdin.isatty():
        raise NotConfirmedError(f"{question} nobody can be asked here: say --yes, or --dry-run to see the plan")
    import click

    if not click.confirm(question, default=False, err=True):
        raise NotConfirmedError("nothing is run")
