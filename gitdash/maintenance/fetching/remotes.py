"""What a repository's config, with its includes and its worktree config, says of remotes and of fetches.

The whole of it is read here, and what a fetch may know of it is taken out, key by key: git gets that and nothing else,
see `gitcmd.stand_in`. Source: git-config(1) `remote.*`, `fetch.*`, `core.*`; gitrepository-layout(5). Files named
`.git/remotes/*` and `.git/branches/*` are no remotes here: git itself is about to forget them.
"""

import os
import re
from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from gitdash.errors import GitdashError
from gitdash.formats.git_config import read_config
from gitdash.gitcmd.git_program import GitProgram
from gitdash.inspection.config_includes import CONFIG_MAXIMUM_BYTES, WITHHELD, IncludeReader
from gitdash.inspection.config_values import ConfigValues, SourcedEntry, parse_bool
from gitdash.inspection.files import FileMissingError, read_file
from gitdash.inspection.reading import Problems
from gitdash.maintenance.fetching.user_config import UserConfig, read_user_config
from gitdash.model.report import RepositoryReport
from gitdash.model.repository import Unreadable

_EXTENSIONS: Final = frozenset({"objectformat", "refstorage", "compatobjectformat", "preciousobjects", "partialclone"})
_KNOWN_KEYS: Final = frozenset(
    {
        *(("core", name) for name in ("sharedrepository", "fsync", "fsyncmethod", "fsyncobjectfiles")),
        *(("core", name) for name in ("compression", "loosecompression", "bigfilethreshold")),
        *(("core", name) for name in ("multipackindex", "commitgraph", "logallrefupdates")),
        *(("fetch", name) for name in ("unpacklimit", "fsckobjects", "negotiationalgorithm")),
        *(("transfer", name) for name in ("unpacklimit", "fsckobjects")),
        ("pack", "threads"),
    }
)
"""How objects and references are written: words and numbers, which name no program, file or address."""
_WORD: Final = re.compile(rb"[A-Za-z0-9,._+-]{0,60}")


class ConfiguredRemote(msgspec.Struct, frozen=True, kw_only=True):
    """One remote of a repository's config."""

    name: str
    """Bytes that are not UTF-8 are surrogates, here and below."""
    urls: tuple[str, ...] = ()
    """git fetches from the first."""
    refspecs: tuple[str, ...] = ()
    prunes: bool | None = None
    tag_option: str | None = None
    """`--tags` or `--no-tags`."""
    is_promisor: bool = False
    partial_filter: str | None = None
    is_skipped: bool = False
    """Left out where all remotes are fetched from."""
    vcs: str | None = None
    """Which `git-remote-<vcs>` would be run."""
    sets_program: bool = False
    """It names another program than git-upload-pack for the other side."""
    is_elsewhere: bool = False
    """Some of it stands in a file outside the repository, whose values are not read."""


class FetchConfig(msgspec.Struct, frozen=True, kw_only=True):
    """What was read of a repository's config, and of the user's."""

    remotes: tuple[ConfiguredRemote, ...]
    groups: dict[str, tuple[str, ...]]
    """Names of remotes by `remotes.<group>`."""
    prunes: bool | None
    """`fetch.prune`."""
    rewrites: tuple[tuple[str, str], ...]
    """Base and prefix of `url.<base>.insteadOf` of the repository: not honoured, only said."""
    known: tuple[tuple[str, str | None, str, str], ...]
    """Section, subsection, name and value of what git may know."""
    user_rewrites: tuple[tuple[str, str], ...] = ()
    user_prunes: bool | None = None
    user_limits_http_speed: bool = False
    user_keeps_to_host: bool = False
    """See `UserConfig`."""
    user_lets_headers_follow: bool = False


def read_remotes(report: RepositoryReport, program: GitProgram) -> FetchConfig | Unreadable:
    """Read what a repository's config says of remotes, and what the user's says of fetches."""
    repository = report.repository
    head = None if isinstance(report.inspection, Unreadable) else report.inspection.head
    problems = Problems()
    reader = IncludeReader(git_dir=repository.git_dir, head=head if isinstance(head, str) else None, problems=problems)
    try:
        entries = _own_entries(reader, repository.common_dir)
        user = read_user_config(program, repository.git_dir, repository.common_dir)
    except GitdashError as error:
        return Unreadable(getattr(error, "reason", str(error)))
    if problems.noted:
        return Unreadable(f"{problems.noted[0].path}: {problems.noted[0].reason}")
    return interpret(entries, user)


def _own_entries(reader: IncludeReader, common_dir: bytes) -> list[SourcedEntry]:
    path = common_dir + b"/config"
    try:
        data = read_file(path, CONFIG_MAXIMUM_BYTES)
    except FileMissingError:
        data = b""
    entries = list(reader.expand(read_config(data), path, "config", 0))
    if ConfigValues(entries).is_true("extensions", "worktreeconfig"):
        path = reader.git_dir + b"/config.worktree"
        entries += reader.expand(reader.read(path, b"config.worktree"), path, "config.worktree", 0)
    return entries


def interpret(entries: Sequence[SourcedEntry], user: UserConfig) -> FetchConfig:
    """Return what the keys say."""
    values = ConfigValues(entries)
    names = dict.fromkeys(
        entry.entry.subsection
        for entry in entries
        if entry.entry.section == "remote" and entry.entry.subsection != WITHHELD
    )
    return FetchConfig(
        remotes=tuple(_remote(name, entries) for name in names if name),
        groups=_groups(entries),
        prunes=_flag(values, ("fetch", None, "prune")),
        rewrites=tuple(
            (_text(sourced.entry.subsection), _text(sourced.entry.value))
            for sourced in entries
            if sourced.entry.section == "url" and sourced.entry.name == "insteadof"
        ),
        known=tuple(_known(values)),
        user_rewrites=user.rewrites,
        user_prunes=user.flag("fetch.prune"),
        user_limits_http_speed=user.limits_http_speed,
        user_keeps_to_host=user.keeps_to_host,
        user_lets_headers_follow=user.lets_headers_follow,
    )


def _remote(name: bytes, entries: Sequence[SourcedEntry]) -> ConfiguredRemote:
    own = [
        sourced.entry for sourced in entries if sourced.entry.section == "remote" and sourced.entry.subsection == name
    ]
    last = {entry.name: entry.value for entry in own}
    lists: dict[str, list[str]] = {"url": [], "fetch": []}
    for entry in own:
        if entry.name == "url" and not entry.value:
            # since 2.46 an empty one empties the list; an older git would take it for a path
            lists["url"].clear()
        elif entry.name in lists:
            lists[entry.name].append(_text(entry.value))
    return ConfiguredRemote(
        name=os.fsdecode(name),
        urls=tuple(lists["url"]),
        refspecs=tuple(lists["fetch"]),
        prunes=parse_bool(last["prune"]) if "prune" in last else None,
        tag_option=_text(last.get("tagopt")) or None,
        is_promisor="promisor" in last and parse_bool(last["promisor"]) is True,
        partial_filter=_text(last.get("partialclonefilter")) or None,
        is_skipped=any(
            option in last and parse_bool(last[option]) is True for option in ("skipfetchall", "skipdefaultupdate")
        ),
        vcs=_text(last.get("vcs")) or None,
        sets_program="uploadpack" in last,
        is_elsewhere=any(entry.value == WITHHELD for entry in own),
    )


def _groups(entries: Sequence[SourcedEntry]) -> dict[str, tuple[str, ...]]:
    groups: dict[str, tuple[str, ...]] = {}
    for sourced in entries:
        entry = sourced.entry
        if entry.section == "remotes" and entry.subsection is None:
            groups[entry.name] = groups.get(entry.name, ()) + tuple(_text(entry.value).split())
    return groups


def _known(values: ConfigValues) -> Iterator[tuple[str, str | None, str, str]]:
    for (section, subsection, name), value in values.last.items():
        is_known = (
            ((section, name) in _KNOWN_KEYS and subsection is None)
            or (section == "extensions" and subsection is None and name in _EXTENSIONS)
            or (section, subsection, name) == ("core", None, "repositoryformatversion")
            or (section == "fetch" and subsection == b"fsck" and name != "skiplist")
        )
        if is_known and _WORD.fullmatch(value or b"true"):
            yield section, None if subsection is None else _text(subsection), name, _text(value or b"true")


def _flag(values: ConfigValues, key: tuple[str, bytes | None, str]) -> bool | None:
    return parse_bool(values.last[key]) if key in values.last else None


def _text(value: bytes | None) -> str:
    return os.fsdecode(value or b"")
