"""What the experiment `fetch` fetches from: a stand-in on this machine, or the real remote.

A stand-in is a throw-away copy with one reference more. New commits come by git-fast-import(1), which leaves them in a
pack: nothing that is shared with the original is touched.
"""

import contextlib
import os
from dataclasses import dataclass
from typing import Final

import msgspec

from gitdash.assessment.sentences import listed
from gitdash.gitcmd.runner import run_git
from gitdash.gitcmd.shadow import shadow_git_dir
from gitdash.lab.copies import git_in_copy, throw_away_copy
from gitdash.lab.copying import ThrowAwayCopy
from gitdash.lab.fingerprint import object_folders
from gitdash.lab.references import Lent, own_references, require_inspection, tips_of
from gitdash.lab.request import ExperimentError, ExperimentRequest
from gitdash.maintenance.fetching.options import FetchOptions
from gitdash.maintenance.fetching.remotes import ConfiguredRemote, FetchConfig, read_remotes
from gitdash.model.report import RepositoryReport
from gitdash.model.repository import Unreadable
from gitdash.units import printable

NEW_COMMIT: Final = "a new commit"
HELD_TIP: Final = "a tip that the lender holds"
REAL_REMOTE: Final = "what the real remote has"

NEW_COMMITS: Final = "new_commits"
"""The option that says how many commits the stand-in has more; 1 if nothing is said."""
REMOTE: Final = "remote"
"""The option that names the real remote; the first that the config has if nothing is said."""
PROTOCOLS: Final = "protocols"
"""The option that says by what the real remote may be fetched."""

_REFERENCE: Final = "refs/heads/gitdash-lab"
_TIME_LIMIT_S: Final = 600.0
_ROOM_BYTES: Final = 16 * 1024**2
"""For the new commits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """From where, by which configuration."""

    remote: str
    config: FetchConfig
    protocols: tuple[str, ...]
    report: RepositoryReport | None = None
    """Whose fetch is planned, if that is not the copy's."""


def real_source(request: ExperimentRequest) -> Source:
    """Return the remote of the repository's own config. Raises ExperimentError if it cannot be had."""
    config = read_remotes(request.report, request.program)
    if isinstance(config, Unreadable):
        raise ExperimentError(f"its config cannot be read: {config.reason}")
    names = [remote.name for remote in config.remotes if not remote.is_skipped]
    wanted = request.options.get(REMOTE)
    if not names or (wanted is not None and wanted not in names):
        there = f"no remote {wanted}; it has {listed(names)}" if names else "no remote"
        raise ExperimentError(printable(f"its config has {there}"))
    protocols = request.options.get(PROTOCOLS, FetchOptions().protocols)
    return Source(
        remote=names[0] if wanted is None else str(wanted),
        config=config,
        protocols=tuple(map(str, protocols)) if isinstance(protocols, (list, tuple)) else FetchOptions().protocols,
        report=request.report,
    )


def local_source(
    request: ExperimentRequest, question: str, lenders: tuple[Lent, ...], resources: contextlib.ExitStack
) -> Source:
    """Make a stand-in that has what the question asks for; it goes with `resources`.

    Raises ExperimentError if there is nothing of the kind here, and GitError.
    """
    making = throw_away_copy(request.report, room_needed_bytes=_ROOM_BYTES, registry_dir=request.registry_dir)
    if question == HELD_TIP:
        tip = _held_tip(request, lenders)
        server = resources.enter_context(making)
        git_in_copy(request, server, ("update-ref", _REFERENCE, tip))
    else:
        base = _base(request)
        server = resources.enter_context(making)
        git_in_copy(
            request,
            server,
            ("fast-import", "--quiet"),
            # a few commits are a pack, too: a loose object could be one that the original has, and get a new time
            config=(("fastimport.unpackLimit", "0"),),
            stdin=_commits(base, request),
        )
    return Source(remote="gitdash-lab", config=_config(request, server), protocols=("file",))


def _config(request: ExperimentRequest, server: ThrowAwayCopy) -> FetchConfig:
    """Return the config of a copy with the stand-in as its only remote."""
    repository = msgspec.structs.replace(
        request.report.repository, path=server.git_dir, git_dir=server.git_dir, common_dir=server.git_dir
    )
    config = read_remotes(msgspec.structs.replace(request.report, repository=repository), request.program)
    if isinstance(config, Unreadable):
        raise ExperimentError(f"the config of a copy cannot be read: {config.reason}")
    remote = ConfiguredRemote(
        name="gitdash-lab",
        urls=(os.fsdecode(server.git_dir),),
        refspecs=(f"+{_REFERENCE}:refs/remotes/gitdash-lab/new",),
        tag_option="--no-tags",
    )
    return msgspec.structs.replace(config, remotes=(remote,), prunes=None, user_prunes=None)


def _base(request: ExperimentRequest) -> str:
    """Return the commit on which new ones are made: what HEAD leads to, else the first branch."""
    references = dict(own_references(request))
    branches = [name for name in references if name == b"HEAD" or name.startswith(b"refs/heads/")]
    if not branches:
        raise ExperimentError("it has no branch that can be read, so there is nothing to build on")
    return references[b"HEAD" if b"HEAD" in branches else branches[0]]


def _commits(base: str, request: ExperimentRequest) -> bytes:
    """Return a stream of new commits, each with one new file."""
    wished = request.options.get(NEW_COMMITS, 1)
    commit_count = wished if isinstance(wished, int) and wished > 0 else 1
    lines = []
    for number in range(commit_count):
        lines.append(f"commit {_REFERENCE}\ncommitter gitdash <> {int(request.clock()) + number} +0000\n")
        lines.append(_data(f"commit {number} of an experiment\n"))
        lines.append(f"from {base}\n" if number == 0 else "")
        lines.append(f"M 100644 inline gitdash-lab-{number}\n" + _data(f"file {number} of an experiment\n"))
    return "".join(lines).encode("ascii")


def _data(text: str) -> str:
    return f"data {len(text)}\n{text}\n"


def _held_tip(request: ExperimentRequest, lenders: tuple[Lent, ...]) -> str:
    """Return the newest commit that a reference of a lender names and that is not reachable here."""
    tips = tips_of(request, lenders)
    inspection = require_inspection(request.report)
    words = [f"{tip}\n" for tip in tips.excluded] + [f"^{tip}\n" for tip in tips.wanted]
    with shadow_git_dir(
        object_format=inspection.object_format, objects_dir=object_folders(request.report)[0]
    ) as shadow:
        output = run_git(
            request.program,
            ["rev-list", "--max-count=1", "--stdin"],
            environment=shadow.environment,
            stdin="".join(words).encode("ascii"),
            time_limit_s=_TIME_LIMIT_S,
            cancel=request.cancel,
        )
    if not tips.excluded or not output.stdout.strip():
        raise ExperimentError("all that the lender's references name is reachable here already")
    return output.stdout.decode("ascii").strip()
