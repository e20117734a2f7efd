"""What goes between browser, server and dashboard, translated. Pure.

Source: textual 8.2.8 `drivers/web_driver.py` (the dashboard's side) and textual-serve 1.1.3 `app_service.py`,
`static/js/textual.js` (the browser's). To and from the dashboard go packets:

    offset  size  field
    0       1     kind: D is what a terminal would read or write, M is a JSON object, P is a part of a file
    1       4     size of the payload, big endian
    5       size  payload

Before its first packet the dashboard writes the line BEGINNING. The browser sends JSON arrays of a name and a value.
Only what a dashboard needs is translated: it delivers no files and opens no pages.
"""

from typing import Final, Literal

import msgspec

BEGINNING: Final = b"__GANGLION__\n"
HEAD_BYTES: Final = 5
MAXIMUM_PAYLOAD_BYTES: Final = 1 << 26
"""Far beyond a screen full of cells, each with a style of its own."""
_MAXIMUM_CELLS: Final = 1000


class _Meta(msgspec.Struct, frozen=True):
    type: str


def packet_for(message: str) -> bytes | None:
    """Return what a message of the browser is to the dashboard; None if it is nothing."""
    try:
        # a type, and so no nesting that could be too deep
        envelope = msgspec.json.decode(message, type=list[str | dict[str, int]])
    except msgspec.DecodeError:
        return None
    match envelope:
        case ["stdin", str(text)]:
            return _packet(b"D", text.encode())
        case ["resize", {"width": int(width), "height": int(height)}]:
            return _meta({"type": "resize", "width": cells(width), "height": cells(height)})
        case ["focus" | "blur" as name, *_]:
            return _meta({"type": name})
        case _:
            return None


def cells(wanted: int) -> int:
    """Return the width or height of a terminal that is next to what a browser wants."""
    return max(1, min(wanted, _MAXIMUM_CELLS))


def is_exit(meta: bytes) -> bool:
    """Tell whether a JSON object of the dashboard says that it leaves."""
    try:
        return msgspec.json.decode(meta, type=_Meta).type == "exit"
    except msgspec.DecodeError:
        return False


def _meta(value: dict[str, object]) -> bytes:
    return _packet(b"M", msgspec.json.encode(value))


def _packet(kind: Literal[b"D", b"M"], payload: bytes) -> bytes:
    return kind + len(payload).to_bytes(4, "big") + payload
