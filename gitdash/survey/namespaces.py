"""References of one repository by namespace: read by a worker process, or listed by git where files are not enough."""

import threading
import time
from typing import TYPE_CHECKING, Final

import msgspec

from gitdash.errors import GitdashError
from gitdash.formats.reading import OBJECT_ID_LENGTH
from gitdash.gitcmd.command_log import commands_for
from gitdash.gitcmd.git_program import GitProgram
from gitdash.gitcmd.masking import presentable_bytes
from gitdash.gitcmd.output import first_complaint
from gitdash.gitcmd.runner import run_git
from gitdash.inspection.messages import NamespacesRequest, read_namespaces_reply, request_message
from gitdash.inspection.namespaces import from_names
from gitdash.model.inspection import ReferenceBackend
from gitdash.model.namespaces import ReferenceNamespaces
from gitdash.model.report import RepositoryReport
from gitdash.model.repository import Unreadable
from gitdash.survey.one_answer import ask_worker
from gitdash.survey.tips import TipsSource, tips_source, why_not_by_git
from gitdash.units import printable

if TYPE_CHECKING:
    from gitdash.config.settings import Settings

_NO_GIT: Final = Unreadable("its reftable needs git")


def namespaces_of(
    report: RepositoryReport, *, settings: "Settings", program: GitProgram | None, cancel: threading.Event
) -> ReferenceNamespaces | Unreadable:
    """Count the references of an inspected repository now, within the time limit of a scan."""
    if isinstance(report.inspection, Unreadable):
        return report.inspection
    source = tips_source(report.repository, report.inspection)
    time_limit_s = settings.scan.time_limit_s
    try:
        if source.backend is ReferenceBackend.FILES:
            return _from_files(source, time_limit_s, cancel)
        if program is None:
            return _NO_GIT
        with commands_for(report.repository.path):
            return why_not_by_git(source, program) or _by_git(source, program, time_limit_s, cancel)
    except GitdashError as error:
        return Unreadable(printable(f"references: {error}"))


def _from_files(source: TipsSource, time_limit_s: float, cancel: threading.Event) -> ReferenceNamespaces | Unreadable:
    request = NamespacesRequest(
        number=0,
        git_dir=source.git_dir,
        common_dir=source.common_dir,
        id_bytes=OBJECT_ID_LENGTH[source.object_format],
    )
    body = ask_worker(request_message(request), time_limit_s=time_limit_s, cancel=cancel)
    return body if isinstance(body, Unreadable) else read_namespaces_reply(body).namespaces


def _by_git(
    source: TipsSource, program: GitProgram, time_limit_s: float, cancel: threading.Event
) -> ReferenceNamespaces:
    started_s = time.monotonic()

    def ask(*arguments: str, check: bool = True) -> tuple[bytes, str]:
        left_s = max(0.0, started_s + time_limit_s - time.monotonic())
        output = run_git(program, arguments, git_dir=source.git_dir, time_limit_s=left_s, cancel=cancel, check=check)
        return output.stdout, output.stderr

    # since 2.45, as is reftable
    listed, stderr = ask("for-each-ref", "--include-root-refs", "--format=%(refname)")
    # a HEAD that is no branch is no symbolic reference
    head = ask("symbolic-ref", "--quiet", "HEAD", check=False)[0].strip()
    head = head or ask("rev-parse", "--verify", "--quiet", "HEAD", check=False)[0].strip()
    found = from_names(
        listed.splitlines(), head=presentable_bytes(head) or None, elapsed_s=time.monotonic() - started_s
    )
    return msgspec.structs.replace(found, incomplete=printable(first_complaint(stderr)) or None)
