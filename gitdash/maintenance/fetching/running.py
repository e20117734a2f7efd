"""Fetches from one remote, timed: what git is told, what it says, and what became of it.

All that is run is in the plan; what is decided here is whether the lender's references are named, which takes asking
the remote. Source: git-fetch(1); `reference_lines` and `timing` for what is read. It knows no queue and no ledger.
"""

import os
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import msgspec

from gitdash.errors import GitdashError
from gitdash.gitcmd.fetch_progress import ProgressReader
from gitdash.gitcmd.git_program import GitOutput, GitProgram
from gitdash.gitcmd.stand_in import StandIn, stand_in
from gitdash.inspection.files import FileError, read_file
from gitdash.maintenance.fetching.alternate_refs import (
    LIST_REFERENCES,
    SUPPRESSING,
    alternate_refs_choice,
    list_remote_arguments,
    read_alternate_refs_facts,
    read_references,
)
from gitdash.maintenance.fetching.outcome import Gathered, conclude, fail
from gitdash.maintenance.fetching.reference_lines import read_plain, read_porcelain
from gitdash.maintenance.fetching.refspecs import local_name
from gitdash.maintenance.fetching.session import FetchSession
from gitdash.maintenance.fetching.ssh_command import ssh_environment
from gitdash.maintenance.fetching.surroundings import link_met, read_surroundings, refusal_meanwhile, refusal_of
from gitdash.maintenance.fetching.timing import read_trace
from gitdash.maintenance.fetching.user_config import UserConfig, read_user_config
from gitdash.maintenance.work import TaskStoppedError, refused
from gitdash.model.fetch import FetchProgress, FetchResult, RemotePlan
from gitdash.model.inspection import Inspection, ReferenceBackend
from gitdash.model.ledger import Outcome, Reason, ReferenceChange
from gitdash.model.report import RepositoryReport

_HEAD_LIMIT_BYTES: Final = 4096
_LOOSE_READ_LIMIT: Final = 50
"""More references are read faster by git."""
_OBJECT_ID: Final = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_PLAIN_NAME: Final = re.compile(r"[A-Za-z0-9._/-]{1,100}")
_VANISHED: Final = "the repository is not there any more"
_NO_HEAD: Final = b"ref: refs/heads/none\n"
_RACE: Final = re.compile(r"cannot lock ref|but expected|unable to update local ref|\.lock': File exists")
"""Another process, or another reference of the same fetch, was at the same one."""


def fetch(  # noqa: PLR0913 - what each fetch needs, and who wants to hear of it
    report: RepositoryReport,
    remote: RemotePlan,
    *,
    program: GitProgram,
    now_s: float,
    cancel: threading.Event | None = None,
    on_progress: Callable[[FetchProgress], None] | None = None,
    on_output: Callable[[GitOutput], None] | None = None,
    looks_at_loose: bool = True,
) -> FetchResult:
    """Fetch from one remote as planned, and say what came of it; an error of git's or of a file becomes a result.

    `now_s` is the time at which it is called. `on_progress` hears how far git is, `on_output` what each call of git
    said and took, both in this thread. `looks_at_loose` as of `stand_in`.
    """
    session = FetchSession(
        program=program, now_s=now_s, time_limit_s=remote.time_limit_s, cancel=cancel, on_output=on_output
    )
    gathered = Gathered(report=report, remote=remote, session=session)
    refusal = _refusal(report, remote)
    if refusal is not None:
        return gathered.result(Outcome.REFUSED, Reason.REFUSED, refusal)
    if not _is_there(report) or not isinstance(report.inspection, Inspection):
        return gathered.result(Outcome.FAILED, Reason.VANISHED, _VANISHED)
    try:
        fetching = _Fetch(
            gathered=gathered, inspection=report.inspection, on_progress=on_progress, looks_at_loose=looks_at_loose
        )
        output = fetching.run()
    except TaskStoppedError as error:
        return gathered.result(error.outcome, error.reason, str(error))
    except (GitdashError, OSError) as error:
        result = fail(gathered, error)
    else:
        result = conclude(gathered, output)
    if result.outcome is Outcome.FAILED and not _is_there(report):
        return gathered.result(Outcome.FAILED, Reason.VANISHED, _VANISHED)
    return _with_link_met(result, report, remote)


def _with_link_met(result: FetchResult, report: RepositoryReport, remote: RemotePlan) -> FetchResult:
    """Say where git may have written for another: no lock keeps a link from being put there while it runs."""
    path = None if remote.is_preview else link_met(report.repository.common_dir)
    if path is None:
        return result
    sentence = f"{path} became a symbolic link while git ran: look at what it leads to, git may have written there"
    is_good = result.outcome.is_good
    return msgspec.structs.replace(
        result,
        outcome=Outcome.FAILED if is_good else result.outcome,
        reason=Reason.OTHER if is_good else result.reason,
        sentence=f"{sentence}; {result.sentence}",
    )


def _is_there(report: RepositoryReport) -> bool:
    return os.path.isdir(report.repository.common_dir + b"/objects")


def _refusal(report: RepositoryReport, remote: RemotePlan) -> str | None:
    """Return why nothing is fetched: by what the plan says, or by what may have changed since."""
    if remote.refusals:
        return remote.refusals[0].reason
    surroundings = read_surroundings(report, names_lent=remote.alternate_refs != "suppress")
    return refusal_of(surroundings, is_preview=remote.is_preview)


@dataclass(slots=True, kw_only=True)
class _Fetch:
    """One fetch under way."""

    gathered: Gathered
    inspection: Inspection
    on_progress: Callable[[FetchProgress], None] | None
    looks_at_loose: bool
    known: Mapping[str, str] = field(default_factory=dict)
    """References from before; asked only of a git that does not tell what it removed."""

    def run(self) -> GitOutput:
        """Make the stand-in, decide about alternate references, fetch, and try once more after a race."""
        gathered, remote, repository = self.gathered, self.gathered.remote, self.gathered.report.repository
        user = read_user_config(gathered.session.program, repository.git_dir, repository.common_dir)
        config = [((section, subsection, name), value) for section, subsection, name, value in remote.repository_config]
        with stand_in(
            repository.common_dir,
            head=self._head(),
            config=config,
            keeps_objects=not remote.is_preview,
            looks_at_loose=self.looks_at_loose,
        ) as place:
            gathered.stand_in_folder = place.folder
            environment = user.environment() | self._environment(user, place) | place.environment
            pairs = [*remote.config, *self._alternate_refs(environment)]
            if self._loses_ids:
                self.known = read_references(gathered.session.ask(LIST_REFERENCES, environment))
            output = self._fetch(remote.arguments, pairs, environment, place)
            if output.exit_code and _RACE.search(output.stderr) and not gathered.session.is_cancelled:
                gathered.choices.append("tried twice: another process was at the same references")
                arguments = [word for word in remote.arguments if word != "--atomic"]
                output = self._fetch(arguments, pairs, environment, place)
            self._complete(environment)
        return output

    @property
    def _is_plain(self) -> bool:
        return "--porcelain" not in self.gathered.remote.arguments

    @property
    def _loses_ids(self) -> bool:
        """Whether git will not tell the old id of something: of what it prunes, and of tags that change."""
        remote = self.gathered.remote
        return self._is_plain and (remote.prunes or any(":refs/remotes/" not in spec for spec in remote.refspecs))

    def _head(self) -> bytes:
        try:
            return read_file(self.gathered.report.repository.common_dir + b"/HEAD", _HEAD_LIMIT_BYTES)
        except FileError:
            return _NO_HEAD

    def _environment(self, user: UserConfig, place: StandIn) -> dict[str, str]:
        remote = self.gathered.remote
        return {
            "GIT_ALLOW_PROTOCOL": ":".join(remote.protocols),
            # what the log of a reference says, as if the user had typed it; other names could be lines of a program
            "GIT_REFLOG_ACTION": f"fetch {remote.name}" if _PLAIN_NAME.fullmatch(remote.name) else "fetch",
            "SSH_ASKPASS": place.asking_program,
            "SSH_ASKPASS_REQUIRE": "force",
            **ssh_environment(os.environ, user.last("core.sshcommand"), user.last("ssh.variant")),
        }

    def _alternate_refs(self, environment: Mapping[str, str]) -> Sequence[tuple[str, str]]:
        """Decide whether the lender's references are named, and return the pairs that say so."""
        gathered = self.gathered
        facts = read_alternate_refs_facts(
            gathered.session,
            gathered.remote,
            gathered.report.repository.common_dir + b"/objects",
            self.inspection,
            environment,
        )
        choice, why = alternate_refs_choice(facts)
        if facts.has_lender:
            gathered.choices.append(f"alternate refs {'suppressed' if choice == 'suppress' else 'used'}: {why}")
        # of a preview, the repository itself is the one that lends
        return SUPPRESSING if choice == "suppress" else ()

    def _fetch(
        self,
        arguments: Sequence[str],
        pairs: Sequence[tuple[str, str]],
        environment: Mapping[str, str],
        place: StandIn,
    ) -> GitOutput:
        refusal = refusal_meanwhile(
            self.gathered.report.repository.common_dir, is_preview=self.gathered.remote.is_preview
        )
        if refusal is not None:
            # the remote may have taken minutes to list its references
            raise refused(refusal)
        reader = ProgressReader(self._take_progress, self._take_line, is_watched=self.on_progress is not None)
        traced = dict(environment) | {"GIT_TRACE2_EVENT": place.trace_file, "GIT_TRACE2_EVENT_NESTING": "8"}
        try:
            output = self.gathered.session.run(
                arguments, environment=traced, config=pairs, on_stderr=reader.feed, check=False
            )
        finally:
            reader.end()
            self._read_trace(place)
        for change in read_porcelain(output.stdout.decode("utf-8", "surrogateescape")):
            self.gathered.add(change)
        return output

    def _take_progress(self, progress: FetchProgress) -> None:
        self.gathered.hear(progress)
        if self.on_progress is not None:
            self.on_progress(progress)

    def _take_line(self, line: str) -> None:
        """Take in a line that is no progress; it tells a change only where git has no better form."""
        if self._is_plain:
            change = read_plain(line, self.gathered.remote.refspecs, self.known)
            if change is not None:
                self.gathered.add(change)

    def _read_trace(self, place: StandIn) -> None:
        """Take in the trace of all calls so far."""
        try:
            with open(place.trace_file, "rb") as file:
                session = self.gathered.session
                self.gathered.trace = read_trace(file, ended_at_s=session.now_s + session.elapsed_s)
        except FileNotFoundError:
            # git did not come to write one
            return

    def _complete(self, environment: Mapping[str, str]) -> None:
        """Fill in the ids that the plain form does not tell."""
        changes = self.gathered.changes
        if not self._is_plain or all(_has_ids(change) for change in changes.values()):
            return
        if self.gathered.remote.is_preview:
            after = self._coming(environment)
        else:
            # git has just written them, each in a file of its own; to start it again would take as long as a third of
            # a small fetch
            after = self._written(changes) or read_references(self.gathered.session.ask(LIST_REFERENCES, environment))
        for name, change in changes.items():
            old = change.old or (None if change.kind == "new" else self.known.get(name))
            new = change.new or (None if change.kind == "pruned" else after.get(name))
            changes[name] = ReferenceChange(name=name, kind=change.kind, old=old, new=new)

    def _written(self, changes: Mapping[str, ReferenceChange]) -> dict[str, str] | None:
        """Return ids by name as loose references have them; None if not all that are wanted can be read so."""
        if self.inspection.reference_backend is not ReferenceBackend.FILES:
            return None
        wanted = [change.name for change in changes.values() if change.new is None and change.kind != "pruned"]
        if len(wanted) > _LOOSE_READ_LIMIT:
            return None
        found = {}
        for name in wanted:
            if not name.startswith("refs/") or "/../" in name:
                return None
            try:
                path = self.gathered.report.repository.common_dir + b"/" + os.fsencode(name)
                text = read_file(path, _HEAD_LIMIT_BYTES).decode("ascii").strip()
            except (FileError, UnicodeError):
                return None
            if not _OBJECT_ID.fullmatch(text):
                return None
            found[name] = text
        return found

    def _coming(self, environment: Mapping[str, str]) -> dict[str, str]:
        """Return id by local name of what the remote has."""
        remote = self.gathered.remote
        listed = self.gathered.session.ask(list_remote_arguments(remote.name, ()), environment)
        pairs = (line.partition("\t") for line in listed.split("\n"))
        return {local_name(name, remote.refspecs) or name: object_id for object_id, _, name in pairs if name}


def _has_ids(change: ReferenceChange) -> bool:
    return (change.old is not None or change.kind == "new") and (change.new is not None or change.kind == "pruned")
