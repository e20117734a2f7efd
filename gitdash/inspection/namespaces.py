"""References by namespace: how many are loose, packed, both, broken, and a few names of each.

Counts are those of `git for-each-ref`: what git passes over with a warning (a bad name, an empty file, a symbolic
reference to nothing) is broken here. A loose reference hides a packed one of its name, a broken one as well. Source:
gitrepository-layout(5), "refs", "packed-refs"; gitglossary(7), "root ref"; git's refs/files-backend.c.

Does not look into objects. Nothing is followed and only regular files are opened; references that git alone can read
(reftable) are counted by their names with `from_names`.
"""

import time
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from gitdash.formats.reading import FormatError
from gitdash.formats.reference import SymbolicReference
from gitdash.gitcmd.masking import presentable_bytes
from gitdash.inspection.files import FileError, FileMissingError, open_buffer
from gitdash.inspection.loose_references import LooseReferences, Reference, read_loose_references
from gitdash.inspection.reference_names import EXAMPLE_COUNT, OTHERS, OUTSIDE, NameCounts, count_packed, namespace_of
from gitdash.inspection.references import refuse_reftable
from gitdash.model.inspection import ObjectFormat
from gitdash.model.namespaces import ReferenceNamespace, ReferenceNamespaces
from gitdash.units import printable, printable_path

_SHOWN_LIMIT: Final = 1000
"""Namespaces that a record names; the others are one."""
_NAME_SHOWN_BYTES: Final = 300


def read_namespaces(git_dir: bytes, common_dir: bytes, object_format: ObjectFormat) -> ReferenceNamespaces:
    """Count the references that a repository's files hold, as seen from one of its worktrees.

    What cannot be read is told in the record. Raises FileError for the reftable backend.
    """
    started_s = time.monotonic()
    refuse_reftable(git_dir, object_format)
    # loose references are read first: git packs a reference before it removes the loose one
    loose = read_loose_references(git_dir, common_dir, object_format)
    head = loose.found.get(b"HEAD")
    if head is None:
        loose.problems.append("HEAD cannot be read")
    packed = _packed(common_dir, loose)
    loose.break_dangling(packed.found if packed is not None else set())
    return ReferenceNamespaces(
        namespaces=_records(loose, packed),
        head=_head_text(head),
        elapsed_s=time.monotonic() - started_s,
        incomplete=_incomplete(loose.problems),
    )


def from_names(names: Sequence[bytes], *, head: str | None, elapsed_s: float) -> ReferenceNamespaces:
    """Return the same of names that git has listed."""
    counts = NameCounts()
    counts.add([name for name in names if name.startswith(b"refs/")])
    root = [name for name in names if not name.startswith(b"refs/")]
    if root:
        counts.counts[OUTSIDE] = len(root)
        counts.examples[OUTSIDE] = root[:EXAMPLE_COUNT]
    namespaces = [
        ReferenceNamespace(
            name=_shown(namespace),
            loose_count=None,
            packed_count=None,
            count=count,
            examples=_shown_names(counts.examples[namespace]),
        )
        for namespace, count in counts.counts.items()
    ]
    return ReferenceNamespaces(namespaces=_largest_first(namespaces), head=head, elapsed_s=elapsed_s)


def _packed(common_dir: bytes, loose: LooseReferences) -> NameCounts | None:
    """Count the packed references; None, with a problem noted, if they cannot be read."""
    path = common_dir + b"/packed-refs"
    try:
        with open_buffer(path) as buffer:
            return count_packed(buffer, loose.object_format, loose.names())
    except FileMissingError:
        return NameCounts()
    except FileError as error:
        loose.note(error)
    except FormatError as error:
        loose.problems.append(f"packed-refs: {error}")
    return None


def _records(loose: LooseReferences, packed: NameCounts | None) -> tuple[ReferenceNamespace, ...]:
    counted = packed if packed is not None else NameCounts()
    loose_counts = Counter(map(_place, loose.found))
    broken_counts = Counter(map(_place, loose.broken)) + counted.broken_counts
    hidden = (_place(name) for name in counted.found if name in loose.found or name in loose.broken)
    hidden_counts = Counter(place if place in counted.counts else OTHERS for place in hidden)
    examples = _examples(loose, counted)
    return _largest_first(
        ReferenceNamespace(
            name=_shown(place),
            loose_count=loose_counts[place],
            packed_count=counted.counts[place] if packed is not None else None,
            count=loose_counts[place] + counted.counts[place] - hidden_counts[place],
            broken_count=broken_counts[place],
            examples=_shown_names(examples.get(place, ())),
        )
        for place in loose_counts.keys() | counted.counts.keys() | broken_counts.keys()
    )


def _place(name: bytes) -> bytes:
    return namespace_of(name) if name.startswith(b"refs/") else OUTSIDE


def _examples(loose: LooseReferences, packed: NameCounts) -> dict[bytes, list[bytes]]:
    """Return the first names of each namespace, by name."""
    examples: dict[bytes, list[bytes]] = {}
    for name in sorted((*loose.found, *loose.broken)):
        kept = examples.setdefault(_place(name), [])
        if len(kept) < EXAMPLE_COUNT:
            kept.append(name)
    for place, names in packed.examples.items():
        examples[place] = sorted({*examples.get(place, ()), *names})[:EXAMPLE_COUNT]
    return examples


def _largest_first(namespaces: Iterable[ReferenceNamespace]) -> tuple[ReferenceNamespace, ...]:
    """Sort, and put those beyond what is shown together."""
    ordered = sorted(namespaces, key=lambda one: (one.name == _shown(OTHERS), -one.count, -one.broken_count, one.name))
    shown, others = ordered[:_SHOWN_LIMIT], ordered[_SHOWN_LIMIT:]
    if not others:
        return tuple(shown)
    together = ReferenceNamespace(
        name=_shown(OTHERS),
        loose_count=_sum(one.loose_count for one in others),
        packed_count=_sum(one.packed_count for one in others),
        count=sum(one.count for one in others),
        broken_count=sum(one.broken_count for one in others),
        examples=others[0].examples,
    )
    return (*shown, together)


def _sum(counts: Iterable[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


def _shown(name: bytes) -> str:
    """Return a name for people; one may be as long as a file."""
    cut = name[:_NAME_SHOWN_BYTES]
    return printable_path(cut) + ("…" if len(cut) < len(name) else "")


def _shown_names(names: Sequence[bytes]) -> tuple[str, ...]:
    return tuple(map(_shown, names))


def _head_text(head: Reference | None) -> str | None:
    if isinstance(head, SymbolicReference):
        return presentable_bytes(head.target)
    return head.object_id if head is not None else None


def _incomplete(problems: Sequence[str]) -> str | None:
    if not problems:
        return None
    more = f", and {len(problems) - 1} more problems" if len(problems) > 1 else ""
    return printable(problems[0]) + more
