"""What a person may choose of a fetch."""

from typing import TYPE_CHECKING, Literal

import msgspec

if TYPE_CHECKING:
    from gitdash.config.settings import FetchSettings

AlternateRefs = Literal["auto", "suppress", "use"]


class FetchOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How one or more repositories are fetched into."""

    remotes: tuple[str, ...] = ()
    """Names; all that the repository's config has if there are none and no group."""
    group: str | None = None
    """A `remotes.<group>` of the config, besides what is named."""
    alternate_refs: AlternateRefs = "auto"
    """Whether a member offers its lender's references to the server."""
    prune: bool | None = None
    """Remove references whose source is gone; None for what a mirror's config says, else not."""
    dry_run: bool = False
    """Only say which references would change."""
    time_limit_s: float = 3_600.0
    """Of each fetch."""
    protocols: tuple[str, ...] = ("https", "ssh")
    """What a remote may be fetched by; a path is `file`."""
    allowed_once: str = "by --protocol"
    """Where another protocol can be allowed for one fetch, for people."""


def configured_options(settings: "FetchSettings") -> FetchOptions:
    """Return what the user's configuration says where nobody chooses anything."""
    return FetchOptions(
        alternate_refs=settings.alternate_refs,
        time_limit_s=settings.time_limit_s,
        protocols=settings.protocols,
    )
