"""Plans as a script for a POSIX shell, to be read, changed and run by a person.

The script does what gitdash would do: the same commands with the same configuration and environment, under the same
lock, `objects/maintenance.lock`, which git's own maintenance heeds. What gitdash does itself and a shell should not do
(whether any process has a file open, no shell can tell) it says on stderr when it is run, with the command that does,
and ends with 1. Facts are those of the moment when it was made: of what may have changed it looks at locks alone, and
whether the repository borrows by now. Pure.
"""

import shlex
from collections.abc import Iterator, Sequence
from typing import Final

from gitdash.assessment.sentences import shell_word
from gitdash.gitcmd.environment import CONFIG_OVERRIDES, VARIABLES
from gitdash.maintenance.shell_words import posix_word
from gitdash.maintenance.steps import REMOVE_PACKED_LOOSE, in_shell, removes_own_copies
from gitdash.model.plan import Plan, PlannedTask, Step
from gitdash.model.task import Task
from gitdash.units import human_bytes, printable, printable_path

_HEAD: Final = """#!/bin/sh
# Maintenance of Git repositories. Read it before you run it: it was made from what they were at that moment.
# No command in it drops an object.
set -eu

held=
release() {
    if [ -n "$held" ]; then rm -f -- "$held"; held=; fi
}
trap release EXIT
trap 'release; trap - INT; kill -INT $$' INT
trap 'release; trap - TERM; kill -TERM $$' TERM

# Takes the lock of git's own maintenance; fails if somebody has it, or if a gc runs or has been killed lately.
take() {
    if [ -n "$(find "$common_dir/gc.pid" -mtime -1 2>/dev/null)" ]; then
        echo "skipped: $common_dir/gc.pid is there" >&2
        return 1
    fi
    if [ ! -e "$1" ] && (set -C; echo "script $$ $(uname -n)" > "$1") 2>/dev/null; then held=$1; return 0; fi
    echo "skipped: $1 is held, or cannot be made" >&2
    return 1
}

# Fails if the repository borrows by now: what removes copies here would remove them because a lender has them.
alone() {
    if grep -q '^[^#]' "$common_dir/objects/info/alternates" 2>/dev/null; then
        echo "stopped: $common_dir borrows objects, and did not when this was written" >&2
        return 1
    fi
}

# Says what this script leaves out.
leave() {
    printf 'left out: %s\n' "$1" >&2
    failed=1
}
"""
_CALL: Final = 'call --git-dir="$common_dir"'
"""The function, in the repository whose turn it is."""
_PRINTS_A_NAME: Final = frozenset({"pack-objects", "index-pack"})


def shell_script(plans: Sequence[Plan], *, git: str = "git") -> str:
    """Return the script of all plans, which a shell runs in their order; a plan whose lock is held is passed by.

    `git` is the program. A repository whose commands fail ends its own part alone; the script then ends with 1, as it
    does if it leaves something out.
    """
    parts = [_HEAD, *_call(git), "", "failed=0"]
    for plan in plans:
        parts += ["", *_plan(plan)]
    return "\n".join([*parts, "", "exit $failed", ""])


def _call(git: str) -> Iterator[str]:
    """The environment is made from nothing, as in every call of gitdash."""
    yield "# git, with what neither the caller's environment nor a repository's configuration may change."
    yield "call() {"
    yield '    env -i "PATH=$PATH" \\'
    for variable in VARIABLES:
        yield f"        {shlex.quote(f'{variable.name}={variable.value}')} \\"
    yield f"        {shlex.quote(git)} \\"
    for override in CONFIG_OVERRIDES:
        yield f"        -c {shlex.quote(f'{override.key}={override.value}')} \\"
    yield '        "$@" </dev/null'
    yield "}"


def _plan(plan: Plan) -> Iterator[str]:
    yield f"# == {printable_path(plan.path)}"
    for planned in plan.tasks:
        yield from _not_run(plan, planned)
    runnable = [planned for planned in plan.runnable if _can_be_whole(planned)]
    if not runnable:
        return
    yield f"common_dir={posix_word(plan.common_dir)}"
    yield _say(printable_path(plan.path))
    # what only reads waits for nobody, as in gitdash and in git
    writes = any(planned.task.changes_repository for planned in runnable)
    yield 'if take "$common_dir/objects/maintenance.lock"; then' if writes else "if true; then"
    # As a condition, or before && and ||, a subshell would go on after a command that fails.
    yield "set +e; ("
    yield "    set -e"
    for planned in runnable:
        yield from _task(planned)
    yield "); [ $? = 0 ] || failed=1; set -e; release"
    yield "else failed=1; fi"


def _not_run(plan: Plan, planned: PlannedTask) -> Iterator[str]:
    for refusal in planned.refusals:
        yield f"# -- {planned.task.value} is refused: {printable(refusal.reason)} ({refusal.rule})"
    if not planned.refusals and not _can_be_whole(planned):
        command = f"gitdash maintain --task {planned.task.value} {shell_word(plan.path)}"
        yield f"# -- {planned.task.value}: {printable(planned.gain)}"
        yield from (f"# because: {printable(reason)}" for reason in planned.because)
        yield f"leave {shlex.quote(f'{planned.task.value}, which no shell should do: {command}')}"


def _task(planned: PlannedTask) -> Iterator[str]:
    yield f"    # -- {planned.task.value}: {printable(planned.gain)}"
    yield from (f"    # because: {printable(reason)}" for reason in planned.because)
    yield from (f"    # note: {printable(note)}" for note in planned.notes)
    if planned.needed_bytes:
        yield f"    # needs {human_bytes(planned.needed_bytes)} of free space"
    for step in planned.steps:
        yield f"    {_say(f'  {planned.task.value}: {printable(step.does)}')}"
        if removes_own_copies(step):
            yield "    alone"
        yield f"    {_step(step)}"


def _say(text: str) -> str:
    """Unlike echo, which takes backslashes for more than that in some shells."""
    return f"printf '%s\\n' {shlex.quote(text)}"


_OPTIONAL_ACTS: Final = frozenset({REMOVE_PACKED_LOOSE})
"""Acts without which a task is not done, but does no harm either."""


def _is_for_shell(step: Step) -> bool:
    return step.act is None or step.shell is not None


def _can_be_whole(planned: PlannedTask) -> bool:
    """Tell whether a shell can do it: a check that only gitdash can make may not be left out.

    Nor may the typed name of what drops objects: somebody may borrow by the time at which a script is run.
    """
    if planned.task is Task.RECLAIM or not any(map(_is_for_shell, planned.steps)):
        return False
    return all(_is_for_shell(step) or step.act in _OPTIONAL_ACTS for step in planned.steps)


def _step(step: Step) -> str:
    if step.act is not None:
        return in_shell(step, _CALL) or ": # gitdash alone can do this; without it nothing is lost"
    command = _git(step)
    if not step.recovery:
        return command
    repairs = "; ".join(map(_step, step.recovery))
    return f"if ! {command}; then {repairs}; {command}; fi"


def _git(step: Step) -> str:
    words = [word for key, value in step.config for word in ("-c", f"{key}={value}")]
    # what these print is the name of a pack, which says nothing to a person
    quietly = " >/dev/null" if step.arguments[0] in _PRINTS_A_NAME else ""
    return f"{_CALL} " + " ".join(map(_word, [*words, *step.arguments])) + quietly


def _word(text: str) -> str:
    return posix_word(text.encode("utf-8", "surrogateescape"))
