"""Names of references: the namespace of each, and those of packed-refs counted, a piece of the file at a time.

A namespace is the first two components, `refs/heads`; below `refs/remotes` the first three, one for each remote;
`refs` for what lies directly in it, such as `refs/stash`. Source: gitrepository-layout(5), git-check-ref-format(1).
500,000 packed references take 0.5 s and a few megabytes, however large the file is.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from gitdash.formats.packed_references import count_packed_references
from gitdash.formats.reading import Buffer, FormatError
from gitdash.inspection.references import is_valid_reference_name
from gitdash.model.inspection import ObjectFormat

EXAMPLE_COUNT: Final = 5
"""Names of each namespace that are kept."""
NAMESPACE_LIMIT: Final = 20_000
"""Namespaces that are told apart; hostile names could make one each."""
OUTSIDE: Final = b"(root)"
"""What does not begin with `refs/`."""
OTHERS: Final = b"(others)"
"""Where references go once there are too many namespaces."""

_PIECE_BYTES: Final = 1 << 20
_NAMESPACE: Final = rb"(?:refs/remotes/[^/\n]+|refs/[^/\n]+)(?=/)"
_ONE_NAMESPACE: Final = re.compile(_NAMESPACE)
_EACH_NAMESPACE: Final = re.compile(rb"^(" + _NAMESPACE + rb"|)", re.MULTILINE)
_EACH_NAME: Final = re.compile(rb"^[0-9a-fA-F]+[ \t]([^\n]+)$", re.MULTILINE)

_NEVER_IN_A_NAME: Final = bytes(set(range(33)) - {10}) + b"\x7f~^:?*[\\"
_SUSPICIOUS: Final = (b"..", b"@{", b"//", b"/.", b".lock", b"\n.", b"\n/", b"\n@\n", b".\n", b"/\n")
"""At least one of them is in each bad name, in a list of names with a line feed before and after each."""


@dataclass(slots=True)
class NameCounts:
    """References by namespace."""

    counts: Counter[bytes] = field(default_factory=Counter)
    """Those with a valid name."""
    broken_counts: Counter[bytes] = field(default_factory=Counter)
    """Those without, which git passes over."""
    examples: dict[bytes, list[bytes]] = field(default_factory=dict)
    """The first full names of each."""
    found: set[bytes] = field(default_factory=set)
    """Of the names that are looked for, those that are among the valid ones."""

    def add(self, names: Sequence[bytes], *, looked_for: frozenset[bytes] = frozenset()) -> None:
        """Count a list of full names."""
        if not names:
            return
        joined = b"\n" + b"\n".join(names) + b"\n"
        namespaces = _EACH_NAMESPACE.findall(joined, 1, len(joined) - 1)
        if _may_hold_a_bad_name(joined) or b"" in namespaces:
            names, namespaces = self._sorted_out(names, namespaces)
        if looked_for:
            self.found |= looked_for.intersection(names)
        counted = Counter(namespaces)
        if len(self.counts) + len(counted) > NAMESPACE_LIMIT:
            namespaces = [one if one in self.counts else OTHERS for one in namespaces]
            counted = Counter(namespaces)
        self.counts.update(counted)
        if any(len(self.examples.get(namespace, ())) < EXAMPLE_COUNT for namespace in counted):
            for namespace, name in zip(namespaces, names, strict=True):
                kept = self.examples.setdefault(namespace, [])
                if len(kept) < EXAMPLE_COUNT:
                    kept.append(name)

    def _sorted_out(self, names: Iterable[bytes], namespaces: Iterable[bytes]) -> tuple[list[bytes], list[bytes]]:
        """Return what is left without bad names, and fill in the namespace of what has no second component."""
        kept: list[tuple[bytes, bytes]] = []
        for name, namespace in zip(names, namespaces, strict=True):
            if not namespace and not name.startswith(b"refs/"):
                self.broken_counts[OUTSIDE] += 1
            elif is_valid_reference_name(name):
                kept.append((name, namespace or b"refs"))
            else:
                self.broken_counts[namespace or b"refs"] += 1
        return [name for name, _ in kept], [namespace for _, namespace in kept]


def namespace_of(name: bytes) -> bytes:
    """Return the namespace of one full name below `refs/`."""
    match = _ONE_NAMESPACE.match(name)
    return match[0] if match else b"refs"


def count_packed(buffer: Buffer, object_format: ObjectFormat, looked_for: frozenset[bytes]) -> NameCounts:
    """Count the references of packed-refs. Raises FormatError where git would refuse the file."""
    counts = NameCounts()
    for number, piece in enumerate(_pieces(buffer)):
        if number and piece.startswith(b"#"):
            raise FormatError("not a packed reference", 0)
        count_packed_references(piece, object_format)
        counts.add(_EACH_NAME.findall(piece), looked_for=looked_for)
    return counts


def _pieces(buffer: Buffer) -> Iterator[bytes]:
    """Yield the file in pieces that begin with a reference and end with one, with what its tag points to."""
    rest = b""
    for start in range(0, len(buffer), _PIECE_BYTES):
        rest += buffer[start : start + _PIECE_BYTES]
        cut = _end_of_last_whole_reference(rest)
        if not cut and len(rest) > _PIECE_BYTES:
            raise FormatError(f"a line of more than {_PIECE_BYTES} bytes", start)
        yield rest[:cut]
        rest = rest[cut:]
    yield rest


def _end_of_last_whole_reference(data: bytes) -> int:
    """Return where to cut: a tag's second line may only follow, so the last reference is left for the next piece."""
    last_end = data.rfind(b"\n")
    if last_end < 0:
        return 0
    last_start = data.rfind(b"\n", 0, last_end) + 1
    return last_end + 1 if data.startswith(b"^", last_start) else last_start


def _may_hold_a_bad_name(joined: bytes) -> bool:
    return len(joined.translate(None, _NEVER_IN_A_NAME)) != len(joined) or any(map(joined.__contains__, _SUSPICIOUS))
