"""What the keys of a repository's config say.

Source: git-config(1); gitrepository-layout(5) and git's setup.c for versions and extensions. Reads no files.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from gitdash.formats.git_config import ConfigEntry
from gitdash.gitcmd.masking import presentable_bytes
from gitdash.inspection.config_concerns import ConcernRule, concern_rules
from gitdash.inspection.config_refused import refused
from gitdash.inspection.config_values import ConfigValues, SourcedEntry, parse_bool, parse_integer
from gitdash.model.config_facts import ConfigConcern, ConfigFacts, Remote
from gitdash.model.inspection import ObjectFormat, ReferenceBackend
from gitdash.model.repository import Unreadable

MAXIMUM_CONCERNS: Final = 200
"""More than anyone reads."""

_MAXIMUM_VALUE_LENGTH: Final = 200
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


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnConfig:
    """What the other parts need to know of the config."""

    facts: ConfigFacts | Unreadable
    object_format: ObjectFormat = ObjectFormat.SHA1
    reference_backend: ReferenceBackend = ReferenceBackend.FILES
    has_includes: bool = False
    """Some of it stands in other files, whose change no fingerprint of the git directory shows."""


def interpret(entries: Sequence[SourcedEntry], *, is_submodule: bool) -> OwnConfig:
    """Return what the keys say, in the order of the files; `core.worktree` is no concern in a submodule."""
    values = ConfigValues(entries)
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
        commit_graph_disabled=values.is_false("core", "commitgraph"),
        commit_graph_generation_version=parse_integer(values.last.get(("commitgraph", None, "generationversion"))),
        scalar_enlistment=_is_scalar(values),
        remotes=remotes,
        concerns=_concerns(values, is_submodule=is_submodule),
    )
    return OwnConfig(facts=facts, object_format=object_format, reference_backend=backend)


def _optional_text(values: ConfigValues, section: str, name: str) -> str | None:
    key = (section, None, name)
    return _shown(values.last[key] or b"") if key in values.last else None


def _formats(values: ConfigValues, version: int | None) -> tuple[ObjectFormat, ReferenceBackend]:
    """Return what extensions say; git reads these two only if the version is 1."""
    if not version:
        return ObjectFormat.SHA1, ReferenceBackend.FILES
    is_sha256 = values.text("extensions", "objectformat") == "sha256"
    is_reftable = values.text("extensions", "refstorage") == "reftable"
    return (
        ObjectFormat.SHA256 if is_sha256 else ObjectFormat.SHA1,
        ReferenceBackend.REFTABLE if is_reftable else ReferenceBackend.FILES,
    )


def _unknown_extensions(values: ConfigValues, version: int | None) -> tuple[str, ...]:
    unknown: list[str] = []
    if version is None or version > 1 or version < 0:
        stated = values.last.get(("core", None, "repositoryformatversion")) or b""
        unknown.append("repositoryformatversion=" + _shown(stated))
    for section, subsection, name in values.last:
        if section != "extensions" or subsection is not None:
            continue
        if name not in _KNOWN_EXTENSIONS and version:
            unknown.append(_shown(name.encode("ascii")))
    for name, known in (("objectformat", {"", "sha1", "sha256"}), ("refstorage", {"", "files", "reftable"})):
        value = values.text("extensions", name)
        if value not in known:
            unknown.append(f"{name}={_shown(value.encode('utf-8', 'surrogateescape'))}")
        elif not version and ("extensions", None, name) in values.last:
            unknown.append(f"{name} without repositoryformatversion=1")
    return tuple(unknown)


def _is_scalar(values: ConfigValues) -> bool:
    """Tell whether an enlistment of Scalar or VFS for Git configured it: gc and bitmaps are off by design there."""
    if any(section == "scalar" for section, _, _ in values.last):
        return True
    gc_auto = values.last.get(("gc", None, "auto"))
    return parse_integer(gc_auto) == 0 and values.is_false("pack", "usebitmaps")


def _remotes(values: ConfigValues) -> tuple[Remote, ...]:
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
            name=_shown(name),
            url=_shown(urls.get(name, b"")),
            mirror=_remote_flag(values, name, "mirror"),
            promisor=_remote_flag(values, name, "promisor"),
        )
        for name in names
    )


def _remote_flag(values: ConfigValues, remote: bytes, name: str) -> bool:
    key = ("remote", remote, name)
    return key in values.last and parse_bool(values.last[key]) is True


def _concerns(values: ConfigValues, *, is_submodule: bool) -> tuple[ConfigConcern, ...]:
    concerns = [
        ConfigConcern(
            key=_canonical_key(entry),
            value="(no value)" if entry.value is None else _shown(entry.value),
            source=source,
            effect=effect,
            answer="sizes are asked without the repository's config",
        )
        for entry, source, effect in refused(values)
    ]
    writes_local = any(
        rule.key == "remote.*.fetch"
        for sourced in values.entries
        for rule in _rules_of(sourced.entry)
        if sourced.entry.name == "fetch"
    )
    for sourced in values.entries:
        entry = sourced.entry
        if entry.name == "prune" and not writes_local:
            continue
        if is_submodule and entry.section == "core" and entry.name == "worktree":
            continue
        concerns += [_concern(sourced, rule) for rule in _rules_of(entry)]
    return tuple(concerns[:MAXIMUM_CONCERNS])


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
    text = presentable_bytes(value)
    return text if len(text) <= _MAXIMUM_VALUE_LENGTH else text[: _MAXIMUM_VALUE_LENGTH - 1] + "…"
