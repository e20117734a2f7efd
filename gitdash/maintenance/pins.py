"""The configuration that maintenance pins: what the repository's own config must not decide while packs are rewritten.

Source: git-config(1), git-repack(1), and experiments with git 2.39.5, 2.47.3 and 2.55.0. It comes on top of the table
of every git call (`gitcmd/environment.py`). git skips keys that it does not know. A value that git refuses cannot be
overridden, for git reads every occurrence: such a repository is refused (`refusals.py`).

Without pins of their own: `pack.island` (a list; `repack.useDeltaIslands=false` keeps git from reading it) and
`pack.preferBitmapTips`, which decides on speed alone.
"""

from typing import Final

from gitdash.gitcmd.environment import Override

PINS: Final = (
    Override(key="pack.threads", value="0", reason="thousands of threads; 0 is one for each processor"),
    Override(key="pack.window", value="10", reason="a window of millions never ends"),
    Override(key="pack.depth", value="50", reason="long delta chains make every later read slow"),
    Override(key="pack.windowMemory", value="100m", reason="memory of each thread; git's own default has no bound"),
    Override(key="pack.deltaCacheSize", value="256m", reason="memory"),
    Override(key="pack.packSizeLimit", value="0", reason="thousands of small packs instead of one"),
    Override(key="pack.compression", value="-1", reason="0 stores everything as it is: no disk is large enough"),
    Override(key="core.compression", value="-1", reason="the same, for all that pack.compression does not say"),
    Override(key="core.bigFileThreshold", value="512m", reason="1 byte would make every blob a stream without deltas"),
    Override(
        key="pack.indexVersion", value="2", reason="version 1 has no checksums of objects, and large packs break it"
    ),
    Override(key="pack.usePathWalk", value="false", reason="other deltas, and not with every option"),
    Override(key="pack.useBitmaps", value="true", reason="a repack without them walks the whole history"),
    Override(key="pack.writeBitmapHashCache", value="true", reason="without it a fetch by bitmap makes poor deltas"),
    Override(key="pack.writeBitmapLookupTable", value="true", reason="off by default: a reader loads the whole bitmap"),
    Override(key="repack.writeBitmaps", value="false", reason="a bare repository writes one unasked: steps say it"),
    Override(
        key="repack.packKeptObjects", value="false", reason="copies kept packs each time; .keep means leave alone"
    ),
    Override(key="repack.useDeltaIslands", value="false", reason="pack.island is a list of regular expressions"),
    Override(key="repack.useDeltaBaseOffset", value="true", reason="larger packs"),
    Override(key="repack.cruftWindow", value="10", reason="as pack.window"),
    Override(key="repack.cruftWindowMemory", value="100m", reason="as pack.windowMemory"),
    Override(key="repack.cruftDepth", value="50", reason="as pack.depth"),
    Override(key="repack.cruftThreads", value="0", reason="as pack.threads"),
    Override(key="core.multiPackIndex", value="true", reason="where it is off its commands do nothing, and end well"),
    Override(key="core.commitGraph", value="true", reason="the same of commit-graph write"),
    Override(
        key="core.fsync",
        value="objects,derived-metadata,reference",
        reason="`none`: after a power cut old packs are gone and the new one is empty; these are Gitaly's",
    ),
    Override(key="core.fsyncMethod", value="fsync", reason="`writeout-only` leaves it in the cache of the disk"),
    Override(key="gc.pruneExpire", value="never", reason="the date from which unreachable objects are dropped"),
    Override(key="gc.cruftPacks", value="true", reason="unreachable objects as a file each"),
    Override(key="gc.reflogExpire", value="never", reason="commits that only a reflog knows"),
    Override(
        key="gc.reflogExpireUnreachable", value="never", reason="the same; with both git skips every pattern's, too"
    ),
    Override(key="gc.worktreePruneExpire", value="never", reason="work trees on a disk that is not mounted"),
    Override(key="gc.repackFilter", value="", reason="carries blobs out of the repository"),
    Override(key="gc.repackFilterTo", value="", reason="where to"),
)
"""In the order in which commands get them: git's own defaults, unless the reason says otherwise."""

PINNED_CONFIG: Final = tuple((pin.key, pin.value) for pin in PINS)
"""The pairs alone."""
