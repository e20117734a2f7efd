"""Why files that stopped commands left stay where they are, in sentences. Pure."""

from collections.abc import Sequence

from gitdash.maintenance.action_facts import StaleFile


def kept_sentences(files: Sequence[StaleFile]) -> list[str]:
    """Return one sentence for each reason, with the first of the files that stay for it; none for those that go."""
    by_reason: dict[str, list[str]] = {}
    for file in files:
        if file.kept_because is not None:
            by_reason.setdefault(file.kept_because, []).append(file.path)
    return [_sentence(paths, reason) for reason, paths in by_reason.items()]


def _sentence(paths: list[str], reason: str) -> str:
    if len(paths) == 1:
        return f"{paths[0]} stays: {reason}"
    return f"{paths[0]} and {len(paths) - 1:,} more stay: {reason}"
