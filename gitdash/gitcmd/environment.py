"""The one table of what every git call gets: environment variables and `-c` pairs, with the reason for each.

The environment is built from nothing, never by deleting from an inherited one: `git rev-parse --local-env-vars` does
not list `GIT_CONFIG_KEY_<n>`, `GIT_TRACE*`, `GIT_SSH*` and more, and one inherited `GIT_OBJECT_DIRECTORY` changes every
size. Source: git(1) "Environment Variables", git-config(1), and experiments with git 2.39.5, 2.47.3 and 2.55.0.

Pure: nothing is read from the process. What a single command needs besides is an argument of `runner.run_git`.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

FALLBACK_PATH: Final = "/usr/local/bin:/usr/bin:/bin"
"""The search path of git's children when the inherited one has no usable entry."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Variable:
    """One environment variable."""

    name: str
    """The variable's name."""
    value: str
    """Its value in every call."""
    reason: str
    """Why git gets it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Override:
    """One `-c key=value`. Command scope is read last, so it beats includes and config.worktree, too."""

    key: str
    """The configuration key."""
    value: str
    """Its value; where the key takes a list, an empty value empties the list."""
    reason: str
    """What the repository's own value could do."""


VARIABLES: Final = (
    Variable(name="LC_ALL", value="C", reason="messages are matched, and so must not be translated"),
    Variable(name="HOME", value="/dev/null", reason="no ~/.gitconfig, ~/.netrc, ~/.config/git; nobody can create it"),
    Variable(name="GIT_CONFIG_NOSYSTEM", value="1", reason="/etc/gitconfig would make numbers differ between hosts"),
    Variable(name="GIT_CONFIG_GLOBAL", value="/dev/null", reason="the user's insteadOf, hooks and helpers stay out"),
    Variable(name="GIT_ATTR_NOSYSTEM", value="1", reason="/etc/gitattributes can name filters"),
    Variable(name="GIT_DIR", value="/dev/null", reason="a call that names no repository must not find one upwards"),
    Variable(name="GIT_TERMINAL_PROMPT", value="0", reason="git opens /dev/tty for a prompt although stdin is closed"),
    Variable(name="GIT_ASKPASS", value="/bin/false", reason="beats core.askPass, which runs with prompts off, too"),
    Variable(name="SSH_ASKPASS", value="/bin/false", reason="the fallback of GIT_ASKPASS"),
    Variable(name="SSH_ASKPASS_REQUIRE", value="never", reason="ssh itself may not ask in a window"),
    Variable(name="GCM_INTERACTIVE", value="never", reason="a credential helper may not open a window"),
    Variable(name="GIT_OPTIONAL_LOCKS", value="0", reason="a read of ours must not make the user's commit fail"),
    Variable(name="GIT_NO_LAZY_FETCH", value="1", reason="a missing object in a partial clone starts a transfer"),
    Variable(name="GIT_NO_REPLACE_OBJECTS", value="1", reason="replace refs change what is reachable"),
    Variable(name="GIT_PAGER", value="cat", reason="beats core.pager"),
    Variable(name="GIT_EDITOR", value="false", reason="beats core.editor"),
    Variable(name="GIT_SEQUENCE_EDITOR", value="false", reason="beats sequence.editor"),
    Variable(name="GIT_ALLOW_PROTOCOL", value="none", reason="beats protocol.*.allow; only a fetch lists protocols"),
    Variable(name="GIT_PROTOCOL_FROM_USER", value="0", reason="protocols that ask for the user's word are refused"),
    Variable(name="GIT_PROXY_COMMAND", value="", reason="beats core.gitProxy"),
    Variable(
        name="GIT_SSH_COMMAND",
        value="ssh -oBatchMode=yes -oStrictHostKeyChecking=yes -oConnectTimeout=10 -oServerAliveInterval=10"
        " -oServerAliveCountMax=3",
        reason="beats core.sshCommand, never asks, and notices a silent peer",
    ),
    Variable(name="GIT_SSH_VARIANT", value="ssh", reason="beats ssh.variant, which changes how options are passed"),
)
"""What the environment consists of, besides PATH."""

CONFIG_OVERRIDES: Final = (
    Override(key="core.fsmonitor", value="false", reason="a program, run by status, gc, fsck and repack"),
    Override(
        key="core.hooksPath", value="/dev/null", reason="hooks: reference-transaction, pre-auto-gc, post-index-change"
    ),
    Override(
        key="hook.reference-transaction.enabled", value="false", reason="since 2.54 config alone is a hook; pack-refs"
    ),
    Override(key="hook.pre-auto-gc.enabled", value="false", reason="the same; gc --auto"),
    Override(key="hook.post-index-change.enabled", value="false", reason="the same; status"),
    Override(key="hook.post-checkout.enabled", value="false", reason="the same; worktree add"),
    Override(
        key="core.alternateRefsCommand",
        value='git --git-dir="$1" for-each-ref --format="%(objectname)" #',
        reason="a program; also `exit 0 #` and an empty value make sizes wrong. The ` #` comments the path away that"
        " git appends, which would be a pattern that matches no reference",
    ),
    Override(key="core.alternateRefsPrefixes", value="", reason="leaves out references of the lender: wrong sizes"),
    Override(key="core.askPass", value="/bin/false", reason="a program, run on a 401"),
    Override(key="credential.helper", value="", reason="a program; empty resets credential.<url>.helper, too"),
    Override(key="protocol.allow", value="never", reason="ext:: runs any program"),
    Override(key="http.saveCookies", value="false", reason="with http.cookieFile it overwrites any file"),
    Override(key="http.extraHeader", value="", reason="a token would follow url.<base>.insteadOf to another host"),
    Override(key="maintenance.auto", value="false", reason="maintenance detaches from the process group"),
    Override(key="gc.auto", value="0", reason="the same, and it drops objects that a borrower may need"),
    Override(key="fetch.recurseSubmodules", value="false", reason="a submodule's own config names programs"),
    Override(key="submodule.recurse", value="false", reason="the same"),
    Override(key="log.showSignature", value="false", reason="gpg.program is a program"),
    Override(key="color.ui", value="false", reason="`always` puts escape sequences into what is parsed"),
    Override(key="core.attributesFile", value="/dev/null", reason="a FIFO hangs repack, gc and status"),
    Override(key="core.excludesFile", value="/dev/null", reason="a FIFO hangs status"),
)
"""What the configuration of a repository cannot change, whatever it says.

`remote.<n>.uploadpack`, `remote.<n>.url` (the first value wins), `filter.*` and `diff.*` cannot be overridden here: no
command that reads them runs through the runner without the option that does.
"""

_GIT_PREFIXES: Final = ("GIT_", "SSH_ASKPASS", "SUDO_", "GCM_")


def git_environment(inherited: Mapping[str, str]) -> dict[str, str]:
    """Return the whole environment of a git call. Of what is inherited only PATH counts, without relative entries."""
    return {variable.name: variable.value for variable in VARIABLES} | {"PATH": search_path(inherited)}


def without_git_variables(inherited: Mapping[str, str]) -> dict[str, str]:
    """Return an environment for a child that is not git, less the variables that would change what git does."""
    return {name: value for name, value in inherited.items() if not name.startswith(_GIT_PREFIXES)}


def search_path(inherited: Mapping[str, str]) -> str:
    """Return PATH with absolute entries only: an empty or relative one is the current folder, which may be hostile."""
    entries = [entry for entry in inherited.get("PATH", "").split(":") if entry.startswith("/")]
    return ":".join(entries) or FALLBACK_PATH


def config_arguments(
    added: tuple[tuple[str, str], ...] = (), overrides: Sequence[Override] = CONFIG_OVERRIDES
) -> list[str]:
    """Return the `-c` pairs of the table, then the added ones, which win where a key takes one value."""
    pairs = [(override.key, override.value) for override in overrides] + list(added)
    return [argument for key, value in pairs for argument in ("-c", f"{key}={value}")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Passed:
    """Variables of the user's that a fetch gets as they are."""

    names: tuple[str, ...]
    reason: str
    """Why a fetch without them would not do what the user set up."""


FETCH_PASSED: Final = (
    Passed(
        names=("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM"),
        reason="where the user's own config is",
    ),
    Passed(names=("GIT_CONFIG_COUNT", "GIT_CONFIG_PARAMETERS"), reason="keys that the user gave to gitdash itself"),
    Passed(names=("GIT_SSH", "GIT_SSH_VARIANT"), reason="the user's ssh; GIT_SSH_COMMAND is made of theirs"),
    Passed(
        names=(
            "GIT_SSL_CAINFO",
            "GIT_SSL_CAPATH",
            "GIT_SSL_CERT",
            "GIT_SSL_CERT_TYPE",
            "GIT_SSL_CIPHER_LIST",
            "GIT_SSL_KEY",
            "GIT_SSL_KEY_TYPE",
            "GIT_SSL_NO_VERIFY",
            "GIT_SSL_VERSION",
        ),
        reason="the user's certificates",
    ),
    Passed(
        names=(
            "GIT_HTTP_PROXY_AUTHMETHOD",
            "GIT_PROXY_COMMAND",
            "GIT_PROXY_SSL_CAINFO",
            "GIT_PROXY_SSL_CERT",
            "GIT_PROXY_SSL_KEY",
        ),
        reason="the user's proxy; the other variables of proxies do not begin with GIT_",
    ),
    Passed(
        names=("GIT_HTTP_USER_AGENT", "GIT_HTTP_LOW_SPEED_LIMIT", "GIT_HTTP_LOW_SPEED_TIME"),
        reason="what some servers, and slow ones, need",
    ),
)
"""The variables of git's own that a fetch gets besides `FETCH_VARIABLES`, where the user has set them."""

_GIVEN_PAIR: Final = re.compile(r"GIT_CONFIG_(?:KEY|VALUE)_[0-9]{1,4}")

_NOT_OF_THE_USER: Final = frozenset({"HOME", "GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_GLOBAL", "GIT_PROXY_COMMAND"})
"""What the table closes and a fetch leaves open: the user's own word counts in it."""
_CHANGED: Final = ("GIT_SSH_COMMAND", "GIT_SSH_VARIANT", "GIT_ALLOW_PROTOCOL", "GIT_NO_LAZY_FETCH")

FETCH_VARIABLES: Final = (
    *(variable for variable in VARIABLES if variable.name not in {*_NOT_OF_THE_USER, *_CHANGED}),
    Variable(name="GIT_TRACE2", value="0", reason="the user's trace2.normalTarget would mix into what is parsed"),
    Variable(name="GIT_TRACE2_PERF", value="0", reason="the same, trace2.perfTarget"),
)
"""What every fetch gets. Ports to people stay closed: nothing can ask for a password, a passphrase or a host key.

`GIT_NO_LAZY_FETCH` is not among them: a partial clone may have to ask for what a new pack builds on, and the one remote
that it knows is this one. Nor is it 0: `upload-pack` in a local remote sets it where nobody has (git-upload-pack(1)
SECURITY), for a fetch there would run the program that the config of that repository names.
"""

_NO_WINDOWS: Final = frozenset({"DISPLAY", "WAYLAND_DISPLAY"})
"""A helper of the user's, or gpg's pinentry, would open one and wait."""

_FETCH_LEAVES_TO_USER: Final = frozenset(
    {
        "core.alternateRefsCommand",
        "core.alternateRefsPrefixes",
        "credential.helper",
        "http.extraHeader",
        "http.saveCookies",
        "protocol.allow",
    }
)
FETCH_CONFIG_OVERRIDES: Final = (
    *(override for override in CONFIG_OVERRIDES if override.key not in _FETCH_LEAVES_TO_USER),
    Override(key="fetch.writeCommitGraph", value="false", reason="a side job of minutes, and not asked for"),
    Override(key="fetch.output", value="full", reason="the compact form hides names"),
    Override(key="fetch.parallel", value="1", reason="one connection to a host at a time"),
    Override(key="core.abbrev", value="no", reason="the plain form shows ids, which are wanted whole"),
    Override(key="advice.fetchShowForcedUpdates", value="false", reason="advice, among what is parsed"),
)
"""What no config changes about a fetch. It sees no config of the repository at all, see `stand_in`: what is left open
here is the user's own word. The protocols that are allowed, and how alternate references are named, differ by fetch."""


def fetch_environment(inherited: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a fetch, but for its own variables: protocols, ssh, git directory.

    git runs ssh, credential helpers and proxies, which may need any variable of the user's; so all are passed on but
    those of git, of which `FETCH_PASSED` names the exceptions, and those by which something could ask the user.
    """
    named = {name for passed in FETCH_PASSED for name in passed.names}
    passed_on = {
        name: value
        for name, value in inherited.items()
        if (not name.startswith(_GIT_PREFIXES) and name not in _NO_WINDOWS)
        or name in named
        or _GIVEN_PAIR.fullmatch(name)
    }
    fixed = {variable.name: variable.value for variable in FETCH_VARIABLES}
    return passed_on | fixed | {"PATH": search_path(inherited)}
