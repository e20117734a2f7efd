"""Values for people: bytes, counts, durations, ages, moments, and text that is safe on a terminal.

Bytes use Ki, Mi, Gi; counts from 10,000 on use k, M, G; the two are never mixed. Nothing here reads a clock.
"""

import datetime
import re
from collections.abc import Iterable
from typing import Final

LARGEST_BYTES: Final = 2**63 - 1
"""No file is larger, and no sum of sizes is said to be."""

_BYTE_PREFIXES: Final = ("KiB", "MiB", "GiB", "TiB", "PiB")
_COUNT_PREFIXES: Final = ("k", "M", "G")

_UNSAFE_TEXT: Final = re.compile(
    "[\x00-\x1f\x7f-\x9f\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202f\u2060-\u206f"
    "\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff\U000e0000-\U000e0fff\ud800-\udfff]"
)
"""C0, DEL, C1, soft hyphen, bidi marks and overrides, zero-width and invisible characters, line and paragraph
separators, variation selectors, tags, non-characters and lone surrogates (bytes that are not UTF-8)."""


def printable(text: str) -> str:
    r"""Return `text` with everything that a terminal could act on made visible, as `\x1b` or `\u202e`.

    The one function that text from a repository, from git or from the file system passes before it is shown.
    A lone surrogate, which is how `os.fsdecode` carries a byte that is not UTF-8, becomes that byte: `\xe9`.
    """
    if text.isascii() and text.isprintable():
        return text
    return _UNSAFE_TEXT.sub(_visible_escape, text)


def printable_path(path: bytes) -> str:
    """Return a path for people; bytes that are not UTF-8 become visible escapes."""
    return printable(path.decode("utf-8", "surrogateescape"))


def _visible_escape(match: re.Match[str]) -> str:
    code = ord(match.group())
    if 0xDC80 <= code <= 0xDCFF:
        return f"\\x{code - 0xDC00:02x}"
    if code <= 0xFF:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def sum_bytes(sizes_bytes: Iterable[int]) -> int:
    """Return the sum of sizes of files, no more than the largest size that a file can have, 2^63 - 1.

    A hostile sparse file has that size. Records, JSON and SQLite end with 64 bits.
    """
    return min(sum(sizes_bytes), LARGEST_BYTES)


def human_bytes(size_bytes: int) -> str:
    """Return a size with three significant digits at most: `0 B`, `1023 B`, `1.50 KiB`, `98.8 MiB`."""
    if size_bytes < 1024:
        return f"{size_bytes} B"
    scaled = float(size_bytes)
    exponent = -1
    while scaled >= 1023.5 and exponent < len(_BYTE_PREFIXES) - 1:
        scaled /= 1024
        exponent += 1
    return f"{_three_digits(scaled)} {_BYTE_PREFIXES[exponent]}"


def linked_text(linked_bytes: int) -> str:
    """Return what there is to say of bytes in files that have links in other folders."""
    return f"{human_bytes(linked_bytes)} of it in files that other folders link, too: deleting frees none of those"


def human_count(count: int) -> str:
    """Return a count: exact below 10,000, then three significant digits: `999`, `1,024`, `655k`, `12.3M`."""
    if count < 10_000:
        return f"{count:,}"
    scaled = float(count)
    exponent = -1
    while scaled >= 999.5 and exponent < len(_COUNT_PREFIXES) - 1:
        scaled /= 1000
        exponent += 1
    return f"{_three_digits(scaled)}{_COUNT_PREFIXES[exponent]}"


def exact_bytes(size_bytes: int) -> str:
    """Return a size to the byte, and from 1 KiB on with what people remember of it: `127,930 bytes (125 KiB)`."""
    exact = f"{size_bytes:,} {'byte' if size_bytes == 1 else 'bytes'}"
    return f"{exact} ({human_bytes(size_bytes)})" if size_bytes >= 1024 else exact


def counted(count: int, noun: str, plural: str | None = None) -> str:
    """Return a count with its noun, and what else depends on it: `1 pack`, `3 packs`, `2 references are broken`."""
    return f"{human_count(count)} {noun if count == 1 else plural or noun + 's'}"


def _three_digits(scaled: float) -> str:
    if scaled < 9.995:
        return f"{scaled:.2f}"
    if scaled < 99.95:
        return f"{scaled:.1f}"
    return f"{scaled:.0f}"


def human_duration(duration_s: float) -> str:
    """Return a duration: `0.04 ms`, `4 ms`, `1.3 s`, `2 m 05 s`, `3 h 10 m`."""
    if 0 < duration_s < 0.000_995:
        return f"{max(duration_s * 1000, 0.01):.2f} ms"
    if duration_s < 0.9995:
        return f"{duration_s * 1000:.0f} ms"
    if duration_s < 59.95:
        return f"{duration_s:.1f} s"
    minutes, seconds = divmod(round(duration_s), 60)
    if minutes < 60:
        return f"{minutes} m {seconds:02d} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02d} m"


def fine_duration(duration_s: float) -> str:
    """Return a duration that is compared, in three digits: `1.42 µs`, `231 µs`, `3.14 ms`, `2.00 s`, `2 m 05 s`."""
    if not 0 < duration_s < 59.95:
        return human_duration(duration_s)
    if duration_s < 0.000_999_5:
        return f"{_three_digits(duration_s * 1_000_000)} µs"
    if duration_s < 0.9995:
        return f"{_three_digits(duration_s * 1000)} ms"
    return f"{_three_digits(duration_s)} s"


def human_age(age_s: float) -> str:
    """Return an age in its largest whole unit: `now`, `40s`, `12m`, `5h`, `3d`, `7w`, `2y`; the future is `now`."""
    if age_s < 1:
        return "now"
    for unit_s, unit in ((31_557_600, "y"), (604_800 * 2, "w"), (86_400, "d"), (3_600, "h"), (60, "m")):
        if age_s >= unit_s:
            return f"{int(age_s // (604_800 if unit == 'w' else unit_s))}{unit}"
    return f"{int(age_s)}s"


def utc_text(moment_s: float) -> str:
    """Return a moment as RFC 3339 UTC to the second; one beyond the calendar becomes the calendar's nearest end."""
    latest_s = 253_402_300_799.0
    bounded_s = min(max(moment_s, 0.0), latest_s)
    return datetime.datetime.fromtimestamp(bounded_s, datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def moment_text(moment_s: float) -> str:
    """Return a moment for people: `2026-11-30 21:53:00 UTC`."""
    return utc_text(moment_s).replace("T", " ").replace("Z", " UTC")


def ago_text(age_s: float) -> str:
    """Return how long ago something was: `3d ago`, `now`."""
    age = human_age(age_s)
    return age if age == "now" else f"{age} ago"
