"""A repository that fetches from a server of a test, and everything that can be observed of it from outside."""

import os
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import psutil

from gitdash.config.settings import Settings
from gitdash.gitcmd.installed import find_git
from gitdash.maintenance.fetching.options import FetchOptions
from gitdash.maintenance.fetching.planning import plan_fetch
from gitdash.maintenance.fetching.remotes import read_remotes
from gitdash.maintenance.fetching.running import fetch
from gitdash.model.fetch import FetchProgress, FetchResult
from gitdash.model.report import RepositoryReport
from gitdash.survey.single import find_repository, report_single
from tests.support.processes import left_after
from tests.support.repositories import GIT, GitRepository, clean_environment
from tests.support.servers.ssh import SSHD

NOW_S = 2_000_000_000.0
PROTOCOLS = ("https", "ssh", "http", "git")
_LOOK_S = 0.02
_SERVERS = (f"{SSHD} ", "sshd: ", "ssh-agent ")
_GONE_S = 2.0


@dataclass
class Fetched:
    """One fetch: what the engine says, and what was seen meanwhile."""

    result: FetchResult
    progress: list[FetchProgress]
    elapsed_s: float
    ended_s: float
    """By the monotonic clock."""
    argvs: set[str]
    """The command lines of all processes that were seen, but not those of servers."""
    left: list[psutil.Process]
    """Those that still ran when the engine had come back."""
    left_folders: list[str]
    """What is left in the folder for temporary files, which is one of this test."""

    @property
    def texts(self) -> str:
        """Everything that the engine says."""
        return "\n".join(_strings(msgspec.to_builtins((self.result, self.progress))))

    @property
    def unprintable(self) -> set[str]:
        """What of it no screen should get; lines are parted by line feeds."""
        return {character for character in self.texts if not character.isprintable()} - {"\n"}


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from _strings(list(value.items()))
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _strings(part)


@dataclass
class Client:
    """A repository with one remote, `origin`."""

    repository: GitRepository

    @classmethod
    def make(cls, path: Path, url: str, *, refspec: str = "+refs/heads/*:refs/remotes/origin/*") -> "Client":
        repository = GitRepository.init(path)
        repository.git("config", "remote.origin.url", url)
        repository.git("config", "remote.origin.fetch", refspec)
        return cls(repository)

    def config(self, key: str, value: str) -> None:
        """Set it in the repository's own config."""
        self.repository.git("config", "--add", key, value)

    def report(self) -> RepositoryReport:
        """Inspect it now."""
        settings, uid = Settings(), os.geteuid()
        found = find_repository(os.fsencode(self.repository.path), settings=settings, effective_uid=uid)
        return report_single(
            found, settings=settings, history=None, program=find_git(GIT), effective_uid=uid, now_s=NOW_S
        ).facts

    def fetch(self, *, cancel: threading.Event | None = None, look_s: float = _LOOK_S, **options: Any) -> Fetched:
        """Fetch as the dashboard and the command do, and look at the processes every `look_s`."""
        chosen = FetchOptions(**({"time_limit_s": 20.0, "protocols": PROTOCOLS} | options))
        # It starts the watchdog, which stays.
        program = find_git(GIT)
        report = self.report()
        progress: list[FetchProgress] = []
        plan = plan_fetch(report, chosen, config=read_remotes(report, program), git_version=program.version)
        with seen_processes(look_s) as seen:
            started_s = time.monotonic()
            result = fetch(
                report,
                plan.remotes[0],
                program=program,
                now_s=time.time(),
                cancel=cancel,
                on_progress=progress.append,
            )
            ended_s = time.monotonic()
            running = [process for process in list(seen.processes.values()) if _runs(process)]
        left = left_after(running, _GONE_S if running else 0.0)
        left_folders = os.listdir(os.environ["TMPDIR"])
        return Fetched(result, progress, ended_s - started_s, ended_s, set(seen.argvs), left, left_folders)

    def references(self) -> dict[str, str]:
        """Every reference and its object, by git."""
        lines = self.repository.git("for-each-ref", "--format=%(refname) %(objectname)").splitlines()
        return dict(line.split(" ") for line in lines)

    def files(self) -> dict[str, tuple[int, int, bytes]]:
        """Mode, time and content of everything in the repository."""
        found = {}
        for path in [self.repository.path, *self.repository.path.rglob("*")]:
            state = path.lstat()
            found[os.fspath(path)] = (state.st_mode, state.st_mtime_ns, path.read_bytes() if path.is_file() else b"")
        return found

    def locks(self) -> list[str]:
        """Lock files."""
        names = (path.name for path in self.repository.path.rglob("*"))
        return [name for name in names if name.endswith(".lock") or name == "gc.pid"]

    def temporary_packs(self) -> list[Path]:
        """What stopped fetches left."""
        return sorted((self.repository.path / "objects" / "pack").glob("tmp_*"))


@dataclass
class _Seen:
    processes: dict[int, psutil.Process] = field(default_factory=dict)
    argvs: set[str] = field(default_factory=set)


@contextmanager
def seen_processes(look_s: float) -> Iterator[_Seen]:
    """Look all the time at processes that are started meanwhile, those of the servers of a test left out.

    A server's process descends from a daemon, or runs in our session; the engine's git has a session of its own.
    """
    seen, over = _Seen(), threading.Event()
    before = {process.pid for process in psutil.Process().children(recursive=True)}

    def look() -> None:
        while not over.wait(look_s):
            for process in psutil.Process().children(recursive=True):
                if process.pid not in before and not _serves(process):
                    seen.processes.setdefault(process.pid, process)
                    seen.argvs.add(_argv(process.pid))

    looking = threading.Thread(target=look, daemon=True)
    looking.start()
    try:
        yield seen
    finally:
        over.set()
        looking.join()


def _serves(process: psutil.Process) -> bool:
    try:
        if os.getsid(process.pid) == os.getsid(0):
            return True
        argvs = [_argv(one.pid) for one in (process, *process.parents())]
    except (ProcessLookupError, psutil.NoSuchProcess):
        return True
    return any(argv.startswith(_SERVERS) or " daemon --inetd" in argv for argv in argvs)


def _argv(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""


def _runs(process: psutil.Process) -> bool:
    return bool(left_after([process], 0.0))


def make_served(folder: Path) -> GitRepository:
    """Make `FOLDER/a.git`, with two branches that share a commit, and a tag on it."""
    folder.mkdir(exist_ok=True)
    served = GitRepository.init(folder / "a.git")
    first = served.commit({"a": "first"})
    served.git("update-ref", "refs/heads/topic", first)
    served.git("tag", "v1", first)
    served.commit({"a": "second", "b": "more"})
    served.commit({"c": "topic"}, reference="refs/heads/topic")
    return served


def user_config(key: str, value: str) -> None:
    """Set it in the config of the user, below the HOME of the test."""
    command = [GIT, "config", "--file", os.path.join(os.environ["HOME"], ".gitconfig"), "--add", key, value]
    subprocess.run(command, check=True, env=clean_environment())
