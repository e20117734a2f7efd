"""The key line at the bottom: the most used keys of a screen, each of which can be clicked."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from textual import events

from gitdash.tui.actions.action import Action, Scope
from gitdash.tui.actions.declared import actions_of
from gitdash.tui.drawing.cells import Piece, Tone
from gitdash.tui.drawing.lines import LinesView
from gitdash.tui.keymap import first_key, shown_key

_OTHER_WAY: Final = {
    "sort_next": "sort_previous",
    "sort_packs_next": "sort_packs_previous",
    "sort_pools_next": "sort_pools_previous",
}
"""Actions whose keys stand on the label of another, before its own."""


@dataclass(frozen=True, slots=True)
class KeyLine:
    """The line of the most used keys, and where each can be clicked."""

    pieces: list[Piece]
    spans: tuple[tuple[int, int, Action | str], ...]
    """First cell, cell after the last, what a click does: an action, or what the key does that it names."""


def key_line(scope: Scope, shown: Mapping[str, str], width: int, *, tab: str | None = None) -> KeyLine:
    """Return as many keys as fit into `width` cells; help and leaving always do, whatever is left out.

    `shown` has the keys for people by the name of the action, and lacks those that have none. `tab` is the one that is
    shown, of a screen that has tabs.
    """
    labelled = [
        action
        for action in (*actions_of(scope), *actions_of(Scope.EVERYWHERE))
        if action.label and action.name in shown and (not action.tabs or tab in action.tabs)
    ]
    last = [action for action in labelled if action.name in {"help", "leave"}]
    labelled = [action for action in labelled if action not in last]
    while labelled and sum(_label_width(action, shown) for action in [*labelled, *last]) > width:
        yielding = [action for action in labelled if action.yields]
        labelled.remove(yielding[-1] if yielding else labelled[-1])
    pieces: list[Piece] = []
    spans = []
    left = 0
    for action in [*labelled, *reversed(last)]:
        end = left + _label_width(action, shown)
        pieces += [Piece(f" {_short_key(action, shown)} ", Tone.KEY), Piece(f"{_label(action, scope)}  ", Tone.DIM)]
        spans.append((left, end, action))
        left = end
    return KeyLine(pieces, tuple(spans))


def typing_line(keys: Sequence[tuple[str, str]], width: int) -> KeyLine:
    """Return the keys that act while something is typed, each with its label, as many as fit into `width` cells."""
    pieces: list[Piece] = []
    spans = []
    left = 0
    for key, label in keys:
        end = left + len(shown_key(key)) + len(label) + 4
        if end <= width:
            pieces += [Piece(f" {shown_key(key)} ", Tone.KEY), Piece(f"{label}  ", Tone.DIM)]
            spans.append((left, end, key))
            left = end
    return KeyLine(pieces, tuple(spans))


def _label(action: Action, scope: Scope) -> str:
    return "back" if action.name == "leave" and scope is not Scope.FLEET else action.label or ""


def _short_key(action: Action, shown: Mapping[str, str]) -> str:
    names = (_OTHER_WAY.get(action.name, ""), action.name)
    return " ".join(filter(None, (first_key(shown, name) for name in names))).replace("ctrl+", "^")


def _label_width(action: Action, shown: Mapping[str, str]) -> int:
    return len(_short_key(action, shown)) + len(action.label or "") + 4


class KeyLineView(LinesView):
    """One line of keys and labels; `typing_keys` gives those that act while something is typed, else none."""

    def __init__(
        self,
        scope: Scope,
        shown: Mapping[str, str],
        tab: Callable[[], str | None],
        typing_keys: Callable[[], Sequence[tuple[str, str]]],
    ) -> None:
        super().__init__(lambda width: [self._key_line(width).pieces], id="keys")
        self._typing_keys = typing_keys
        self._scope = scope
        self._shown = shown
        self._tab = tab

    def _key_line(self, width: int) -> KeyLine:
        typing_keys = self._typing_keys()
        if typing_keys:
            return typing_line(typing_keys, width)
        return key_line(self._scope, self._shown, width, tab=self._tab())

    async def on_click(self, event: events.Click) -> None:
        """Do what the label below the pointer says."""
        offset = event.get_content_offset(self)
        if offset is None:
            return
        for first, end, action in self._key_line(self.size.width).spans:
            if first <= offset.x < end:
                await self._do(action)

    async def _do(self, action: Action | str) -> None:
        if isinstance(action, str):
            self.app.simulate_key(action)
            return
        target = self.app if Scope.EVERYWHERE in action.scopes else self.screen
        await self.app.run_action(action.command, default_namespace=target)
