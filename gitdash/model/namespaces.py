"""References counted by where they stand."""

import msgspec


class ReferenceNamespace(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The references below one folder, such as `refs/heads` or `refs/merge-requests`."""

    name: str
    """Without a slash at the end; in brackets what is none: `(root)`, `(others)`. Printable."""
    loose_count: int | None
    """Files that hold a reference; None for reftable."""
    packed_count: int | None
    """Lines of `packed-refs`; None for reftable, and if that file cannot be read."""
    count: int
    """References, those that are both loose and packed once."""
    broken_count: int = 0
    """What git passes over: bad names, loose ones that hold no object id, symbolic ones that lead nowhere."""
    examples: tuple[str, ...] = ()
    """The first few full names. Printable."""


class ReferenceNamespaces(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """All references of one repository by namespace, the largest first."""

    namespaces: tuple[ReferenceNamespace, ...]
    head: str | None
    """What HEAD names; None if it cannot be read. Printable."""
    elapsed_s: float
    """How long reading took."""
    incomplete: str | None = None
    """Why references may be missing; None if all were read. Printable."""
