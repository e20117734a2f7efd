"""Which references a fetch changed, from what git prints: `--porcelain` since 2.41, the plain form before.

Source: git-fetch(1) "OUTPUT"; builtin/fetch.c. The plain form shortens names (refs.c, prettify_refname), which are made
whole again by the refspecs that were given; it tells no ids of new, pruned and tag references. Pure.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from typing import Final

from gitdash.maintenance.fetching.refspecs import local_name
from gitdash.model.ledger import ReferenceChange

_KINDS: Final = {" ": "updated", "+": "forced", "-": "pruned", "t": "tag", "*": "new", "!": "rejected"}
_PORCELAIN: Final = re.compile(r"([ +\-t*!]) ([0-9a-f]{40,64}) ([0-9a-f]{40,64}) (\S.*)")
_PLAIN: Final = re.compile(
    r" ([ +\-t*!]) (?:\[([a-z -]+)\]|([0-9a-f]{40,64})\.{2,3}([0-9a-f]{40,64})) +(\S+) +-> (\S+)(?: +\(.*\))?"
)
_SHORTENED: Final = ("refs/heads/", "refs/tags/", "refs/remotes/")


def read_porcelain(stdout: str) -> Iterator[ReferenceChange]:
    """Yield the changes of `fetch --porcelain`; lines that are none are passed over."""
    for line in stdout.split("\n"):
        match = _PORCELAIN.fullmatch(line)
        if match is not None:
            yield ReferenceChange(name=match[4], kind=_KINDS[match[1]], old=_id(match[2]), new=_id(match[3]))


def _id(text: str) -> str | None:
    return text if text.strip("0") else None


def read_plain(line: str, refspecs: Sequence[str], known: Collection[str]) -> ReferenceChange | None:
    """Return the change that one line of the plain form tells of; None if it is another line.

    `known` are the references from before, by which a pruned one is recognised.
    """
    match = _PLAIN.fullmatch(line.rstrip())
    if match is None:
        return None
    flag, summary, old, new, source, destination = match.groups()
    if flag == "-":
        name = next((name for name in _candidates(destination) if name in known), destination)
    else:
        name = _whole_name(source, destination, summary or "", refspecs)
    return ReferenceChange(name=name, kind=_KINDS[flag], old=old, new=new)


def _whole_name(source: str, destination: str, summary: str, refspecs: Sequence[str]) -> str:
    candidates = _candidates(source)
    if "tag" in summary:
        candidates = (f"refs/tags/{source}", *candidates)
    for candidate in candidates:
        name = local_name(candidate, refspecs)
        if name is not None and _shortened(name) == destination:
            return name
    # a tag that no refspec names is one that git took along
    return f"refs/tags/{destination}" if "tag" in summary else destination


def _candidates(name: str) -> tuple[str, ...]:
    whole = tuple(prefix + name for prefix in _SHORTENED)
    return (name, *whole) if name.startswith("refs/") else (*whole, name)


def _shortened(name: str) -> str:
    prefix = next((prefix for prefix in _SHORTENED if name.startswith(prefix)), "")
    return name.removeprefix(prefix)
