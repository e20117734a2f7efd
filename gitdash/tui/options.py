"""What a person has chosen before the dashboard opens: by options, and by `[dashboard]`, `[keys]` and `[[view]]`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How the dashboard looks and what it may do."""

    keys: Mapping[str, str | Sequence[str]] = field(default_factory=dict)
    """Wishes for keys by the name of the action, as people write them."""
    encoding: str = "utf-8"
    """Of the terminal."""
    theme: str | None = None
    """None for the one that was chosen last."""
    read_only: bool = False
    """Nothing may be changed, and no other program started."""
