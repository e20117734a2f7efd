"""When a measured size still holds, and when the old one is a part of the new one.

What is reachable depends on the tips and the shallow file alone; its bytes depend on the packs that hold it, own and
lent, and a newer git may choose other copies. Loose objects are not part of it: as soon as one is packed, the packs
change. Pure: all inputs are values.
"""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from gitdash.model.sizes import Question

_DIGEST_BYTES: Final = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class SizeInputs:
    """Everything that a size depends on."""

    question: Question
    """A fingerprint answers for one question only."""
    references: tuple[tuple[bytes, str], ...]
    """Full names and ids of the own references, HEADs included."""
    packs: tuple[tuple[bytes, int], ...]
    """Names and bytes of the own packs."""
    alternates: tuple[bytes, ...] = ()
    """Paths of all lenders' object directories, nested ones included."""
    lender_references: tuple[tuple[bytes, str], ...] = ()
    """Of all lenders."""
    lender_packs: tuple[tuple[bytes, int], ...] = ()
    """Of all lenders."""
    shallow: bytes = b""
    """Contents of the shallow file."""
    excluded_references: tuple[str, ...] = ()
    """Patterns."""
    git_version: str = ""
    """As git says it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SizeState:
    """What has to be kept beside a measurement to tell later whether it can be extended."""

    surroundings: bytes
    """Digest of all inputs but the own references and packs."""
    tips: frozenset[str] = field(default_factory=frozenset)
    """Ids of the tips that were counted."""
    packs: frozenset[tuple[bytes, int]] = field(default_factory=frozenset)
    """Names and bytes of the own packs."""


def size_fingerprint(inputs: SizeInputs) -> bytes:
    """Return a digest that is equal as long as a measured size holds."""
    digest = hashlib.blake2b(_surroundings(inputs), digest_size=_DIGEST_BYTES)
    _update(digest, (part for name, object_id in sorted(inputs.references) for part in (name, object_id.encode())))
    _update(digest, _pack_parts(inputs.packs))
    return digest.digest()


def size_state(inputs: SizeInputs, tips: Iterable[str]) -> SizeState:
    """Return what is to be kept; `tips` are the ids that were counted, without excluded and broken references."""
    return SizeState(surroundings=_surroundings(inputs), tips=frozenset(tips), packs=frozenset(inputs.packs))


def only_gained_packs(old: SizeState, new: SizeState) -> bool:
    """Return whether packs were only added, and nothing else but references changed.

    That references only gained commits is for git to say: `reachable.py` asks before it adds.
    """
    return old.surroundings == new.surroundings and old.packs <= new.packs


def _surroundings(inputs: SizeInputs) -> bytes:
    digest = hashlib.blake2b(digest_size=_DIGEST_BYTES)
    _update(digest, (inputs.question.encode(), inputs.git_version.encode(), inputs.shallow))
    _update(digest, inputs.alternates)
    _update(digest, (part for name, id_ in sorted(inputs.lender_references) for part in (name, id_.encode())))
    _update(digest, _pack_parts(inputs.lender_packs))
    _update(digest, (pattern.encode("utf-8", "surrogateescape") for pattern in inputs.excluded_references))
    return digest.digest()


def _pack_parts(packs: tuple[tuple[bytes, int], ...]) -> Iterable[bytes]:
    return (part for name, size_bytes in sorted(packs) for part in (name, str(size_bytes).encode()))


def _update(digest: hashlib.blake2b, parts: Iterable[bytes]) -> None:
    """Add a list of parts so that no other list gives the same bytes."""
    count = 0
    for part in parts:
        digest.update(len(part).to_bytes(8, "big"))
        digest.update(part)
        count += 1
    digest.update(count.to_bytes(8, "big") + b"end")
