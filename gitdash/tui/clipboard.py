"""A path as text for the clipboard: what is pasted into a shell names the file and does nothing else. Pure."""

import re
from typing import Final

_PLAIN: Final = re.compile(rb"[A-Za-z0-9_@%+=:,./-]+\Z")


def shell_path(path: bytes) -> str:
    r"""Return a path that can be pasted: as it is where a shell takes it so, else quoted (`'a b'`, `$'a\nb'`).

    The result is ASCII or printable text: no line feed, escape sequence or bidi mark of a name reaches the clipboard.
    """
    if _PLAIN.match(path):
        return path.decode("ascii")
    try:
        text = path.decode("utf-8")
    except UnicodeDecodeError:
        text = ""
    if text.isprintable() and text and "'" not in text:
        return f"'{text}'"
    return "$'" + "".join(_quoted_byte(byte) for byte in path) + "'"


def _quoted_byte(byte: int) -> str:
    if byte in b"'\\":
        return f"\\{byte:c}"
    return chr(byte) if 0x20 <= byte < 0x7F else f"\\x{byte:02x}"
