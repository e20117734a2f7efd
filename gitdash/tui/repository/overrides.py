"""What every git call of gitdash gets, whatever a repository's config says: the one table of it, as lines. Pure."""

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Final

from rich.cells import cell_len

from gitdash.gitcmd.environment import CONFIG_OVERRIDES, VARIABLES
from gitdash.tui.drawing.cells import Line, Piece, Tone, fit
from gitdash.tui.drawing.wrap import wrapped

_SETTING_WIDTH: Final = 42
_BESIDE_WIDTH: Final = 92
"""From this width on the reason stands beside the setting."""


@lru_cache(maxsize=8)
def override_lines(width: int) -> tuple[Line, ...]:
    """Return the `-c` pairs and the variables of the environment, each with its reason."""
    return tuple(_lines(width))


def _lines(width: int) -> Iterator[Line]:
    yield [Piece(" What every git command of gitdash gets, in any repository", Tone.ACCENT)]
    yield from wrapped(
        f"{len(CONFIG_OVERRIDES)} pairs with -c, which beat whatever a config says, includes too:", Tone.DIM, width
    )
    yield from _table(((f"{one.key}={one.value}", one.reason) for one in CONFIG_OVERRIDES), width)
    yield []
    yield from wrapped(
        f"An environment of {len(VARIABLES)} variables and PATH, and none of those that gitdash was started with:",
        Tone.DIM,
        width,
    )
    yield from _table(((f"{one.name}={one.value}", one.reason) for one in VARIABLES), width)


def _table(rows: Iterable[tuple[str, str]], width: int) -> Iterator[Line]:
    for setting, reason in rows:
        is_beside = width >= _BESIDE_WIDTH and cell_len(setting) <= _SETTING_WIDTH
        if not is_beside:
            yield from wrapped(setting, Tone.STRONG, width, indent=3, hanging=2)
            yield from wrapped(reason, Tone.DIM, width, indent=7)
            continue
        first, *rest = wrapped(reason, Tone.DIM, width, indent=3 + _SETTING_WIDTH + 2)
        yield [Piece("   ", Tone.PLAIN), Piece(fit(setting, _SETTING_WIDTH + 2), Tone.STRONG), *first[1:]]
        yield from rest
