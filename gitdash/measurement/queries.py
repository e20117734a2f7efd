"""The questions that git is asked about one object store, through a shadow git directory.

Source: git-rev-list(1), git-cat-file(1), git's list-objects and pack-bitmap code. Tips go in on stdin, as ids alone: no
option, name or path of the repository reaches git. Nothing is decided here.
"""

import os
import re
import threading
import time
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import Final, Self

from gitdash.gitcmd.git_error import GitError, GitFailure
from gitdash.gitcmd.git_program import GitOutput, GitProgram
from gitdash.gitcmd.output import first_complaint
from gitdash.gitcmd.runner import run_git
from gitdash.gitcmd.shadow import ShadowGitDir
from gitdash.gitcmd.store_view import make_store_view
from gitdash.measurement.plausibility import lender_was_left_out
from gitdash.units import printable

WITHOUT_DERIVED_FILES: Final = (
    ("core.commitGraph", "false"),
    ("core.multiPackIndex", "false"),
    # git 2.41; an older one gets a view of the store that has no `.rev`
    ("pack.readReverseIndex", "false"),
)
"""With these, and without `--use-bitmap-index`, git reads packs, their indexes and loose objects, and nothing else."""

_REVERSE_INDEX_OPTIONAL_SINCE: Final = (2, 41)
"""From here on git can be told to do without `.rev` files."""

_EXCLUDED_BY_BITMAP: Final = b'"label":"haves/'
"""The trace2 region (git 2.42) that git enters once it is committed to bitmaps for what is to be left out. Without it
it may have fallen back to a walk: it does when no excluded tip lies in the pack that has the bitmap."""

_MISSING_OBJECT: Final = re.compile(rb"\?[0-9a-f]{40}(?:[0-9a-f]{24})?")
_SIZE: Final = re.compile(rb"-?[0-9]+")


_SIZE_LIMIT_BYTES: Final = 4096
"""A size is one line."""
_MISSING_LIMIT_BYTES: Final = 1 << 28
"""Lines of six million objects that a partial clone has not fetched, beside its size."""
_ID_LIMIT_BYTES: Final = 1 << 26
"""1.6 million ids of 40 digits; where more is new, an older size is of little help."""
_PRESENCE_LINE_BYTES: Final = 128
"""An id of 64 digits, and a word about it."""


class UntrustworthySizeError(GitError):
    """git answered, and its answer cannot be true or answers another question."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """One answer of `rev-list --disk-usage`."""

    size_bytes: int
    """As git printed it, plausible or not."""
    missing_count: int
    """Objects that a partial clone has not fetched."""
    excluded_by_bitmap: bool
    """git said that it left out by bitmap, so not an object too much was counted. Never said before git 2.42."""
    complaint: str | None
    """The most telling line of stderr; None if it is empty."""
    argv: tuple[str, ...]
    """What git got."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreQueries:
    """One object store, and what bounds the queries to it."""

    program: GitProgram
    """The git that is asked."""
    shadow: ShadowGitDir
    """Made for the store."""
    partial: bool
    """Objects may be missing, as in a partial clone."""
    deadline_s: float
    """On the monotonic clock, for all queries together."""
    cancel: threading.Event | None
    """Ends the query that runs."""
    objects_dir: bytes
    """The store itself."""
    lenders: tuple[bytes, ...] | None
    """Object folders of all lenders, nested ones included; None if they are not known."""
    config: tuple[tuple[str, str], ...] = ()
    """Pairs for `-c` in every query that may use derived files."""
    on_output: Callable[[GitOutput], None] = lambda _: None
    """Hears what each call said and took."""

    def disk_usage(
        self, wanted: Collection[str], excluded: Collection[str] = (), *, bitmap: bool, derived_files: bool = True
    ) -> Usage:
        """Return the bytes of what is reachable from `wanted` and not from `excluded`.

        `bitmap` is without effect unless `derived_files` may be used. Raises GitError, and UntrustworthySizeError if
        git left a lender out.
        """
        arguments = ["rev-list", "--objects", "--disk-usage", "--stdin"]
        uses_bitmap = bitmap and derived_files
        if uses_bitmap:
            arguments.append("--use-bitmap-index")
        if self.partial:
            # the shadow git dir has no promisor remote, so allow-promisor would die
            arguments.append("--missing=print")
        with _Trace(self.shadow, wanted=uses_bitmap and bool(excluded)) as trace:
            output = self._run(
                arguments,
                _revisions(wanted, excluded),
                derived_files,
                trace.environment,
                limit_bytes=_MISSING_LIMIT_BYTES if self.partial else _SIZE_LIMIT_BYTES,
            )
            excluded_by_bitmap = _EXCLUDED_BY_BITMAP in trace.text()
        self._require_all_lenders(output)
        size_bytes, missing_count = _read_usage(output, frozenset((*wanted, *excluded)))
        return Usage(
            size_bytes=size_bytes,
            missing_count=missing_count,
            excluded_by_bitmap=excluded_by_bitmap,
            complaint=printable(first_complaint(output.stderr)) or None,
            argv=output.argv,
        )

    def object_ids(self, wanted: Collection[str], excluded: Collection[str]) -> list[str]:
        """Return the ids that a walk finds. Raises GitError."""
        arguments = ["rev-list", "--objects", "--no-object-names", "--stdin"]
        if self.partial:
            arguments.append("--missing=allow-any")
        output = self._run(arguments, _revisions(wanted, excluded), derived_files=True, limit_bytes=_ID_LIMIT_BYTES)
        return output.stdout.decode("ascii", "replace").split()

    def present(self, object_ids: Collection[str]) -> frozenset[str]:
        """Return those of the ids whose object is there. Raises GitError.

        Without derived files, which may be the reason for asking.
        """
        stdin = "".join(f"{object_id}\n" for object_id in object_ids).encode("ascii")
        arguments = ["cat-file", "--batch-check=%(objectname)"]
        limit_bytes = _SIZE_LIMIT_BYTES + _PRESENCE_LINE_BYTES * len(object_ids)
        output = self._run(arguments, stdin, derived_files=False, limit_bytes=limit_bytes)
        return frozenset(output.stdout.decode("ascii", "replace").splitlines()).intersection(object_ids)

    def _run(
        self,
        arguments: list[str],
        stdin: bytes,
        derived_files: bool,
        environment: dict[str, str] | None = None,
        *,
        limit_bytes: int,
    ) -> GitOutput:
        output = run_git(
            self.program,
            arguments,
            environment=self.shadow.environment | (environment or {}) | ({} if derived_files else self._view()),
            config=self.config if derived_files else WITHOUT_DERIVED_FILES,
            stdin=stdin,
            time_limit_s=max(self.deadline_s - time.monotonic(), 0.0),
            cancel=self.cancel,
            stdout_limit_bytes=limit_bytes,
        )
        self.on_output(output)
        return output

    def _view(self) -> dict[str, str]:
        """Return the environment in which this git reads no derived file; made at the first call."""
        if self.program.version >= _REVERSE_INDEX_OPTIONAL_SINCE or self.lenders is None:
            return {}
        folder = os.path.join(self.shadow.path, b"view")
        objects_dir = os.path.join(folder, b"0")
        if not os.path.isdir(folder):
            try:
                os.mkdir(folder)
                objects_dir = make_store_view(folder, self.objects_dir, self.lenders)
            except OSError as error:
                reason = f"cannot make a view of the object store: {error.strerror}"
                raise GitError(reason, kind=GitFailure.NOT_STARTED) from error
        return {"GIT_OBJECT_DIRECTORY": os.fsdecode(objects_dir)}

    def _require_all_lenders(self, output: GitOutput) -> None:
        if lender_was_left_out(output.stderr):
            raise _untrustworthy(f"git left a lender out: {first_complaint(output.stderr)}", output)


class _Trace:
    """A file of our own into which git writes what it does, and only when it is needed."""

    def __init__(self, shadow: ShadowGitDir, *, wanted: bool) -> None:
        self._path = os.path.join(shadow.path, b"trace") if wanted else None

    @property
    def environment(self) -> dict[str, str]:
        return {} if self._path is None else {"GIT_TRACE2_EVENT": os.fsdecode(self._path)}

    def text(self) -> bytes:
        if self._path is None or not os.path.exists(self._path):
            return b""
        with open(self._path, "rb") as file:
            return file.read()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._path is not None and os.path.exists(self._path):
            os.unlink(self._path)


def _revisions(wanted: Iterable[str], excluded: Iterable[str]) -> bytes:
    return "".join([f"{object_id}\n" for object_id in wanted] + [f"^{object_id}\n" for object_id in excluded]).encode()


def _read_usage(output: GitOutput, tips: frozenset[str]) -> tuple[int, int]:
    """The size is one line among those of missing objects. No line at all is no answer, and not zero.

    A tip is never left out by a partial clone. Where one is missing, git 2.45 goes on without it, as no older one does.
    """
    sizes: list[bytes] = []
    missing_count = 0
    for line in output.stdout.splitlines():
        if _MISSING_OBJECT.fullmatch(line):
            missing_count += 1
            if line[1:].decode("ascii") in tips:
                raise _failed(f"bad object {line[1:].decode('ascii')}", output)
        else:
            sizes.append(line)
    if len(sizes) != 1 or not _SIZE.fullmatch(sizes[0]):
        raise _untrustworthy("git did not answer with a size", output)
    return int(sizes[0]), missing_count


def _failed(message: str, output: GitOutput) -> GitError:
    return GitError(message, kind=GitFailure.FAILED, argv=output.argv, exit_code=output.exit_code, stderr=output.stderr)


def _untrustworthy(message: str, output: GitOutput) -> UntrustworthySizeError:
    return UntrustworthySizeError(
        printable(message), kind=GitFailure.FAILED, argv=output.argv, exit_code=output.exit_code, stderr=output.stderr
    )
