"""The repository's own config: what it says, and what it could do.

Source: git-config(1), "CONFIGURATION FILE", "Includes"; git-worktree(1), "CONFIGURATION FILE" for config.worktree;
gitrepository-layout(5) and git's setup.c for extensions. Reads `config` with its includes to git's depth of 10, and
`config.worktree`. Conditions `gitdir:` and `onbranch:` are evaluated; one that is not understood counts as true,
because what it would bring in is a concern.

The user's and the system's config do not count here: they are the keeper's own word.
"""

import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

import msgspec

from gitdash.formats.git_config import ConfigEntry, read_config
from gitdash.formats.reading import FormatError
from gitdash.gitcmd.masking import mask_credentials
from gitdash.inspection.config_concerns import ConcernRule, concern_rules, parse_bool, parse_integer
from gitdash.inspection.config_includes import condition_holds
from gitdash.inspection.files import FileError, FileMissingError, read_file
from gitdash.inspection.listing import Listing
from gitdash.inspection.reading import Problems
from gitdash.inspection.references import inspect_head
from gitdash.model.inspection import (
    ConfigConcern,
    ConfigEffect,
    ConfigFacts,
    ObjectFormat,
    ReferenceBackend,
    Remote,
)
from gitdash.model.repository import Unreadable
from gitdash.units import printable, printable_path

_MAXIMUM_BYTES: Final = 4 << 20
"""A config of 40 MB makes git use 644 MiB; the largest honest ones have some 100 KB."""
_MAXIMUM_INCLUDE_DEPTH: Final = 10
_MAXIMUM_VALUE_LENGTH: Final = 200
_MAXIMUM_CONCERNS: Final = 200
_KNOWN_EXTENSIONS: Final = frozenset(
    {
        "noop",
        "noop-v1",
        "preciousobjects",
        "partialclone",
        "worktreeconfig",
        "objectformat",
        "compatobjectformat",
        "refstorage",
        "relativeworktrees",
        "submodulepathconfig",
    }
)
"""Extensions of repositoryformatversion 1 up to git 2.55."""

_PRUNE_KEYS: Final = frozenset({"prune"})


@dataclass(frozen=True, slots=True, kw_only=True)
class SourcedEntry:
    """One key and the file that it stands in."""

    entry: ConfigEntry
    source: str
    """`config`, `config.worktree`, or the path of an included file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnConfig:
    """What the other parts need to know of the config."""

    facts: ConfigFacts | Unreadable
    object_format: ObjectFormat = ObjectFormat.SHA1
    reference_backend: ReferenceBackend = ReferenceBackend.FILES
    has_includes: bool = False
    """Some of it stands in other files, whose change no fingerprint of the git directory shows."""


@dataclass(slots=True)
class _Values:
    """The last value of each key, and all entries."""

    entries: Sequence[SourcedEntry]
    last: dict[tuple[str, bytes | None, str], bytes | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for sourced in self.entries:
            entry = sourced.entry
            self.last[entry.section, entry.subsection, entry.name] = entry.value

    def text(self, section: str, name: str) -> str:
        value = self.last.get((section, None, name))
        return (value or b"").decode("utf-8", "surrogateescape").lower()

    def is_true(self, section: str, name: str) -> bool:
        key = (section, None, name)
        return key in self.last and parse_bool(self.last[key]) is True

    def is_false(self, section: str, name: str) -> bool:
        key = (section, None, name)
        return key in self.last and parse_bool(self.last[key]) is False


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
        data = b"" if found is None else read_file(listing.path(b"config"), _MAXIMUM_BYTES, listed=found)
        config = _own_config(data, is_submodule)
        if config is None:
            reader = _IncludeReader(git_dir=git_dir, head=_branch(own), problems=problems)
            config = _own_config_with_more(data, reader, common_dir, is_submodule=is_submodule)
    except FileError as error:
        return OwnConfig(facts=Unreadable(error.reason))
    except FormatError as error:
        return OwnConfig(facts=Unreadable(printable(str(error))))
    return _with_file_concerns(config, listing)


def _branch(own: Listing) -> str | None:
    """Return the full name of the branch that HEAD names; None if detached or unknown."""
    head = inspect_head(own.path(b"HEAD"), own.top().get(b"HEAD"), ObjectFormat.SHA1)
    return head if isinstance(head, str) else None


@lru_cache(maxsize=256)
def _own_config(data: bytes, is_submodule: bool) -> OwnConfig | None:
    """Return what a config says that stands alone: in a fleet, many are the same. None if there is more to read."""
    entries = read_config(data)
    if any(_leads_elsewhere(entry) for entry in entries):
        return None
    return _interpret([SourcedEntry(entry=entry, source="config") for entry in entries], is_submodule=is_submodule)


def _leads_elsewhere(entry: ConfigEntry) -> bool:
    return entry.section in {"include", "includeif"} or (
        entry.section == "extensions" and entry.name == "worktreeconfig"
    )


def _own_config_with_more(data: bytes, reader: "_IncludeReader", common_dir: bytes, *, is_submodule: bool) -> OwnConfig:
    entries = list(reader.expand(read_config(data), common_dir + b"/config", "config", 0))
    if _Values(entries).is_true("extensions", "worktreeconfig"):
        path = reader.git_dir + b"/config.worktree"
        entries += reader.expand(reader.read(path, b"config.worktree"), path, "config.worktree", 0)
    own = _interpret(entries, is_submodule=is_submodule)
    return OwnConfig(
        facts=own.facts,
        object_format=own.object_format,
        reference_backend=own.reference_backend,
        has_includes=reader.included_count > 0,
    )


@dataclass(slots=True)
class _IncludeReader:
    git_dir: bytes
    head: str | None
    problems: Problems
    included_count: int = 0

    def read(self, path: bytes, shown_path: bytes) -> tuple[ConfigEntry, ...]:
        """Return the keys of a file; one that is not there has none, as for git."""
        try:
            return read_config(read_file(path, _MAXIMUM_BYTES))
        except FileMissingError:
            return ()
        except FileError as error:
            self.problems.note(shown_path, error.reason)
        except FormatError as error:
            self.problems.note(shown_path, str(error))
        return ()

    def expand(self, entries: Iterable[ConfigEntry], path: bytes, source: str, depth: int) -> Iterator[SourcedEntry]:
        """Yield the keys of a file and, where an include stands, those of the included file."""
        for entry in entries:
            yield SourcedEntry(entry=entry, source=source)
            if entry.name != "path" or not entry.value or not self._applies(entry, path):
                continue
            included = os.path.join(os.path.dirname(path), os.path.expanduser(entry.value))
            self.included_count += 1
            if depth >= _MAXIMUM_INCLUDE_DEPTH or self.included_count > _MAXIMUM_CONCERNS:
                self.problems.note(included, f"not read: includes are nested deeper than {_MAXIMUM_INCLUDE_DEPTH}")
                continue
            yield from self.expand(self.read(included, included), included, printable_path(included), depth + 1)

    def _applies(self, entry: ConfigEntry, path: bytes) -> bool:
        if entry.section == "include":
            return entry.subsection is None
        return entry.section == "includeif" and condition_holds(
            entry.subsection or b"", git_dir=self.git_dir, config_path=path, head=self.head
        )


def _interpret(entries: Sequence[SourcedEntry], *, is_submodule: bool) -> OwnConfig:
    values = _Values(entries)
    version = parse_integer(values.last.get(("core", None, "repositoryformatversion"), b"0"))
    remotes = _remotes(values)
    object_format, backend = _formats(values, version)
    facts = ConfigFacts(
        repository_format_version=version or 0,
        unknown_extensions=_unknown_extensions(values, version),
        precious_objects=values.is_true("extensions", "preciousobjects"),
        partial_clone=bool(values.text("extensions", "partialclone")) or any(remote.promisor for remote in remotes),
        gc_auto=parse_integer(values.last.get(("gc", None, "auto"))),
        multi_pack_index_disabled=values.is_false("core", "multipackindex"),
        bitmaps_disabled=values.is_false("pack", "usebitmaps") or values.is_false("repack", "writebitmaps"),
        gc_prune_expire=_optional_text(values, "gc", "pruneexpire"),
        maintenance_auto=parse_bool(values.last[auto])
        if (auto := ("maintenance", None, "auto")) in values.last
        else None,
        scalar_enlistment=_is_scalar(values),
        remotes=remotes,
        concerns=_concerns(values, is_submodule=is_submodule),
    )
    return OwnConfig(facts=facts, object_format=object_format, reference_backend=backend)


def _optional_text(values: _Values, section: str, name: str) -> str | None:
    key = (section, None, name)
    return _shown(values.last[key] or b"") if key in values.last else None


def _formats(values: _Values, version: int | None) -> tuple[ObjectFormat, ReferenceBackend]:
    """Return what extensions say; git reads these two only if the version is 1."""
    if not version:
        return ObjectFormat.SHA1, ReferenceBackend.FILES
    is_sha256 = values.text("extensions", "objectformat") == "sha256"
    is_reftable = values.text("extensions", "refstorage") == "reftable"
    return (
        ObjectFormat.SHA256 if is_sha256 else ObjectFormat.SHA1,
        ReferenceBackend.REFTABLE if is_reftable else ReferenceBackend.FILES,
    )


def _unknown_extensions(values: _Values, version: int | None) -> tuple[str, ...]:
    unknown: list[str] = []
    if version is None or version > 1 or version < 0:
        stated = values.last.get(("core", None, "repositoryformatversion")) or b""
        unknown.append("repositoryformatversion=" + _shown(stated))
    for section, subsection, name in values.last:
        if section != "extensions" or subsection is not None:
            continue
        if name not in _KNOWN_EXTENSIONS and version:
            unknown.append(name)
    for name, known in (("objectformat", {"", "sha1", "sha256"}), ("refstorage", {"", "files", "reftable"})):
        value = values.text("extensions", name)
        if value not in known:
            unknown.append(f"{name}={_shown(value.encode('utf-8', 'surrogateescape'))}")
        elif not version and ("extensions", None, name) in values.last:
            unknown.append(f"{name} without repositoryformatversion=1")
    return tuple(unknown)


def _is_scalar(values: _Values) -> bool:
    """Tell whether an enlistment of Scalar or VFS for Git configured it: gc and bitmaps are off by design there."""
    if any(section == "scalar" for section, _, _ in values.last):
        return True
    gc_auto = values.last.get(("gc", None, "auto"))
    return parse_integer(gc_auto) == 0 and values.is_false("pack", "usebitmaps")


def _remotes(values: _Values) -> tuple[Remote, ...]:
    urls: dict[bytes, bytes] = {}
    for sourced in values.entries:
        entry = sourced.entry
        if entry.section == "remote" and entry.subsection is not None and entry.name == "url" and entry.value:
            urls.setdefault(entry.subsection, entry.value)
    names = dict.fromkeys(
        subsection for section, subsection, _ in values.last if section == "remote" and subsection is not None
    )
    return tuple(
        Remote(
            name=printable_path(name),
            url=_shown(urls.get(name, b"")),
            mirror=_remote_flag(values, name, "mirror"),
            promisor=_remote_flag(values, name, "promisor"),
        )
        for name in names
    )


def _remote_flag(values: _Values, remote: bytes, name: str) -> bool:
    key = ("remote", remote, name)
    return key in values.last and parse_bool(values.last[key]) is True


def _concerns(values: _Values, *, is_submodule: bool) -> tuple[ConfigConcern, ...]:
    concerns: list[ConfigConcern] = []
    writes_local = any(
        rule.key == "remote.*.fetch"
        for sourced in values.entries
        for rule in _rules_of(sourced.entry)
        if sourced.entry.name == "fetch"
    )
    for sourced in values.entries:
        entry = sourced.entry
        if entry.name in _PRUNE_KEYS and not writes_local:
            continue
        if is_submodule and entry.section == "core" and entry.name == "worktree":
            continue
        concerns += [_concern(sourced, rule) for rule in _rules_of(entry)]
    return tuple(concerns[:_MAXIMUM_CONCERNS])


def _concern(sourced: SourcedEntry, rule: ConcernRule) -> ConfigConcern:
    return ConfigConcern(
        key=_canonical_key(sourced.entry),
        value=_shown(sourced.entry.value or b""),
        source=sourced.source,
        effect=rule.effect,
        answer=rule.answer,
    )


def _rules_of(entry: ConfigEntry) -> tuple[ConcernRule, ...]:
    return concern_rules(entry.section, entry.subsection, entry.name, entry.value)


def _canonical_key(entry: ConfigEntry) -> str:
    if entry.subsection is None:
        return f"{entry.section}.{entry.name}"
    return f"{entry.section}.{_shown(entry.subsection)}.{entry.name}"


def _shown(value: bytes) -> str:
    """Return a value for people: credentials masked before it is cut, so that no half of one stays."""
    text = printable(mask_credentials(value.decode("utf-8", "surrogateescape")))
    return text if len(text) <= _MAXIMUM_VALUE_LENGTH else text[: _MAXIMUM_VALUE_LENGTH - 1] + "…"


def _with_file_concerns(own: OwnConfig, listing: Listing) -> OwnConfig:
    """Add the hooks, and the remotes of the old form, which are files and stand in no config."""
    more = [*_hook_concerns(listing), *_legacy_remote_concerns(listing)]
    if not more or isinstance(own.facts, Unreadable):
        return own
    facts = msgspec.structs.replace(own.facts, concerns=own.facts.concerns + tuple(more[:_MAXIMUM_CONCERNS]))
    return OwnConfig(
        facts=facts,
        object_format=own.object_format,
        reference_backend=own.reference_backend,
        has_includes=own.has_includes,
    )


def _hook_concerns(listing: Listing) -> Iterator[ConfigConcern]:
    for name, found in listing.folders.get(b"hooks", {}).items():
        is_link = stat.S_ISLNK(found.st_mode)
        is_program = stat.S_ISREG(found.st_mode) and found.st_mode & 0o111
        if b"." not in name and (is_link or is_program):
            yield ConfigConcern(
                key=printable_path(b"hooks/" + name),
                value="",
                source="hooks",
                effect=ConfigEffect.RUNS_PROGRAM,
                answer="every git call of gitdash looks for hooks elsewhere",
            )


def _legacy_remote_concerns(listing: Listing) -> Iterator[ConfigConcern]:
    for folder in (b"remotes", b"branches"):
        for name, found in listing.folders.get(folder, {}).items():
            if not stat.S_ISDIR(found.st_mode):
                yield ConfigConcern(
                    key=printable_path(folder + b"/" + name),
                    value="",
                    source=folder.decode(),
                    effect=ConfigEffect.REDIRECTS_URL,
                    answer="a remote that no config shows; gitdash fetches from configured remotes only",
                )
