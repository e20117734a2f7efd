"""Single objects: what a look-up answers, and how long it takes."""

import msgspec


class LookupTimes(msgspec.Struct, frozen=True, kw_only=True):
    """How long one object takes to be found, by a reader that did not know the repository before."""

    first_s: float
    """The first object: packs and indexes are opened."""
    warm_s: float
    """The same object again; a median."""
    missing_s: float
    """An object that does not exist: git looks everywhere, twice; a median."""
    object_id: str
    """The object that was looked up."""
    pack_count: int | None = None
    """Packs that could hold it, lenders' included; None if that is not known."""


class ObjectAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """What git says of one object id."""

    asked: str
    """What was typed. Printable."""
    object_id: str | None
    """The full id; None if there is no such object."""
    type: str | None = None
    """`commit`, `tree`, `blob` or `tag`."""
    bytes: int | None = None
    """Inflated size."""
    stored_bytes: int | None = None
    """Size on disk, as a delta where it is one."""
    delta_base: str | None = None
    """The object that it is stored as a difference to; None if it is stored whole."""
    elapsed_s: float
    problem: str | None = None
    """Why there is no answer, such as an ambiguous prefix; None if there is one. Printable."""
