"""What a repository's own config says, as inspection reads it: a fact like the others of `inspection`."""

import enum

import msgspec


class ConfigEffect(enum.StrEnum):
    """What a key of the repository's config could do to its keeper."""

    RUNS_PROGRAM = "runs_program"
    REDIRECTS_URL = "redirects_url"
    DROPS_OBJECTS = "drops_objects"
    OVERWRITES_FILE = "overwrites_file"
    HIDES_ALTERNATE_REFS = "hides_alternate_refs"
    READS_OUTSIDE = "reads_outside"
    STOPS_GIT = "stops_git"
    STOPS_MAINTENANCE = "stops_maintenance"
    CHANGES_HISTORY = "changes_history"


class ConfigConcern(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One key of the repository's config that deserves a word."""

    key: str
    """Canonical: section and name in lower case, subsection as written."""
    value: str
    """With credentials masked, cut to 200 characters."""
    source: str
    """`config`, `config.worktree`, or the included file."""
    effect: ConfigEffect
    answer: str
    """What gitdash does about it, one clause."""

    @property
    def is_file(self) -> bool:
        """Whether it stands in no config: a hook, or another file by itself, with its folder for a source."""
        return self.key.startswith(self.source + "/")


class Remote(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One remote of the config."""

    name: str
    url: str
    """With credentials masked."""
    mirror: bool = False
    promisor: bool = False


class ConfigFacts(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """The repository's own config (with its includes and `config.worktree`)."""

    repository_format_version: int
    unknown_extensions: tuple[str, ...]
    """Extensions (and versions, as `repositoryformatversion=99`) that gitdash does not know."""
    precious_objects: bool
    partial_clone: bool
    """`extensions.partialClone` or a promisor remote."""
    gc_auto: int | None
    """`gc.auto`; None if not set."""
    multi_pack_index_disabled: bool
    """`core.multiPackIndex=false`."""
    bitmaps_disabled: bool
    """`pack.useBitmaps=false` or `repack.writeBitmaps=false`."""
    scalar_enlistment: bool
    """Bears Scalar's marks: `gc.auto=0` with `pack.useBitmaps=false`, or `scalar.*` keys."""
    remotes: tuple[Remote, ...]
    concerns: tuple[ConfigConcern, ...]
    gc_prune_expire: str | None = None
    """`gc.pruneExpire`, such as `never`; None if not set."""
    maintenance_auto: bool | None = None
    """`maintenance.auto`; None if not set. False keeps commands from starting maintenance by themselves."""
    commit_graph_disabled: bool = False
    """`core.commitGraph=false`: git reads none."""
    commit_graph_generation_version: int | None = None
    """`commitGraph.generationVersion`; None if not set. 1 keeps git from writing generation data."""
