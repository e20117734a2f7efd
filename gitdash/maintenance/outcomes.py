"""What an error means for a person: how the action ended, the reason that reports are grouped by, and one sentence.

Which message means what stands in `messages`. What a server prints comes with `remote: ` before it and decides nothing,
save for git's own word that the repository there is damaged. Pure.
"""

import errno
import re
from collections.abc import Mapping
from typing import Final, NamedTuple

from gitdash.gitcmd.git_error import GitError, GitFailure
from gitdash.gitcmd.masking import mask_credentials
from gitdash.gitcmd.output import first_complaint
from gitdash.maintenance.messages import MESSAGE_RULES
from gitdash.model.ledger import Outcome, Reason
from gitdash.units import printable

_SENTENCE_LIMIT: Final = 300
"""Characters: a message may hold a name of any length."""
_TEXT_LIMIT: Final = 40 * 1024


class Verdict(NamedTuple):
    """What became of an action that raised an error."""

    outcome: Outcome
    reason: Reason
    sentence: str
    """One clause for people. Printable, and credentials are masked."""


_RULES: Final = tuple((re.compile(rule.pattern, re.MULTILINE), rule) for rule in MESSAGE_RULES)

_UNNAMED: Final = {"host": "the server"}
"""What stands in a sentence for a value that the message does not name."""
_DAMAGE_THERE: Final = "aborting due to possible repository corruption on the remote side"
_WAKE: Final = "Could not read from remote repository."
"""What git says after whatever ssh said."""
_REFTABLE_LOCKED_EXIT_CODE: Final = 251
"""`pack-refs` ends with -5, REFTABLE_LOCK_ERROR, and says nothing: git 2.47 and 2.55, reftable-error.h."""
_PREFIX: Final = re.compile(r"\A(?:(?:fatal|error|remote|warning): ){1,3}|unable to access '[^'\n]{1,2048}': ")

_FAILURES: Final[Mapping[GitFailure, tuple[Outcome, Reason]]] = {
    GitFailure.TIMED_OUT: (Outcome.TIMED_OUT, Reason.TIMED_OUT),
    GitFailure.CANCELLED: (Outcome.CANCELLED, Reason.CANCELLED),
    GitFailure.MISSING: (Outcome.FAILED, Reason.OTHER),
    GitFailure.TOO_OLD: (Outcome.FAILED, Reason.OTHER),
    GitFailure.NOT_STARTED: (Outcome.FAILED, Reason.OTHER),
    GitFailure.REFUSED: (Outcome.REFUSED, Reason.REFUSED),
}
"""What needs no reading of messages."""

_ERRNO_REASONS: Final = {
    errno.ENOSPC: Reason.DISK_FULL,
    errno.EDQUOT: Reason.DISK_FULL,
    errno.EACCES: Reason.PERMISSION,
    errno.EPERM: Reason.PERMISSION,
    errno.EROFS: Reason.PERMISSION,
    errno.ENOENT: Reason.VANISHED,
    errno.ENOTDIR: Reason.VANISHED,
    errno.EEXIST: Reason.LOCK_HELD,
    errno.EAGAIN: Reason.LOCK_HELD,
    errno.ECONNREFUSED: Reason.NETWORK,
    errno.ECONNRESET: Reason.NETWORK,
    errno.EHOSTUNREACH: Reason.NETWORK,
    errno.ENETUNREACH: Reason.NETWORK,
    errno.ETIMEDOUT: Reason.NETWORK,
    errno.EPIPE: Reason.NETWORK,
    errno.ESTALE: Reason.VANISHED,
}


def classify(error: BaseException, *, stderr: str | None = None) -> Verdict:
    """Say what an error means. `stderr` is what git said, where the error does not hold it, or more than it holds."""
    if isinstance(error, GitError):
        said = error.stderr if stderr is None else stderr
        if error.kind is GitFailure.FAILED:
            if not said.strip() and error.exit_code == _REFTABLE_LOCKED_EXIT_CODE:
                return Verdict(Outcome.FAILED, Reason.LOCK_HELD, "another process holds the lock of the reftables")
            return classify_text(said, fallback=str(error))
        outcome, reason = _FAILURES[error.kind]
        return Verdict(outcome, reason, _for_people(str(error)))
    if stderr:
        return classify_text(stderr, fallback=str(error))
    if isinstance(error, OSError):
        return Verdict(Outcome.FAILED, _ERRNO_REASONS.get(error.errno or 0, Reason.OTHER), _os_sentence(error))
    return Verdict(Outcome.FAILED, Reason.OTHER, _for_people(str(error) or type(error).__name__))


def classify_text(stderr: str, *, fallback: str = "git failed and said nothing") -> Verdict:
    """Say what a failure means by what git, ssh or curl printed; `fallback` is the sentence if that is nothing."""
    text = _local_lines(stderr)
    for pattern, rule in _RULES:
        match = pattern.search(text)
        if match is not None:
            values = {name: value or _UNNAMED.get(name, "") for name, value in match.groupdict().items()}
            sentence = rule.sentence.format_map(values | {"line": _line_at(text, match.start())})
            return Verdict(rule.outcome, rule.reason, _for_people(sentence))
    complaint = first_complaint(text)
    said = text.split("\n", 1)[0] if complaint == _WAKE else complaint
    return Verdict(Outcome.FAILED, Reason.OTHER, _for_people(said or fallback))


def _local_lines(stderr: str) -> str:
    """Return what does not come from a server. Progress ends its lines with a carriage return, and so does ssh."""
    # More than the runner keeps; whoever hands in even more shall not wait for it.
    bounded = stderr if len(stderr) <= _TEXT_LIMIT else f"{stderr[: _TEXT_LIMIT // 2]}\n{stderr[-_TEXT_LIMIT // 2 :]}"
    lines = bounded.replace("\r", "\n").replace("\0", "").split("\n")
    return "\n".join(line for line in lines if line and (not line.startswith("remote: ") or _DAMAGE_THERE in line))


def _line_at(text: str, position: int) -> str:
    start = text.rfind("\n", 0, position) + 1
    return _PREFIX.sub("", text[start:].split("\n", 1)[0])


def _os_sentence(error: OSError) -> str:
    why = (error.strerror or str(error)).lower()
    return _for_people(why if error.filename is None else f"{_name(error.filename)}: {why}")


def _name(filename: object) -> str:
    return filename.decode("utf-8", "surrogateescape") if isinstance(filename, bytes) else str(filename)


def _for_people(text: str) -> str:
    # Masked before it is cut: half a token has no form that could be recognised.
    whole = printable(" ".join(mask_credentials(text).split()))
    return whole if len(whole) <= _SENTENCE_LIMIT else f"{whole[: _SENTENCE_LIMIT - 1]}…"
