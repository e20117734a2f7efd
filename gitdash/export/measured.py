"""When a size was measured, and whether that was in this run: one wording for all commands and the dashboard. Pure."""

from gitdash.model.sizes import SizeMeasurement
from gitdash.units import human_age

_NOW = human_age(0.0)


def measured_text(size: SizeMeasurement, now_s: float) -> str:
    """Return `measured now`, `measured 3m ago`, or for an answer of the state file `remembered, measured 3s ago`."""
    age = human_age(now_s - size.measured_at_s)
    if not size.from_history:
        return "measured now" if age == _NOW else f"measured {age} ago"
    return f"remembered, measured {'less than 1s' if age == _NOW else age} ago"
