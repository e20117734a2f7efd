"""Credentials in texts that are kept or shown: URLs, headers, `name=value` pairs and tokens of known form.

git anonymises http(s) URLs in its own messages but leaves query strings, scp-like addresses and what hooks or helpers
print; `config --list`, `remote -v` and argv are raw. Apply this to the whole text, before anything is cut: half a token
has no form that could be recognised. Pure. It masks rather too much than too little; it cannot know a secret that
looks like a word.
"""

import re
from typing import Final

MASK: Final = "***"

# Every repeat is bounded: git's messages hold what a hostile repository wrote, and may be long.

_USER_WITH_PASSWORD: Final = re.compile(r"(?<=://)[^\s/@:]{0,256}:(?!\d{0,5}(?:/|\s|$))[^\s@]{0,2048}@")
"""`scheme://user:password@`, where the password may hold a raw `/`; a port is no password."""

_USER_INFORMATION: Final = re.compile(r"(?<=://)(?!git@)[^\s/?#]{1,2048}@")
"""`scheme://token@`; the account `git` is the same everywhere and no secret."""

_SCP_LIKE: Final = re.compile(r"(?<![\w./@-])[\w.+%-]{1,256}:[^\s@/]{1,1024}@(?=[\w.\[\]:-]{1,256}:)")
"""`user:password@host:path`."""

_URL_TAIL: Final = re.compile(r"(?<=://)(?P<address>[^\s?#'\"<>]{0,2048})(?P<tail>[?#][^\s'\"<>]*)")
_TAIL_VALUE: Final = re.compile(r"(?P<name>[?#&;][^=&;#?]{0,256}=)[^&;#]*")

_NAMED_VALUE: Final = re.compile(
    r"(?i)(?P<name>(?:token|secret|passw(?:or)?d|passphrase|(?:api|private|access)[_-]?key|credential|signature)"
    r"[\w-]{0,32}[\"']?\s?=\s?)[^\s&;,\"']+"
)

_HEADER: Final = re.compile(
    r"(?i)(?P<name>(?:authorization|token|api-?key|secret|cookie)[ \t]{0,8}:[ \t]{0,8})[^\r\n\"']+"
)
"""`Authorization: …`, `Private-Token: …`, `Set-Cookie: …`, to the end of the line or quotation."""

_SCHEME_OF_HEADER: Final = re.compile(r"(?i)(?P<name>\b(?:bearer|basic)\s{1,8})[\w.~+/=-]{8,}")

_KNOWN_TOKEN: Final = re.compile(
    r"(?<![A-Za-z0-9])(?:gh[pousr]_|github_pat_|gl(?:pat|dt|rt|rtr|cbt|ptt|ft|imt|agent|soat|ffct|oas|wt)-"
    r"|xox[abeoprs]-|npm_|pypi-|hf_|dop_v1_|ATBB|ATATT|AKIA|ASIA|eyJ(?=[\w-]{8,512}\.))[\w.~=-]{4,}"
)
"""Prefixes that forges and registries document; `eyJ` begins a JSON web token."""


def mask_credentials(text: str) -> str:
    """Return `text` with what looks like a credential replaced by `***`; a text without one is returned as it is."""
    text = _USER_WITH_PASSWORD.sub(f"{MASK}@", text)
    text = _USER_INFORMATION.sub(f"{MASK}@", text)
    text = _URL_TAIL.sub(_mask_tail, text)
    text = _SCP_LIKE.sub(f"{MASK}@", text)
    text = _HEADER.sub(rf"\g<name>{MASK}", text)
    text = _SCHEME_OF_HEADER.sub(rf"\g<name>{MASK}", text)
    text = _NAMED_VALUE.sub(rf"\g<name>{MASK}", text)
    return _KNOWN_TOKEN.sub(MASK, text)


def _mask_tail(match: re.Match[str]) -> str:
    tail = match["tail"]
    masked = _TAIL_VALUE.sub(rf"\g<name>{MASK}", tail) if "=" in tail else f"{tail[0]}{MASK}"
    return match["address"] + masked
