"""Plans as lines of text and as records of JSON. Pure."""

from collections.abc import Iterator

from gitdash.assessment.sentences import shell_word
from gitdash.export.json_record import Record, path_record
from gitdash.model.plan import Plan, PlannedTask, Step
from gitdash.units import human_bytes, printable, printable_path


def plan_lines(plan: Plan) -> list[str]:
    """Return what would be done to a repository, why, by which commands, and what speaks against it."""
    lines = [printable_path(plan.path)]
    if not plan.tasks:
        lines.append("    nothing to do" if not plan.refusals else "    nothing may be done")
    if not plan.tasks:
        lines += [f"      refused: {refusal.rule}: {refusal.reason}" for refusal in plan.refusals]
    for task in plan.tasks:
        lines += _task_lines(plan, task)
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
    }


def step_text(plan: Plan, step: Step) -> str:
    """Return a step as a command, less the `-c` pairs that every call gets; an act of gitdash's own in words."""
    if step.act is not None:
        return f"gitdash: {step.does}"
    words = " ".join(shell_word(word.encode("utf-8", "surrogateescape")) for word in step.arguments)
    return printable(f"git -C {shell_word(plan.path)} {words}")


def _task_lines(plan: Plan, task: PlannedTask) -> Iterator[str]:
    needed = f"; needs {human_bytes(task.needed_bytes)} free" if task.needed_bytes else ""
    yield f"    {task.task.value}: {'refused' if task.refusals else task.gain}{needed}"
    yield from (f"      because: {reason}" for reason in task.because)
    yield from (f"      refused: {refusal.rule}: {refusal.reason}" for refusal in task.refusals)
    yield from (f"      note: {note}" for note in task.notes)
    if not task.refusals:
        yield from (f"      $ {step_text(plan, step)}" for step in task.steps)
