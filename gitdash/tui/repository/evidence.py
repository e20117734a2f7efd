"""The numbers behind a finding, for people: the unit is in the name. Pure."""

from collections.abc import Callable
from typing import Final

from gitdash.units import human_age, human_bytes, human_count, human_duration

_UNITS: Final[tuple[tuple[str, Callable[[float], str]], ...]] = (
    ("_bytes", lambda value: human_bytes(round(value))),
    ("_count", lambda value: human_count(round(value))),
    ("age_s", human_age),
    ("_s", human_duration),
)
"""By the end of the name; the first that fits."""


def evidence_text(name: str, value: float | str) -> tuple[str, str]:
    """Return name and value as words: `pack_bytes` and 2048 are `pack` and `2.00 KiB`."""
    if isinstance(value, str):
        return name.replace("_", " "), value
    for ending, text in _UNITS:
        if name.endswith(ending):
            return name.rpartition("_")[0].replace("_", " "), text(value)
    return name.replace("_", " "), human_count(value) if isinstance(value, int) else f"{value:g}"
