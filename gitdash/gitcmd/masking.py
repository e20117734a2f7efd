"""Credentials in texts that are kept or shown: URLs, headers, `name=value` pairs and tokens of known form.

git anonymises http(s) URLs in its own messages but leaves query strings, scp-like addresses and what hooks or helpers
print; `config --list`, `remote -v` and argv are raw. Apply this to the whole text, before anything is cut: half a token
has no form that could be recognised. Pure. It masks rather too much than too little; it cannot know a secret that
looks like a word.
"""

import re
from typing import Final

from gitdash.units import printable

MASK: Final = "***"

_SIGN: Final = re.compile(r"[@:=\s]")
"""All forms hold one of these, but for a known token: most words of a command line hold none."""

# Every repeat is bounded: git's messages hold what a hostile repository wrote, and may be long.

_USER_WITH_PASSWORD: Final = re.compile(
    r"(?<=[A-Za-z0-9+]{3}:/)(?P<slash>/{0,2})[^\s/@:]{0,256}:(?!\d{0,5}(?:/|\s|$))[^\s@]{0,2048}@"
)
"""`scheme://user:password@`, where the password may hold a raw `/`; a port is no password. Resolving such a path leaves
one slash of the two."""

_USER_INFORMATION: Final = re.compile(r"(?<=[A-Za-z0-9+]{3}:/)(?P<slash>/{0,2})(?!git@)[^\s/?#]{1,2048}@")
"""`scheme://token@`; the account `git` is the same everywhere and no secret."""

_SCP_LIKE: Final = re.compile(r"(?<![\w.@-])[\w.+%-]{1,256}:[^\s@/]{1,1024}@(?=[\w.\[\]:-]{1,256}:)")
"""`user:password@host:path`."""

_URL_TAIL: Final = re.compile(r"(?<=[A-Za-z0-9+]{3}:/)(?P<address>[^\s?#'\"<>]{0,2048})(?P<tail>[?#][^\s'\"<>]*)")
_TAIL_VALUE: Final = re.compile(r"(?P<name>[?#&;][^=&;#?]{0,256}=)[^&;#]*")

_NAMED_VALUE: Final = re.compile(
    r"(?i)(?P<name>(?:token|secret|passw(?:or)?d|passphrase|(?<![a-z])pass(?=[\"']?\s?=)|(?:api|private|access)[_-]?key|credential|signature)"
    r"[\w-]{0,32}[\"']?\s?=\s?)[^\s&;,\"']+"
)

_HEADER: Final = re.compile(
    r"(?i)(?P<name>(?:authorization|token|api-?key|secret|cookie)[ \t]{0,8}:[ \t]{0,8})[^\r\n\"']+"
)
"""`Authorization: …`, `Private-Token: …`, `Set-Cookie: …`, to the end of the line or quotation."""

_SCHEME_OF_HEADER: Final = re.compile(r"(?i)(?P<name>\b(?:bearer|basic)\s{1,8})[\w.~+/=-]{8,}")

_OPTION: Final = re.compile(
    r"(?<![\w-])(?P<name>(?:-u|-U|--user|--proxy-user)[ \t=]{0,4}[\"']?)[^\s:\"'/]{1,256}:[^\s\"']{1,1024}"
    r"|(?<![\w-])(?P<long>(?i:--[\w-]{0,32}(?:passw(?:or)?d|token|secret|api-?key)[\w-]{0,32})[ \t]{1,4}[\"']?)"
    r"[^\s\"'-][^\s\"']*"
    r"|(?<![\w-])(?P<short>sshpass[ \t]{1,4}-p[ \t]{0,4}[\"']?)[^\s\"']+"
)
"""Options of programs that a config names: `curl -u user:password`, `--private-token value`, `sshpass -p value`."""

_KNOWN_TOKEN: Final = re.compile(
    r"(?<![A-Za-z0-9])(?:(?:gh[pousr]_|github_pat_|gl(?:pat|dt|rt|rtr|cbt|ptt|ft|imt|agent|soat|ffct|oas|wt)-"
    r"|xox[abeoprs]-|dop_v1_|eyJ(?=[\w-]{8,512}\.))[\w.~=-]{4,}"
    r"|(?:npm_|pypi-|hf_|ATBB|ATATT|AKIA|ASIA)(?=[\w.~=-]{0,200}[0-9])[\w.~=-]{10,})"
)
"""Prefixes that forges and registries document; `eyJ` begins a JSON web token. Those that words begin with, too, need
a digit after them: `npm_modules` is no token."""


def mask_credentials(text: str) -> str:
    """Return `text` with what looks like a credential replaced by `***`; a text without one is returned as it is."""
    if not _SIGN.search(text):
        return _KNOWN_TOKEN.sub(MASK, text)
    text = _USER_WITH_PASSWORD.sub(rf"\g<slash>{MASK}@", text)
    text = _USER_INFORMATION.sub(rf"\g<slash>{MASK}@", text)
    text = _URL_TAIL.sub(_mask_tail, text)
    text = _SCP_LIKE.sub(f"{MASK}@", text)
    text = _HEADER.sub(rf"\g<name>{MASK}", text)
    text = _SCHEME_OF_HEADER.sub(rf"\g<name>{MASK}", text)
    text = _NAMED_VALUE.sub(rf"\g<name>{MASK}", text)
    text = _OPTION.sub(_mask_option, text)
    return _KNOWN_TOKEN.sub(MASK, text)


def presentable(text: str) -> str:
    """Return text that a repository's files hold, or that may quote it, as it may be kept and shown.

    Names of files on disk need `printable` alone: masked, they would name others.
    """
    return printable(mask_credentials(text))


def presentable_bytes(data: bytes) -> str:
    """Return what `presentable` makes of bytes; those that are not UTF-8 become visible escapes."""
    return presentable(data.decode("utf-8", "surrogateescape"))


def _mask_option(match: re.Match[str]) -> str:
    return (match["name"] or match["long"] or match["short"]) + MASK


def _mask_tail(match: re.Match[str]) -> str:
    tail = match["tail"]
    masked = _TAIL_VALUE.sub(rf"\g<name>{MASK}", tail) if "=" in tail else f"{tail[0]}{MASK}"
    return match["address"] + masked
