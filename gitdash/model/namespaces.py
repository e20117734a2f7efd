"""References counted by where they stand."""

import msgspec


class ReferenceNamespace(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The references below one folder, such as `refs/heads` or `refs/merge-requests`."""

    name: str
    """Without a slash at the end. Printable."""
    loose_count: int | None
    """Files that hold a reference; None for reftable."""
    packed_count: int | None
    """Lines of `packed-refs`; None for reftable."""
    count: int
    """References, those that are both loose and packed once."""
    broken_count: int = 0
    """Loose references that hold no object id."""
    examples: tuple[str, ...] = ()
    """The first few full names. Printable."""


class ReferenceNamespaces(msgspec.Struct, frozen=True, kw_only=True):
    """All references of one repository by namespace, the largest first."""

    namespaces: tuple[ReferenceNamespace, ...]
    head: str | None
    """What HEAD names. Printable."""
    elapsed_s: float
    """How long reading took."""
    incomplete: str | None = None
    """Why references may be missing; None if all were read. Printable."""
