"""The configuration that maintenance pins: what the repository's own config must not decide while packs are rewritten.

Source: git-config(1), git-repack(1), and experiments with git 2.39.5, 2.47.3 and 2.55.0. It comes on top of the table
of every git call (`gitcmd/environment.py`). git skips keys that it does not know. A value that git refuses cannot be
overridden, for git reads every occurrence: such a repository is refused (`refusals.py`).

Without pins of their own: `pack.island` (a list; `repack.useDeltaIslands=false` keeps git from reading it) and
`pack.preferBitmapTips`, which decides on speed alone.
"""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class Pin:
    """One `-c key=value` of every maintenance command."""

    key: str
    """The configuration key."""
    value: str
    """Its value; git's own default unless the reason says otherwise."""
    reason: str
    """What the repository's own value could do."""


PINS: Final = (
    Pin(key="pack.threads", value="0", reason="thousands of threads; 0 is one for each processor"),
    Pin(key="pack.window", value="10", reason="a window of millions never ends"),
    Pin(key="pack.depth", value="50", reason="long delta chains make every later read slow"),
    Pin(key="pack.windowMemory", value="100m", reason="memory of each thread; git's own default has no bound"),
    Pin(key="pack.deltaCacheSize", value="256m", reason="memory"),
    Pin(key="pack.packSizeLimit", value="0", reason="thousands of small packs instead of one"),
    Pin(key="pack.compression", value="-1", reason="0 stores everything as it is: no disk is large enough"),
    Pin(key="core.compression", value="-1", reason="the same, for all that pack.compression does not say"),
    Pin(key="core.bigFileThreshold", value="512m", reason="1 byte would make every blob a stream without deltas"),
    Pin(key="pack.indexVersion", value="2", reason="version 1 has no checksums of objects, and large packs break it"),
    Pin(key="pack.usePathWalk", value="false", reason="other deltas, and not with every option"),
    Pin(key="pack.useBitmaps", value="true", reason="a repack without them walks the whole history"),
    Pin(key="pack.writeBitmapHashCache", value="true", reason="without it a fetch by bitmap makes poor deltas"),
    Pin(key="pack.writeBitmapLookupTable", value="true", reason="off by default: a reader loads the whole bitmap"),
    Pin(key="repack.writeBitmaps", value="false", reason="a bare repository writes one unasked: steps say it"),
    Pin(key="repack.packKeptObjects", value="false", reason="copies kept packs each time; .keep means leave alone"),
    Pin(key="repack.useDeltaIslands", value="false", reason="pack.island is a list of regular expressions"),
    Pin(key="repack.useDeltaBaseOffset", value="true", reason="larger packs"),
    Pin(key="repack.cruftWindow", value="10", reason="as pack.window"),
    Pin(key="repack.cruftWindowMemory", value="100m", reason="as pack.windowMemory"),
    Pin(key="repack.cruftDepth", value="50", reason="as pack.depth"),
    Pin(key="repack.cruftThreads", value="0", reason="as pack.threads"),
    Pin(key="core.multiPackIndex", value="true", reason="where it is off its commands do nothing, and end well"),
    Pin(key="core.commitGraph", value="true", reason="the same of commit-graph write"),
    Pin(
        key="core.fsync",
        value="objects,derived-metadata,reference",
        reason="`none`: after a power cut old packs are gone and the new one is empty; these are Gitaly's",
    ),
    Pin(key="core.fsyncMethod", value="fsync", reason="`writeout-only` leaves it in the cache of the disk"),
    Pin(key="gc.pruneExpire", value="never", reason="the date from which unreachable objects are dropped"),
    Pin(key="gc.cruftPacks", value="true", reason="unreachable objects as a file each"),
    Pin(key="gc.reflogExpire", value="never", reason="commits that only a reflog knows"),
    Pin(key="gc.reflogExpireUnreachable", value="never", reason="the same; with both git skips every pattern's, too"),
    Pin(key="gc.worktreePruneExpire", value="never", reason="work trees on a disk that is not mounted"),
    Pin(key="gc.repackFilter", value="", reason="carries blobs out of the repository"),
    Pin(key="gc.repackFilterTo", value="", reason="where to"),
)
"""In the order in which commands get them."""

PINNED_CONFIG: Final = tuple((pin.key, pin.value) for pin in PINS)
"""The pairs alone."""
