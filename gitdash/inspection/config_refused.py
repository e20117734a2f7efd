"""Values that git refuses: it dies of them as soon as it reads the config, whatever the command.

Source: git-config(1); found by trying each key with `rev-list` and with `repack` on git 2.39, 2.47 and 2.55: only
what stops all three is here, so that some of what one of them refuses is missing. Most keys are parsed wherever they
stand, so an earlier value counts though a later one replaces it. What extensions and versions demand is in
`config_facts`.
"""

from collections.abc import Callable, Iterator
from typing import Final

from gitdash.formats.git_config import ConfigEntry
from gitdash.inspection.config_values import ConfigValues, parse_bool, parse_integer
from gitdash.model.config_facts import ConfigEffect

IsAccepted = Callable[[bytes | None], bool]
"""Tells of a value whether git takes it; None is a key without `=`."""

_LEAST_ABBREVIATION: Final = 4
_COMPRESSION_LEVELS: Final = range(-1, 10)


def _is_bool(value: bytes | None) -> bool:
    return parse_bool(value) is not None


def _is_number(value: bytes | None) -> bool:
    return parse_integer(value) is not None


def _is_size(value: bytes | None) -> bool:
    number = parse_integer(value)
    return number is not None and number >= 0


def _is_level(value: bytes | None) -> bool:
    return parse_integer(value) in _COMPRESSION_LEVELS


def _is_given(value: bytes | None) -> bool:
    return value is not None


def _is_abbreviation(value: bytes | None) -> bool:
    number = parse_integer(value)
    if number is None:
        return value is not None and (value.lower() == b"auto" or parse_bool(value) is False)
    return number >= _LEAST_ABBREVIATION


def _one_of(*words: bytes, or_bool: bool = False) -> IsAccepted:
    def is_accepted(value: bytes | None) -> bool:
        return (value is not None and value.lower() in words) or (or_bool and _is_bool(value))

    return is_accepted


def _keys(section: str, names: str, is_accepted: IsAccepted) -> dict[tuple[str, str], IsAccepted]:
    return {(section, name): is_accepted for name in names.split()}


STOPS_GIT: Final = {
    **_keys(
        "core",
        "bare filemode trustctime quotepath symlinks ignorecase prefersymlinkrefs sparsecheckout sparsecheckoutcone"
        " precomposeunicode protecthfs protectntfs commitgraph multipackindex usereplacerefs fsyncobjectfiles",
        _is_bool,
    ),
    **_keys("core", "packedgitlimit packedgitwindowsize deltabasecachelimit", _is_size),
    **_keys("core", "compression loosecompression", _is_level),
    **_keys("core", "worktree excludesfile hookspath attributesfile editor askpass", _is_given),
    **_keys("core", "abbrev", _is_abbreviation),
    **_keys("core", "autocrlf", _one_of(b"input", or_bool=True)),
    **_keys("core", "safecrlf", _one_of(b"warn", or_bool=True)),
    **_keys("core", "logallrefupdates", _one_of(b"always", or_bool=True)),
    **_keys("core", "createobject", _one_of(b"link", b"rename")),
    **_keys("user", "name email", _is_given),
    **_keys("user", "useconfigonly", _is_bool),
    **_keys("extensions", "preciousobjects worktreeconfig", _is_bool),
    **_keys("extensions", "partialclone", _is_given),
    **_keys("pack", "compression", _is_level),
    **_keys("pack", "packsizelimit", _is_size),
    **_keys("pack", "usesparse", _is_bool),
    **_keys("commitgraph", "generationversion", _is_number),
    **_keys("commitgraph", "readchangedpaths", _is_bool),
    **_keys("index", "version", _is_number),
    **_keys("index", "sparse", _is_bool),
    **_keys("feature", "manyfiles experimental", _is_bool),
    **_keys("fetch", "negotiationalgorithm", _one_of(b"default", b"skipping", b"consecutive", b"noop")),
    **_keys("branch", "autosetuprebase", _one_of(b"never", b"local", b"remote", b"always")),
    **_keys("branch", "autosetupmerge", _one_of(b"always", b"inherit", b"simple", or_bool=True)),
    **_keys("push", "default", _one_of(b"nothing", b"matching", b"simple", b"upload", b"tracking", b"current")),
}
"""Keys without subsection whose value can stop every command that reads objects or references."""

STOPS_MAINTENANCE: Final = {
    **_keys("pack", "threads depth window windowmemory deltacachesize", _is_number),
    **_keys("pack", "usebitmaps writebitmaphashcache", _is_bool),
    **_keys("gc", "auto autopacklimit", _is_number),
    **_keys("repack", "writebitmaps", _is_bool),
}
"""Keys whose value stops gc, or repack as well."""

LAST_VALUE_COUNTS: Final = frozenset(
    {
        ("core", "commitgraph"),
        ("core", "deltabasecachelimit"),
        ("core", "hookspath"),
        ("core", "logallrefupdates"),
        ("core", "packedgitlimit"),
        ("core", "packedgitwindowsize"),
        ("core", "prefersymlinkrefs"),
        ("core", "usereplacerefs"),
        ("core", "multipackindex"),
        ("pack", "usesparse"),
        ("commitgraph", "generationversion"),
        ("commitgraph", "readchangedpaths"),
        ("index", "version"),
        ("index", "sparse"),
        ("feature", "manyfiles"),
        ("feature", "experimental"),
        ("fetch", "negotiationalgorithm"),
        ("gc", "auto"),
        ("gc", "autopacklimit"),
    }
)
"""Keys of which git looks at the last value alone, at least one of its versions."""


def refused(values: ConfigValues) -> Iterator[tuple[ConfigEntry, str, ConfigEffect]]:
    """Yield each entry that git refuses, the file that it stands in, and what it stops."""
    for sourced in values.entries:
        entry = sourced.entry
        key = (entry.section, entry.name)
        for table, effect in ((STOPS_GIT, ConfigEffect.STOPS_GIT), (STOPS_MAINTENANCE, ConfigEffect.STOPS_MAINTENANCE)):
            is_accepted = table.get(key) if entry.subsection is None else None
            if is_accepted is None or is_accepted(entry.value) or _is_replaced(entry, values):
                continue
            yield entry, sourced.source, effect


def _is_replaced(entry: ConfigEntry, values: ConfigValues) -> bool:
    key = (entry.section, entry.name)
    return key in LAST_VALUE_COUNTS and values.last[entry.section, None, entry.name] != entry.value
