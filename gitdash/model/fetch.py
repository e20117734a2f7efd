"""Fetches: from which remotes, by which arguments, how far one is, and what came of it."""

from typing import Final

import msgspec

from gitdash.model.ledger import Outcome, Phase, Reason, RecordedCommand, ReferenceChange
from gitdash.model.plan import Refusal

PROTOCOLS: Final = ("https", "ssh", "http", "git", "file")
"""What a person may allow; all else is a program, `git-remote-<name>`."""


class RemotePlan(msgspec.Struct, frozen=True, kw_only=True):
    """How one remote is fetched from."""

    name: str
    """As in the config; bytes that are not UTF-8 are surrogates."""
    url: str
    """What the config says, before the user's own `url.*.insteadOf`. With credentials: not for people."""
    shown_url: str
    """After the user's own `url.*.insteadOf`, with credentials masked. Printable."""
    host: str | None
    """Whom it asks; None for a path on this machine."""
    refspecs: tuple[str, ...]
    """Checked; what is not given here is not fetched."""
    prunes: bool = False
    """References whose source is gone are removed."""
    is_promisor: bool = False
    """Of a partial clone: what is missing here is there."""
    partial_filter: str | None = None
    """What a partial clone leaves out, such as `blob:none`."""
    arguments: tuple[str, ...]
    """Of git, from `fetch` on."""
    config: tuple[tuple[str, str], ...]
    """Pairs for `-c`, besides those of every fetch."""
    repository_config: tuple[tuple[str, str | None, str, str], ...] = ()
    """Section, subsection, name and value of all that git gets to know of the repository's config."""
    protocols: tuple[str, ...] = ()
    """What git may connect by."""
    alternate_refs: str = "auto"
    """`auto`, `suppress` or `use`."""
    is_preview: bool = False
    """Nothing is changed."""
    time_limit_s: float
    """Of all of it."""
    choices: tuple[str, ...] = ()
    """What was chosen and why. Printable."""
    refusals: tuple[Refusal, ...] = ()
    """If there is one, nothing is fetched from it."""


class FetchPlan(msgspec.Struct, frozen=True, kw_only=True):
    """How one repository is fetched into."""

    path: bytes
    remotes: tuple[RemotePlan, ...]
    """In the order of the config, or of what was asked for."""
    refusals: tuple[Refusal, ...] = ()
    """Reasons that hold for all remotes."""

    @property
    def runnable(self) -> tuple[RemotePlan, ...]:
        """The remotes that nothing speaks against."""
        return () if self.refusals else tuple(remote for remote in self.remotes if not remote.refusals)


class FetchProgress(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """How far a fetch is, in git's own words."""

    phase: str
    """`counting objects`, `compressing objects`, `receiving objects`, `resolving deltas`."""
    done_count: int
    total_count: int | None
    """None while it is not known."""
    received_bytes: int | None = None
    """While objects are received."""


class FetchResult(msgspec.Struct, frozen=True, kw_only=True):
    """What came of fetching from one remote."""

    remote: str
    """Printable."""
    outcome: Outcome
    reason: Reason | None = None
    """None if it went as asked."""
    sentence: str
    """For people. Printable."""
    elapsed_s: float
    """From the first look at what speaks against it to the end of the last command."""
    phases: tuple[Phase, ...] = ()
    """Their sum is `elapsed_s`; empty if git did not run."""
    received_objects: int | None = None
    """As the server announced them; None if it sent nothing."""
    received_bytes: int | None = None
    """Of the pack as it came; of one that was unpacked at once, what its objects take on disk. None if nothing came."""
    reference_changes: tuple[ReferenceChange, ...] = ()
    """At most 1,000."""
    reference_change_count: int = 0
    choices: tuple[str, ...] = ()
    """What was chosen and why. Printable."""
    commands: tuple[RecordedCommand, ...] = ()
    leftovers: tuple[str, ...] = ()
    """Temporary packs that it left, relative to the common directory. Printable."""
    left_bytes: int = 0
    """What they take."""
