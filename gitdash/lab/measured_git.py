"""One measured git command. Times end with the process, not with the reading of what it said."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from gitdash.gitcmd.git_program import GitProgram
from gitdash.gitcmd.runner import run_git
from gitdash.lab.commands import argv_of, stdin_of
from gitdash.lab.variant import Measured, RunContext


def measured_git(  # noqa: PLR0913 - what one call of git may need, each but the first three with a default
    program: GitProgram,
    arguments: Sequence[str | bytes],
    context: RunContext,
    *,
    git_dir: bytes | None = None,
    environment: Mapping[str, str] | None = None,
    stdin: bytes = b"",
    answer: Callable[[bytes], int] | None = None,
) -> Measured:
    """Run git once as `run_git` does, and return what it took.

    `answer` makes the answer of the run out of stdout. Raises GitError.
    """
    output = run_git(
        replace(program, is_measured=True),
        arguments,
        git_dir=git_dir,
        environment=environment,
        stdin=stdin,
        time_limit_s=context.time_limit_s,
        cancel=context.cancel,
    )
    usage, answered = output.usage, answer(output.stdout) if answer else None
    if usage is None:
        return Measured(wall_s=output.elapsed_s, answer=answered, argv=argv_of([output]), stdin=stdin_of([output]))
    return Measured(
        wall_s=output.elapsed_s,
        user_s=usage.user_s,
        system_s=usage.system_s,
        peak_memory_bytes=usage.peak_memory_bytes,
        read_bytes=usage.read_bytes,
        answer=answered,
        argv=argv_of([output]),
        stdin=stdin_of([output]),
    )
