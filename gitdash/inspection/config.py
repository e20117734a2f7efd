"""The repository's own config: what it says, and what it could do.

Source: git-config(1), "CONFIGURATION FILE", "Includes"; git-worktree(1), "CONFIGURATION FILE" for config.worktree;
gitrepository-layout(5) and git's setup.c for extensions. Reads `config` with its includes to git's depth of 10, and
`config.worktree`. Conditions `gitdir:` and `onbranch:` are evaluated; one that is not understood counts as true,
because what it would bring in is a concern.

The user's and the system's config do not count here: they are the keeper's own word.
"""

from dataclasses import replace
from functools import lru_cache
from itertools import islice
from typing import Final

import msgspec

from gitdash.formats.git_config import ConfigEntry, read_config
from gitdash.formats.reading import FormatError
from gitdash.inspection.config_facts import MAXIMUM_CONCERNS, OwnConfig, interpret
from gitdash.inspection.config_includes import CONFIG_MAXIMUM_BYTES, IncludeReader
from gitdash.inspection.config_values import ConfigValues, SourcedEntry
from gitdash.inspection.files import FileError, read_file
from gitdash.inspection.hooks import file_concerns
from gitdash.inspection.listing import Listing
from gitdash.inspection.reading import Problems
from gitdash.inspection.reference_facts import inspect_head
from gitdash.model.inspection import ObjectFormat, ReferenceBackend
from gitdash.model.repository import Unreadable
from gitdash.units import printable

_CACHED_CONFIGS: Final = 256
"""In a fleet many configs are the same, to the byte."""


def inspect_config(listing: Listing, git_dir: bytes, common_dir: bytes, own: Listing, problems: Problems) -> OwnConfig:
    """Read the config of a repository.

    Args:
        listing: Of the common directory.
        git_dir: Absolute; conditions are about it, and `config.worktree` lies in it.
        common_dir: Absolute; `config` lies in it.
        own: Of the git directory: its HEAD decides about `onbranch:`.
        problems: Takes included files that could not be read.
    """
    found = listing.top().get(b"config")
    is_submodule = b"/modules/" in git_dir
    try:
        data = b"" if found is None else read_file(listing.path(b"config"), CONFIG_MAXIMUM_BYTES, listed=found)
        config = _own_config(data, is_submodule)
        if config is None:
            reader = IncludeReader(git_dir=git_dir, head=_branch(own), problems=problems)
            config = _own_config_with_more(data, reader, common_dir, is_submodule=is_submodule)
    except FileError as error:
        return OwnConfig(facts=Unreadable(error.reason))
    except FormatError as error:
        return OwnConfig(facts=Unreadable(printable(str(error))))
    return _with_file_concerns(config, listing)


def _branch(own: Listing) -> str | None:
    """Return the full name of the branch that HEAD names; None if detached or unknown."""
    head = inspect_head(own, ReferenceBackend.FILES, ObjectFormat.SHA1)
    return head if isinstance(head, str) else None


@lru_cache(maxsize=_CACHED_CONFIGS)
def _own_config(data: bytes, is_submodule: bool) -> OwnConfig | None:
    """Return what a config says that stands alone: in a fleet, many are the same. None if there is more to read."""
    entries = read_config(data)
    if any(_leads_elsewhere(entry) for entry in entries):
        return None
    return interpret([SourcedEntry(entry=entry, source="config") for entry in entries], is_submodule=is_submodule)


def _leads_elsewhere(entry: ConfigEntry) -> bool:
    return entry.section in {"include", "includeif"} or (
        entry.section == "extensions" and entry.name == "worktreeconfig"
    )


def _own_config_with_more(data: bytes, reader: IncludeReader, common_dir: bytes, *, is_submodule: bool) -> OwnConfig:
    entries = list(reader.expand(read_config(data), common_dir + b"/config", "config", 0))
    if ConfigValues(entries).is_true("extensions", "worktreeconfig"):
        path = reader.git_dir + b"/config.worktree"
        entries += reader.expand(reader.read(path, b"config.worktree"), path, "config.worktree", 0)
    return replace(interpret(entries, is_submodule=is_submodule), has_includes=reader.included_count > 0)


def _with_file_concerns(own: OwnConfig, listing: Listing) -> OwnConfig:
    more = tuple(islice(file_concerns(listing), MAXIMUM_CONCERNS))
    if not more or isinstance(own.facts, Unreadable):
        return own
    facts = msgspec.structs.replace(own.facts, concerns=own.facts.concerns + more)
    return replace(own, facts=facts)
