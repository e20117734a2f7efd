"""The addresses of remotes: by which protocol git would connect, to whom, and what is refused before it is asked.

Source: git-fetch(1) "GIT URLS", gitremote-helpers(7), git-config(1) `url.<base>.insteadOf`, and git's connect.c for
the order in which the forms are tried. Pure.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from gitdash.model.fetch import PROTOCOLS

_HELPER: Final = re.compile(r"[A-Za-z0-9]+::")
_SCHEME: Final = re.compile(r"([A-Za-z0-9][A-Za-z0-9+.-]*)://")
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")
_AUTHORITY: Final = re.compile(r"(?:[^/@]*@)*(\[[^]/]*\]|[^/:]*)")
_SSH_SCHEMES: Final = frozenset({"ssh", "git+ssh", "ssh+git"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """What a URL means to git."""

    protocol: str
    """As GIT_ALLOW_PROTOCOL names it; `file` for a path, and the name of the helper for `name::`."""
    host: str | None
    """None for a path."""


def read_address(url: str) -> Address:
    """Return what git makes of a URL; any text is one, if only a path."""
    helper = _HELPER.match(url)
    if helper is not None:
        return Address(protocol=url[: helper.end() - 2], host=None)
    scheme = _SCHEME.match(url)
    if scheme is not None:
        name = scheme[1].lower()
        if name == "file":
            return Address(protocol="file", host=None)
        return Address(protocol="ssh" if name in _SSH_SCHEMES else name, host=_host(url[scheme.end() :]))
    before_colon, colon, _ = url.partition(":")
    if colon and "/" not in before_colon:
        return Address(protocol="ssh", host=_host(url))
    return Address(protocol="file", host=None)


def _host(text: str) -> str:
    match = _AUTHORITY.match(text)
    return match[1].strip("[]").lower() if match else ""


def rewritten(url: str, rewrites: Sequence[tuple[str, str]]) -> str:
    """Return a URL as `url.<base>.insteadOf` changes it: the longest prefix wins, of equal ones the first."""
    base, prefix = max(
        ((base, prefix) for base, prefix in rewrites if url.startswith(prefix)),
        key=lambda rewrite: len(rewrite[1]),
        default=("", ""),
    )
    return base + url[len(prefix) :]


def address_problem(
    url: str, address: Address, protocols: Sequence[str], *, allowed_once: str = "by --protocol"
) -> tuple[str, str] | None:
    """Return the rule that speaks against fetching from a URL, and why; None if none does.

    `allowed_once` says where a protocol can be allowed for one fetch.
    """
    if not url:
        return "no-url", "it has no URL"
    if _CONTROL.search(url):
        return "url-control-character", "its URL has a control character"
    if url.startswith("-") or (address.host or "").startswith("-"):
        return "url-is-option", "its URL begins like an option, which ssh or git could take it for"
    if _HELPER.match(url):
        return "url-runs-program", f"its URL names the program git-remote-{address.protocol}"
    if address.protocol not in protocols:
        return "protocol", _not_allowed(address.protocol, protocols, allowed_once)
    return None


def _not_allowed(protocol: str, protocols: Sequence[str], allowed_once: str) -> str:
    allowed = f"protocol {protocol} is not among those that are allowed, {', '.join(protocols)}"
    if protocol not in PROTOCOLS:
        return allowed
    return f"{allowed}; it is allowed once {allowed_once}, always by [fetch] protocols in the configuration"
