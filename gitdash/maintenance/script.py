"""Plans as a script for a POSIX shell, to be read, changed and run by a person.

The script does what gitdash would do: the same commands with the same configuration and environment, under the same
lock, `objects/maintenance.lock`, which git's own maintenance heeds. What gitdash does itself and a shell should not do
(whether any process has a file open, no shell can tell) stands in it as a comment. Facts are those of the moment when
it was made: it looks for nothing again but the lock. Pure.
"""

import shlex
from collections.abc import Iterator, Sequence
from typing import Final

from gitdash.assessment.sentences import shell_word
from gitdash.gitcmd.environment import CONFIG_OVERRIDES, VARIABLES
from gitdash.model.plan import Plan, PlannedTask, Step
from gitdash.units import human_bytes, printable, printable_path

_HEAD: Final = """#!/bin/sh
# Maintenance of Git repositories. Read it before you run it: it was made from what they were at that moment.
# Every command keeps every object, but for the task reclaim.
set -eu
umask 077
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_OBJECT_DIRECTORY GIT_ALTERNATE_OBJECT_DIRECTORIES GIT_COMMON_DIR
unset GIT_CONFIG_PARAMETERS GIT_CONFIG_COUNT GIT_NAMESPACE GIT_EXTERNAL_DIFF GIT_EXEC_PATH GIT_TEMPLATE_DIR
"""

_FUNCTIONS: Final = """
held=
release() {
    if [ -n "$held" ]; then rm -f -- "$held"; held=; fi
}
trap release EXIT
trap 'release; trap - INT; kill -INT $$' INT
trap 'release; trap - TERM; kill -TERM $$' TERM

# Takes the lock of git's own maintenance; fails if somebody has it.
take() {
    if (set -C; echo "script $$ $(uname -n)" > "$1") 2>/dev/null; then held=$1; return 0; fi
    echo "skipped: $1 is held" >&2
    return 1
}
"""


def shell_script(plans: Sequence[Plan], *, git: str = "git") -> str:
    """Return the script of all plans, which a shell runs in their order; a plan whose lock is held is passed by.

    `git` is the program. A repository whose commands fail ends its own part alone; the script then ends with 1.
    """
    parts = [_HEAD, *_environment(), _FUNCTIONS, *_call(git), "failed=0"]
    for plan in plans:
        parts += ["", *_plan(plan)]
    return "\n".join([*parts, "", "exit $failed", ""])


def _environment() -> Iterator[str]:
    """All of a git call's variables but those that a script must not have: git is told where the repository is."""
    for variable in VARIABLES:
        if variable.name != "GIT_DIR":
            yield f"export {variable.name}={shlex.quote(variable.value)}"


def _call(git: str) -> Iterator[str]:
    yield "# git with what no repository's configuration may change."
    yield "call() {"
    yield f"    {shlex.quote(git)} \\"
    for override in CONFIG_OVERRIDES:
        yield f"        -c {shlex.quote(f'{override.key}={override.value}')} \\"
    yield '        "$@"'
    yield "}"


def _plan(plan: Plan) -> Iterator[str]:
    yield f"# == {_comment(printable_path(plan.path))}"
    for refusal in plan.refusals:
        yield f"# refused: {_comment(refusal.reason)} ({refusal.rule})"
    for planned in plan.tasks:
        if planned.refusals:
            yield from _refused(planned)
    runnable = [planned for planned in plan.runnable if any(map(_in_shell, planned.steps))]
    for planned in plan.runnable:
        if planned not in runnable:
            yield f"# -- {planned.task.value}: gitdash does it itself: gitdash maintain --task {planned.task.value}"
    if not runnable:
        return
    common_dir = shell_word(plan.common_dir)
    yield f"common_dir={common_dir}"
    yield 'if take "$common_dir/objects/maintenance.lock"; then'
    # As a condition, or before && and ||, a subshell would go on after a command that fails.
    yield "set +e; ("
    yield "    set -e"
    for planned in runnable:
        yield from _task(planned)
    yield "); [ $? = 0 ] || failed=1; set -e; release"
    yield "else failed=1; fi"


def _refused(planned: PlannedTask) -> Iterator[str]:
    for refusal in planned.refusals:
        yield f"# -- {planned.task.value} is refused: {_comment(refusal.reason)} ({refusal.rule})"


def _task(planned: PlannedTask) -> Iterator[str]:
    yield f"    # -- {planned.task.value}: {_comment(planned.gain)}"
    yield from (f"    # because: {_comment(reason)}" for reason in planned.because)
    yield from (f"    # note: {_comment(note)}" for note in planned.notes)
    if planned.needed_bytes:
        yield f"    # needs {human_bytes(planned.needed_bytes)} of free space"
    for step in planned.steps:
        yield f"    # {_comment(step.does)}"
        yield f"    {_step(step)}"


def _in_shell(step: Step) -> bool:
    return step.act is None or step.shell is not None


def _step(step: Step) -> str:
    if not _in_shell(step):
        return ": # gitdash alone can do this; without it nothing is lost"
    command = step.shell if step.act is not None else _git(step)
    if not step.recovery:
        return str(command)
    repairs = "; ".join(map(_step, step.recovery))
    return f"if ! {command}; then {repairs}; {command}; fi"


def _git(step: Step) -> str:
    words = [word for key, value in step.config for word in ("-c", f"{key}={value}")]
    quoted = " ".join(map(_word, [*words, *step.arguments]))
    given = f"printf %s {_word(step.stdin)} | " if step.stdin else ""
    return f'{given}call --git-dir="$common_dir" {quoted}' + ("" if step.stdin else " </dev/null")


def _word(text: str) -> str:
    return shell_word(text.encode("utf-8", "surrogateescape"))


def _comment(text: str) -> str:
    return printable(text)
