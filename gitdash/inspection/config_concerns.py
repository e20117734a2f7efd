"""Every config key of a repository that could harm its keeper, declared once.

Source: git-config(1) for the meaning of each key; that the keys do what their rows say was tried with git 2.39.5 to
2.55.0. Each row says what the key does and what gitdash does about it.

A partial clone's promisor remote is a fact of its own (`ConfigFacts.partial_clone`). Keys that only change output or
cost time (`color.*`, `pack.*`, `core.compression`) are no concerns.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from gitdash.inspection.config_values import parse_bool
from gitdash.model.config_facts import ConfigEffect

_NOT_RUN = "gitdash runs nothing that reads it"
_OVERRIDDEN = "every git call of gitdash overrides it"
_FETCH_ONLY = "gitdash fetches without the repository's config"
_FETCH_CHECKED = "gitdash fetches into no branch of a work tree, and prunes none"
_NEVER_GC = "gitdash runs neither gc nor maintenance"


def _always(_value: bytes | None) -> bool:
    return True


def _not_empty(value: bytes | None) -> bool:
    return bool(value)


def _is_true(value: bytes | None) -> bool:
    return parse_bool(value) is True


def _is_false(value: bytes | None) -> bool:
    return parse_bool(value) is False


def _is_program(value: bytes | None) -> bool:
    return bool(value) and parse_bool(value) is None


def _is_shell_alias(value: bytes | None) -> bool:
    return bool(value) and value is not None and value.startswith(b"!")


def _names_helper(value: bytes | None) -> bool:
    """Tell whether a URL names a transport helper, as `ext::sh -c …` does."""
    return value is not None and re.match(rb"[A-Za-z0-9]+::", value) is not None


def _permits(value: bytes | None) -> bool:
    return (value or b"").lower() in {b"always", b"user"}


def _drops(value: bytes | None) -> bool:
    return (value or b"").lower() not in {b"never", b"false"}


def _writes_local_references(value: bytes | None) -> bool:
    """Tell whether a refspec writes anywhere but below refs/remotes and refs/tags."""
    _, colon, destination = (value or b"").partition(b":")
    return bool(colon and destination) and not destination.startswith((b"refs/remotes/", b"refs/tags/"))


@dataclass(frozen=True, slots=True, kw_only=True)
class ConcernRule:
    """One key, or one family of keys."""

    key: str
    """Canonical, with `*` for any subsection; a name of `*` stands for any key of the section."""
    effect: ConfigEffect
    answer: str
    applies: Callable[[bytes | None], bool] = _not_empty
    """Whether a value does harm; values that switch a feature off do not."""


def _rules(
    effect: ConfigEffect, answer: str, *keys: str, applies: Callable[[bytes | None], bool] = _not_empty
) -> tuple[ConcernRule, ...]:
    return tuple(ConcernRule(key=key, effect=effect, answer=answer, applies=applies) for key in keys)


_RUNS = ConfigEffect.RUNS_PROGRAM
_REDIRECTS = ConfigEffect.REDIRECTS_URL
_DROPS = ConfigEffect.DROPS_OBJECTS
_READS = ConfigEffect.READS_OUTSIDE

CONCERN_RULES: Final = (
    *_rules(_RUNS, _OVERRIDDEN, "core.fsmonitor", applies=_is_program),
    *_rules(
        _RUNS,
        _OVERRIDDEN,
        "core.alternateRefsCommand",
        "core.hooksPath",
        "core.sshCommand",
        "core.gitProxy",
        "core.askPass",
        "core.editor",
        "core.pager",
        "sequence.editor",
        "credential.helper",
        "credential.*.helper",
    ),
    *_rules(_RUNS, "the events that gitdash's commands raise are switched off", "hook.*.command"),
    *_rules(_RUNS, _OVERRIDDEN, "protocol.allow", "protocol.*.allow", applies=_permits),
    *_rules(_RUNS, _FETCH_ONLY, "remote.*.uploadpack"),
    *_rules(_RUNS, "gitdash never pushes", "remote.*.receivepack"),
    *_rules(_RUNS, "the list of allowed protocols refuses it", "remote.*.vcs"),
    *_rules(
        _RUNS,
        "the list of allowed protocols refuses it",
        "remote.*.url",
        "remote.*.pushurl",
        "branch.*.remote",
        "branch.*.pushremote",
        applies=_names_helper,
    ),
    *_rules(_RUNS, _NEVER_GC, "maintenance.prefetch.enabled", applies=_is_true),
    *_rules(_RUNS, _NEVER_GC, "gc.recentobjectshook"),
    *_rules(
        _RUNS,
        "gitdash never compares a work tree",
        "filter.*.clean",
        "filter.*.smudge",
        "filter.*.process",
        "diff.*.textconv",
        "diff.*.command",
        "diff.external",
        "interactive.difffilter",
        "merge.*.driver",
        "difftool.*.cmd",
        "mergetool.*.cmd",
    ),
    *_rules(_RUNS, "gitdash verifies no signature", "gpg.program", "gpg.*.program", "gpg.ssh.defaultkeycommand"),
    *_rules(
        _RUNS, "built-in commands cannot be aliased, and gitdash runs no others", "alias.*", applies=_is_shell_alias
    ),
    *_rules(_RUNS, "gitdash does not touch submodules", "submodule.*.update", applies=_is_shell_alias),
    *_rules(
        _RUNS,
        _NOT_RUN,
        "pager.*",
        "trailer.*.command",
        "trailer.*.cmd",
        "tar.*.command",
        "sendemail.smtpserver",
        "sendemail.sendmailcmd",
        "sendemail.tocmd",
        "sendemail.cccmd",
        "sendemail.headercmd",
        "sendemail.*.smtpserver",
        "sendemail.*.sendmailcmd",
        "sendemail.*.tocmd",
        "sendemail.*.cccmd",
        "imap.tunnel",
        "instaweb.httpd",
        "browser.*.cmd",
        "man.*.cmd",
        "guitool.*.cmd",
        "uploadpack.packobjectshook",
        applies=_is_program,
    ),
    *_rules(_REDIRECTS, _FETCH_ONLY, "url.*.insteadof"),
    *_rules(_REDIRECTS, "gitdash never pushes", "url.*.pushinsteadof"),
    *_rules(
        _REDIRECTS,
        _FETCH_ONLY,
        "http.proxy",
        "http.*.proxy",
        "remote.*.proxy",
        "http.curloptresolve",
        "http.*.curloptresolve",
    ),
    *_rules(_REDIRECTS, _FETCH_ONLY, "http.sslverify", "http.*.sslverify", applies=_is_false),
    *_rules(ConfigEffect.OVERWRITES_FILE, _OVERRIDDEN, "http.savecookies", applies=_is_true),
    # a key for a URL is stronger than the override
    *_rules(ConfigEffect.OVERWRITES_FILE, _FETCH_ONLY, "http.*.savecookies", applies=_is_true),
    *_rules(_READS, _FETCH_ONLY, "http.cookiefile", "http.*.cookiefile"),
    *_rules(
        ConfigEffect.HIDES_ALTERNATE_REFS,
        _OVERRIDDEN,
        "core.alternaterefscommand",
        "core.alternaterefsprefixes",
        applies=_always,
    ),
    *_rules(
        _DROPS,
        _NEVER_GC,
        "gc.pruneexpire",
        "gc.worktreepruneexpire",
        "gc.reflogexpire",
        "gc.reflogexpireunreachable",
        "gc.*.reflogexpire",
        "gc.*.reflogexpireunreachable",
        applies=_drops,
    ),
    *_rules(_DROPS, _NEVER_GC, "gc.repackfilter", "gc.repackfilterto"),
    *_rules(
        _DROPS,
        _FETCH_CHECKED,
        "remote.*.fetch",
        applies=_writes_local_references,
    ),
    *_rules(
        _DROPS,
        _FETCH_CHECKED,
        "fetch.prune",
        "fetch.prunetags",
        "remote.*.prune",
        "remote.*.prunetags",
        applies=_is_true,
    ),
    *_rules(_READS, _OVERRIDDEN, "core.attributesfile", "core.excludesfile"),
    *_rules(
        _READS,
        _NOT_RUN,
        "fsck.skiplist",
        "receive.fsck.skiplist",
        "fetch.fsck.skiplist",
        "mailmap.file",
        "blame.ignorerevsfile",
        "commit.template",
    ),
    *_rules(_READS, "gitdash never compares a work tree", "core.worktree"),
    *_rules(
        _READS,
        "read with a limit by gitdash; sizes are measured without this config",
        "include.path",
        "includeif.*.path",
    ),
)
"""All concerns. `remote.*.prune` and `fetch.prune` count only beside a refspec that writes local references."""


def _shape(key: str) -> tuple[str, bool, str]:
    section, _, rest = key.lower().partition(".")
    subsection, dot, name = rest.rpartition(".")
    return section, bool(dot and subsection), name


def _index() -> dict[tuple[str, bool, str], tuple[ConcernRule, ...]]:
    index: dict[tuple[str, bool, str], tuple[ConcernRule, ...]] = {}
    for rule in CONCERN_RULES:
        shape = _shape(rule.key)
        index[shape] = (*index.get(shape, ()), rule)
    return index


_RULES_BY_SHAPE: Final = _index()
_FIXED_SUBSECTIONS: Final = {("gpg", "defaultkeycommand"): b"ssh", ("maintenance", "enabled"): b"prefetch"}


def concern_rules(section: str, subsection: bytes | None, name: str, value: bytes | None) -> tuple[ConcernRule, ...]:
    """Return the rules that a key with this value falls under."""
    has_subsection = subsection is not None
    fixed = _FIXED_SUBSECTIONS.get((section, name))
    if fixed is not None and subsection != fixed:
        return ()
    rules = _RULES_BY_SHAPE.get((section, has_subsection, name), ())
    if not has_subsection:
        rules += _RULES_BY_SHAPE.get((section, False, "*"), ())
    return tuple(rule for rule in rules if rule.applies(value))
