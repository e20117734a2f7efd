"""Plans as lines of text and as records of JSON. Pure."""

from collections.abc import Iterator, Sequence

from gitdash.assessment.sentences import shell_word
from gitdash.export.json_values import Record, path_record
from gitdash.gitcmd.environment import config_arguments
from gitdash.model.plan import Plan, PlannedTask, Step
from gitdash.units import counted, human_bytes, human_count, printable, printable_path


def plans_lines(plans: Sequence[Plan], *, is_whole: bool = False) -> list[str]:
    """Return what would be done to repositories; of several, those with nothing to do are counted.

    `is_whole` shows each command with all configuration that it gets.
    """
    shown = [plan for plan in plans if len(plans) == 1 or plan.tasks or plan.refusals or plan.unmended]
    lines = [line for plan in shown for line in plan_lines(plan, is_whole=is_whole)]
    if len(plans) > 1:
        lines.append(_total(plans))
    if not is_whole and any(step.act is None for plan in plans for task in plan.runnable for step in task.steps):
        lines.append("each command also gets the configuration that gitdash pins, -c ...: --verbose shows it")
    return lines


def _total(plans: Sequence[Plan]) -> str:
    tasks = counted(sum(len(plan.runnable) for plan in plans), "task")
    where = counted(sum(bool(plan.runnable) for plan in plans), "repository", "repositories")
    refused_count = sum(bool(task.refusals) and not task.is_needless for plan in plans for task in plan.tasks)
    closed_count = sum(bool(plan.refusals) and not plan.tasks for plan in plans)
    idle_count = sum(not plan.runnable and not plan.is_refused for plan in plans)
    parts = [
        f"{tasks} in {where}",
        f"{human_count(refused_count)} refused" if refused_count else "",
        f"{human_count(closed_count)} where nothing may be done" if closed_count else "",
        f"{human_count(idle_count)} with nothing to do" if idle_count else "",
    ]
    return f"in all: {', '.join(part for part in parts if part)}"


def plan_lines(plan: Plan, *, is_whole: bool = False) -> list[str]:
    """Return what would be done to a repository, why, by which commands, and what speaks against it."""
    lines = [printable_path(plan.path)]
    if not plan.tasks and plan.refusals:
        lines.append("    nothing may be done")
        lines += [f"      refused: {refusal.rule}: {refusal.reason}" for refusal in plan.refusals]
    elif not plan.tasks:
        lines.append("    no task mends what is wrong" if plan.unmended else "    nothing to do")
    for task in plan.tasks:
        lines += _task_lines(plan, task, is_whole=is_whole)
    for unmended in plan.unmended:
        lines.append(f"    by hand: {unmended.rule} ({unmended.severity}): {unmended.summary}")
        lines.append(f"      remedy: {unmended.remedy}")
    return lines


def plan_record(plan: Plan) -> Record:
    """Return a plan with everything in it."""
    return {
        **path_record("path", plan.path),
        "refusals": [{"rule": refusal.rule, "reason": refusal.reason} for refusal in plan.refusals],
        "tasks": [
            {
                "task": task.task.value,
                "because": list(task.because),
                "gain": task.gain,
                "needed_bytes": task.needed_bytes,
                "commands": [step_text(plan, step) for step in task.steps],
                "refusals": [{"rule": refusal.rule, "reason": refusal.reason} for refusal in task.refusals],
                "notes": list(task.notes),
            }
            for task in plan.tasks
        ],
        "unmended": [
            {"rule": one.rule, "severity": one.severity.value, "summary": one.summary, "remedy": one.remedy}
            for one in plan.unmended
        ],
    }


def step_text(plan: Plan, step: Step, *, is_whole: bool = False) -> str:
    """Return a step as a command, less the `-c` pairs that it gets unless it is to be whole.

    An act of gitdash's own is in words.
    """
    if step.act is not None:
        return f"gitdash: {step.does}"
    config = config_arguments(step.config) if is_whole else []
    words = " ".join(shell_word(word.encode("utf-8", "surrogateescape")) for word in step.arguments)
    pairs = "".join(f"{shell_word(word.encode('utf-8', 'surrogateescape'))} " for word in config)
    return printable(f"git {pairs}-C {shell_word(plan.path)} {words}")


def _task_lines(plan: Plan, task: PlannedTask, *, is_whole: bool) -> Iterator[str]:
    needed = f"; needs {human_bytes(task.needed_bytes)} free" if task.needed_bytes else ""
    if task.is_needless:
        reasons = "; ".join(refusal.reason for refusal in task.refusals)
        yield f"    {task.task.value}: nothing to do: {reasons}"
        return
    yield f"    {task.task.value}: {'refused' if task.refusals else task.gain}{needed}"
    yield from (f"      because: {reason}" for reason in task.because)
    yield from (f"      refused: {refusal.rule}: {refusal.reason}" for refusal in task.refusals)
    yield from (f"      note: {note}" for note in task.notes)
    if not task.refusals:
        yield from (f"      $ {step_text(plan, step, is_whole=is_whole)}" for step in task.steps)
