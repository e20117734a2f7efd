"""A small family of repositories to which anything may happen, and the check that nothing of it is ever lost.

A lender, two members, one that borrows from a member, and one that stands alone. Everything in them is older than all
grace periods before each maintenance. The user's own acts here drop no object, so what git can see in a repository may
only grow, whatever gitdash does and however it ends.
"""

import contextlib
import os
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from gitdash.gitcmd.runner import WATCHDOG, stop_everything
from gitdash.maintenance.running import TaskResult, run_task
from gitdash.model.ledger import Outcome
from gitdash.model.task import Task
from tests.support.fetching import fetched
from tests.support.repositories import GIT, GitRepository, clean_environment
from tests.support.task_runs import planned, program, report_of

NAMES: Final = ("lender", "one", "two", "nested", "alone")
_LENDER_OF: Final = {"one": "lender", "two": "lender", "nested": "one"}
_AGE_S: Final = 40 * 86_400
TASKS: Final = tuple(Task)
_PACKING: Final = (
    Task.FULL_REPACK,
    Task.BITMAP,
    Task.GEOMETRIC_REPACK,
    Task.LOOSE_OBJECTS,
    Task.INCREMENTAL_REPACK,
    Task.MULTI_PACK_BITMAP,
)
_LIKELY: Final = {
    "lender": _PACKING,
    "alone": (*_PACKING, Task.RECLAIM, Task.RECLAIM),
    "one": (Task.DEDUPLICATE, Task.DEDUPLICATE, Task.UNLINK, Task.LOOSE_OBJECTS, Task.INCREMENTAL_REPACK),
}
"""What moves objects, in each kind of repository; half of all tasks are of these."""
KINDS: Final = (
    "commit",
    "fetch",
    "fetch by gitdash",
    "fetch by gitdash and kill",
    "delete",
    "link",
    "maintain",
    "maintain",
    "maintain",
    "maintain while used",
    "maintain and terminate",
    "maintain and kill",
    "kill git",
    "fill the disk",
)
MAINTAINING: Final = frozenset(KINDS[KINDS.index("maintain") :])
_FILE_LIMIT_BYTES: Final = 2048


@dataclass(frozen=True)
class Event:
    """One thing that happens; numbers choose among what there is."""

    kind: str
    repository: int
    choice: int
    moment_ms: int = 0
    knows_borrowers: bool = True
    leaves_locks: bool = False


@dataclass
class Family:
    """The repositories, and what was seen in each."""

    folder: Path
    repositories: dict[str, GitRepository]
    seen: dict[str, set[str]] = field(default_factory=dict)
    references: dict[str, str] = field(default_factory=dict)
    history: list[str] = field(default_factory=list)
    outcomes: list[tuple[Task, Outcome]] = field(default_factory=list)
    sound: dict[str, tuple[list[dict[str, bytes]], str, set[str]]] = field(default_factory=dict)
    """The files of each repository and of its lenders when git found it whole, its references and its objects then."""
    volume: Path | None = None
    """A small file system that all lie on, if one could be mounted."""

    def happen(self, event: Event) -> None:
        """Let one thing happen, and check everything."""
        name = NAMES[event.repository % len(NAMES)]
        act = getattr(self, f"_{event.kind.replace(' ', '_')}")
        with self.exposing_nothing(name) if event.kind in MAINTAINING else contextlib.nullcontext():
            act(name, event)
        is_apart = not self._lenders("alone") and not event.kind.startswith("fetch")
        self.check(("alone",) if is_apart and name == "alone" else NAMES[:-1] if is_apart else NAMES)

    def check(self, names: Sequence[str] = NAMES) -> None:
        """See that each repository is whole, has its references, and lost no object that it ever had.

        Git is not asked again about one in which, and in whose lenders, each file is as it was when all was well.
        """
        for name in names:
            repository = self.repositories[name]
            files = [_files_of(each) for each in (repository, *self._lenders(name))]
            if self.sound.get(name) == (files, self.references[name], self.seen.get(name)):
                continue
            said = _git(repository, "fsck", "--connectivity-only", "--no-dangling", "--no-progress")
            assert said.returncode == 0, self._story(f"{name} is not whole: {said.stderr.decode()}")
            objects = self._objects(repository)
            lost = self.seen.get(name, set()) - objects
            assert not lost, self._story(f"{name} lost {sorted(lost)}")
            self.seen[name] = objects
            references = repository.git("for-each-ref", "--format=%(objectname) %(refname)")
            assert references == self.references[name], self._story(f"{name} has other references")
            self.sound[name] = (files, references, objects)

    @staticmethod
    def _objects(repository: GitRepository) -> set[str]:
        listed = repository.git("cat-file", "--batch-all-objects", "--batch-check=%(objectname)", "--unordered")
        return set(listed.split())

    def _story(self, end: str) -> str:
        return "\n".join([*self.history, end])

    def _note(self, *words: object) -> None:
        self.history.append(" ".join(map(str, words)))

    def _keep_references(self, name: str) -> None:
        listed = self.repositories[name].git("for-each-ref", "--format=%(objectname) %(refname)")
        self.references[name] = listed

    def _exposed(self, name: str) -> set[str]:
        """Return what is reachable in a repository, not in its own store, and referenced in none of its lenders.

        The next gc of a lender may drop it. Deleting references there can expose objects; gitdash may not.
        """
        lenders = self._lenders(name)
        if not lenders:
            return set()
        needed = self._reachable(self.repositories[name]) - _own_objects(self.repositories[name])
        for lender in lenders:
            needed -= self._reachable(lender)
        return needed

    def _lenders(self, name: str) -> list[GitRepository]:
        alternates = self.repositories[name].git_dir / "objects" / "info" / "alternates"
        if not alternates.exists():
            return []
        path = os.path.realpath(alternates.parent.parent / alternates.read_text().strip())
        lender = next(other for other in NAMES if os.path.realpath(self._objects_dir(other)) == path)
        return [self.repositories[lender], *self._lenders(lender)]

    def _objects_dir(self, name: str) -> Path:
        return self.repositories[name].git_dir / "objects"

    @staticmethod
    def _reachable(repository: GitRepository) -> set[str]:
        return {line.split()[0] for line in repository.git("rev-list", "--objects", "--all").splitlines()}

    @contextlib.contextmanager
    def exposing_nothing(self, name: str) -> Iterator[None]:
        """See that what happens inside the block leaves a repository depending on nothing that its lenders may drop."""
        before = self._exposed(name)
        yield
        exposed = self._exposed(name) - before
        assert not exposed, self._story(f"{name} depends on {sorted(exposed)} that no lender references")

    def _commit(self, name: str, event: Event) -> None:
        repository = self.repositories[name]
        branch = f"refs/heads/b{event.choice % 3}"
        self._note("commit", name, branch)
        repository.commit({f"f{event.choice % 5}": f"{name} {event.choice} {len(self.history)}"}, reference=branch)
        self._keep_references(name)

    def _fetch(self, name: str, event: Event) -> None:
        source = NAMES[event.choice % len(NAMES)]
        self._note("fetch", name, "from", source)
        config = ("-c", "gc.auto=0", "-c", "maintenance.auto=false", "-c", "fetch.unpackLimit=1")
        refspec = f"+refs/heads/*:refs/remotes/{source}/*"
        path = os.fspath(self.repositories[source].path)
        limit = config if event.moment_ms % 2 else config[:4]
        self.repositories[name].git(*limit, "fetch", "--quiet", "--no-write-fetch-head", path, refspec)
        self._keep_references(name)

    def _fetch_by_gitdash(self, name: str, event: Event) -> None:
        source = self._name_remote(name, event)
        result = fetched(self.repositories[name].path, remotes=(source,))
        self._note("fetch by gitdash", name, "from", source, result.outcome.value, result.sentence)
        assert result.outcome.is_good, self._story("it did not come through")
        before, theirs = self._before_and_coming(name, source)
        self._keep_references(name)
        assert _by_name(self.references[name]) == before | theirs, self._story(f"{name} has other references")

    def _fetch_by_gitdash_and_kill(self, name: str, event: Event) -> None:
        source = self._name_remote(name, event)
        self._note("fetch by gitdash", name, "from", source, "and kill after", event.moment_ms, "ms")
        with in_child(lambda: fetched(self.repositories[name].path, remotes=(source,))) as child:
            time.sleep(event.moment_ms / 1000)
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        self._wait_for_processes(child)
        self._clear_locks(event)
        before, theirs = self._before_and_coming(name, source)
        self._keep_references(name)
        for reference, tip in _by_name(self.references[name]).items():
            expected = {before.get(reference), theirs.get(reference)}
            assert tip in expected, self._story(f"{reference} of {name} was {before.get(reference)} and is {tip}")
        assert before.keys() <= _by_name(self.references[name]).keys(), self._story(f"{name} lost a reference")

    def _name_remote(self, name: str, event: Event) -> str:
        """Let a repository know another, or itself, as a remote, and return its name."""
        source = NAMES[event.choice % len(NAMES)]
        repository = self.repositories[name]
        repository.git("config", f"remote.{source}.url", os.fspath(self.repositories[source].path))
        repository.git("config", f"remote.{source}.fetch", f"+refs/heads/*:refs/remotes/{source}/*")
        return source

    def _before_and_coming(self, name: str, source: str) -> tuple[dict[str, str], dict[str, str]]:
        """Return tips by name: those before a fetch, and those that it brings."""
        theirs = {
            f"refs/remotes/{source}/{reference.removeprefix('refs/heads/')}": tip
            for reference, tip in _by_name(self.references[source]).items()
            if reference.startswith("refs/heads/")
        }
        return _by_name(self.references[name]), theirs

    def _delete(self, name: str, event: Event) -> None:
        repository = self.repositories[name]
        names = repository.git("for-each-ref", "--format=%(refname)").split()
        chosen = names[event.choice % len(names)] if len(names) > 1 else None
        self._note("delete", name, chosen)
        if chosen is not None:
            repository.git("update-ref", "-d", chosen)
        self._keep_references(name)

    def _link(self, name: str, event: Event) -> None:
        """The user lets a repository borrow from the lender once more."""
        alternates = self.repositories[name].git_dir / "objects" / "info" / "alternates"
        if name == "lender" or alternates.exists():
            self._commit(name, event)
            return
        self._note("link", name)
        self.repositories[name].borrow_from(self.repositories[_LENDER_OF.get(name, "lender")], relative=True)

    def _maintain(self, name: str, event: Event) -> None:
        task = _task(name, event)
        self._grow_old()
        is_member = bool(self._lenders(name))
        result = self._run(name, task, event, threading.Event(), lambda *_: None)
        self._note("maintain", name, task.value, result.outcome.value, result.sentence)
        self.outcomes.append((task, result.outcome))
        self._check_lock(name, task)
        if task is Task.RECLAIM and (is_member or self._borrowers(name)):
            assert result.outcome is Outcome.REFUSED, self._story("reclaimed")
        if task is Task.RECLAIM and result.outcome is Outcome.DONE:
            self.seen[name] = self._objects(self.repositories[name])

    def _maintain_while_used(self, name: str, event: Event) -> None:
        """Commits are made in the repository while it is maintained; one that fails is the user's to make again."""
        repository = self.repositories[name]
        task = _task(name, event)
        self._grow_old()
        before = _by_name(self.references[name])
        made: list[str] = []

        def use() -> None:
            for number in range(3):
                with contextlib.suppress(AssertionError):
                    files = {"used": f"{name} {number} {len(self.history)}"}
                    made.append(repository.commit(files, reference="refs/heads/used"))

        user = threading.Thread(target=use)
        user.start()
        result = self._run(name, task, event, threading.Event(), lambda *_: None)
        user.join()
        self._note("maintain", name, task.value, "while it is used:", result.outcome.value, result.sentence)
        self._keep_references(name)
        expected = before | ({"refs/heads/used": made[-1]} if made else {})
        assert _by_name(self.references[name]) == expected, self._story(f"{name} has other references")

    def _run(
        self, name: str, task: Task, event: Event, cancel: threading.Event, on_step: Callable[[str, int, int], None]
    ) -> TaskResult:
        repository = self.repositories[name]
        # who is known to nobody and hinted at by nothing cannot be protected from a person who typed the name
        borrowers = self._borrowers(name) if event.knows_borrowers or task is Task.RECLAIM else []
        report = report_of(repository, borrowers=borrowers)
        return run_task(
            report,
            planned(task, report),
            look=lambda: report_of(repository, borrowers=borrowers),
            program=program(),
            cancel=cancel,
            on_step=on_step,
            close_readers=lambda: None,
            warm_readers=lambda: None,
            now_s=time.time(),
            time_limit_s=60.0,
            confirmed_name=repository.path.name.encode(),
        )

    def _borrowers(self, name: str) -> list[GitRepository]:
        path = os.fspath(self.repositories[name].git_dir / "objects")
        return [
            other
            for other in self.repositories.values()
            if (alternates := other.git_dir / "objects" / "info" / "alternates").exists()
            and os.path.realpath(other.git_dir / "objects" / alternates.read_text().strip()) == os.path.realpath(path)
        ] or ([self.repositories["one"]] if name == "lender" else [])

    def _maintain_and_terminate(self, name: str, event: Event) -> None:
        self._maintain_in_a_process(name, event, signal.SIGTERM)

    def _maintain_and_kill(self, name: str, event: Event) -> None:
        self._maintain_in_a_process(name, event, signal.SIGKILL)

    def _maintain_in_a_process(self, name: str, event: Event, number: signal.Signals) -> None:
        task = _task(name, event)
        self._grow_old()
        self._note("maintain", name, task.value, "and", number.name, "after", event.moment_ms, "ms")
        with in_child(lambda: self._run_with_handler(name, task, event)) as child:
            time.sleep(event.moment_ms / 1000)
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, number)
        self._wait_for_processes(child)
        self._clear_locks(event)

    def _run_with_handler(self, name: str, task: Task, event: Event) -> None:
        cancel = threading.Event()

        def stop(*_: object) -> None:
            cancel.set()
            stop_everything()

        signal.signal(signal.SIGTERM, stop)
        self._run(name, task, event, cancel, lambda *_: None)

    def _kill_git(self, name: str, event: Event) -> None:
        """Somebody, such as the kernel that is out of memory, kills a git that gitdash runs."""
        task = _task(name, event)
        self._grow_old()
        over = threading.Event()
        killer = threading.Thread(target=self._kill_one_git, args=(event.moment_ms / 1000, over))
        killer.start()
        result = self._run(name, task, event, threading.Event(), lambda *_: None)
        over.set()
        killer.join()
        self._note("maintain", name, task.value, "with git killed:", result.outcome.value, result.sentence)
        self._check_lock(name, task)
        self._clear_locks(event)

    def _check_lock(self, name: str, task: Task) -> None:
        """A task that changes anything leaves no lock: not its own, and not that of a gitdash that was killed."""
        lock = self.repositories[name].git_dir / "objects" / "maintenance.lock"
        assert not (task.changes_repository and lock.exists()), self._story("a lock is left")

    def _kill_one_git(self, after_s: float, over: threading.Event) -> None:
        over.wait(after_s)
        while not over.is_set():
            for process in self._processes():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
                return
            over.wait(0.001)

    def _fill_the_disk(self, name: str, event: Event) -> None:
        task = _task(name, event)
        self._grow_old()
        self._note("maintain", name, task.value, "on a full disk" if self.volume else "with a limit on files")
        if self.volume is not None:
            filler = self.volume / "filler"
            self._run(name, task, event, threading.Event(), lambda *_: _fill(filler, 4096 * (event.moment_ms % 8)))
            filler.unlink(missing_ok=True)
        else:
            with in_child(lambda: self._run_with_limit(name, task, event)):
                pass
        self._clear_locks(event)

    def _run_with_limit(self, name: str, task: Task, event: Event) -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (_FILE_LIMIT_BYTES, _FILE_LIMIT_BYTES))
        self._run(name, task, event, threading.Event(), lambda *_: None)

    def _clear_locks(self, event: Event) -> None:
        """The user removes stale locks, or does not. That of a gitdash that was killed is gitdash's own business."""
        if event.leaves_locks:
            return
        for repository in self.repositories.values():
            for lock in repository.git_dir.rglob("*.lock"):
                if lock.name != "maintenance.lock":
                    lock.unlink()

    def _grow_old(self) -> None:
        moment_s = time.time() - _AGE_S
        for repository in self.repositories.values():
            for folder, _, names in os.walk(repository.git_dir):
                for file_name in names:
                    if not file_name.endswith(".lock"):
                        os.utime(os.path.join(folder, file_name), (moment_s, moment_s), follow_symlinks=False)

    def _processes(self) -> Iterator[int]:
        mark = os.fsencode(self.folder)
        for process in os.listdir("/proc"):
            if process.isdigit() and int(process) != os.getpid():
                with contextlib.suppress(OSError):
                    words = Path(f"/proc/{process}/cmdline").read_bytes()
                    if words.startswith(os.fsencode(sys.executable)):
                        continue
                    # a fetch knows the repository by its environment alone
                    if mark in words or mark in Path(f"/proc/{process}/environ").read_bytes():
                        yield int(process)

    def _wait_for_processes(self, child: int) -> None:
        """Wait until nothing lives on of a gitdash that was killed."""
        deadline_s = time.monotonic() + 20
        while _leaves_orphan(child) or any(True for _ in self._processes()):
            assert time.monotonic() < deadline_s, self._story("a git lives on")
            time.sleep(0.005)


def make_template(folder: Path) -> None:
    """Build the family once; `make_family` copies it."""
    lender = GitRepository.init(folder / "lender.git")
    for number in range(3):
        lender.commit({"f": f"{number}" * 300}, reference=f"refs/heads/b{number}")
    lender.repack()
    lender.commit({"f": "loose"}, reference="refs/heads/b0")
    lender.blob(b"nothing references this")
    for name, from_name in _LENDER_OF.items():
        member = GitRepository.init(folder / f"{name}.git")
        source = GitRepository(folder / f"{from_name}.git")
        member.borrow_from(source, relative=True)
        tip = source.git("rev-parse", "refs/heads/b0")
        member.git("update-ref", "refs/heads/b0", tip)
        member.commit({"own": name}, reference="refs/heads/b1", parents=[tip])
        member.blob(f"loose of {name}".encode())
    # what members have, too, and the lender alone no longer references: it fetched that and forgot, packed and loose
    for name in ("one", "two"):
        lender.git("fetch", "--quiet", "--no-write-fetch-head", os.fspath(folder / f"{name}.git"), "b1:refs/heads/gone")
        lender.git("update-ref", "-d", "refs/heads/gone")
        if name == "one":
            lender.git("repack", "-a", "-d", "-q", "-k")
    alone = GitRepository.init(folder / "alone.git")
    alone.commit({"f": "alone"}, reference="refs/heads/b0")
    alone.commit({"f": "alone too"}, reference="refs/heads/b1")


def make_family(template: Path, folder: Path, *, volume: Path | None = None) -> Family:
    """Copy the family of a template into a new folder."""
    shutil.copytree(template, folder, symlinks=True)
    repositories = {name: GitRepository(folder / f"{name}.git") for name in NAMES}
    family = Family(folder, repositories, volume=volume)
    for name in NAMES:
        family._keep_references(name)
    family.check()
    return family


def play(template: Path, folder: Path, events: list[Event], *, volume: Path | None = None) -> Family:
    """Let a sequence of events happen to a new family, which is removed at the end if all went well."""
    family = make_family(template, folder, volume=volume)
    for event in events:
        family.happen(event)
    shutil.rmtree(folder)
    return family


@contextlib.contextmanager
def small_volume(folder: Path, size_bytes: int) -> Iterator[Path | None]:
    """Mount a small file system on a folder; None where we may not."""
    folder.mkdir(exist_ok=True)
    command = ["mount", "-t", "tmpfs", "-o", f"size={size_bytes}", "gitdash-test", os.fspath(folder)]
    is_mounted = (
        os.geteuid() == 0
        and shutil.which("mount") is not None
        and subprocess.run(command, check=False, capture_output=True).returncode == 0
    )
    try:
        yield folder if is_mounted else None
    finally:
        if is_mounted:
            subprocess.run(["umount", "--lazy", os.fspath(folder)], check=True)


@contextlib.contextmanager
def in_child(work: Callable[[], object]) -> Iterator[int]:
    """Do some work in a process of its own, which has a watchdog of its own, and reap it."""
    child = os.fork()
    if child == 0:
        try:
            WATCHDOG._pipe = None
            WATCHDOG._live.clear()
            work()
        except BaseException:  # noqa: BLE001 - nothing of the test may go on in the child
            os._exit(1)
        os._exit(0)
    try:
        yield child
    finally:
        os.waitpid(child, 0)


def _leaves_orphan(child: int) -> bool:
    """Tell whether a process that was killed has left one between fork and exec, which in a moment will be a git.

    It looks like us, as its parent did, was started later, and no Python is its parent any more.
    """
    ours, python = Path("/proc/self/cmdline").read_bytes(), os.fsencode(sys.executable)
    for process in os.listdir("/proc"):
        if process.isdigit() and int(process) > child and int(process) != os.getpid():
            with contextlib.suppress(OSError):
                folder = Path("/proc", process)
                if folder.joinpath("cmdline").read_bytes() == ours:
                    status = folder.joinpath("status").read_text().splitlines()
                    parent = next(line.split()[1] for line in status if line.startswith("PPid:"))
                    if not Path("/proc", parent, "cmdline").read_bytes().startswith(python):
                        return True
    return False


def _by_name(references: str) -> dict[str, str]:
    """Return tips by name of what git listed."""
    return dict(line.split()[::-1] for line in references.splitlines())


def _files_of(repository: GitRepository) -> dict[str, bytes]:
    """Return all files and what is in them; those of a family are few and small."""
    return {
        os.path.join(folder, name): Path(folder, name).read_bytes()
        for folder, _, names in os.walk(repository.git_dir)
        for name in names
    }


def _own_objects(repository: GitRepository) -> set[str]:
    """Return what lies in the store itself, by git's reading of its indexes and by the names of its loose files."""
    objects_dir = repository.git_dir / "objects"
    found = {path.parent.name + path.name for path in objects_dir.glob("[0-9a-f][0-9a-f]/*") if len(path.name) == 38}
    for index in (objects_dir / "pack").glob("*.idx"):
        if index.with_suffix(".pack").exists():
            listed = repository.git("show-index", stdin=index.read_bytes())
            found.update(line.split()[1] for line in listed.splitlines())
    return found


def _task(name: str, event: Event) -> Task:
    """Choose a task. One that drops objects runs to its end: what it left is looked at then."""
    likely = _LIKELY.get(name, _LIKELY["one"])
    tasks = likely if event.choice % 2 else TASKS
    task = tasks[event.choice // 2 % len(tasks)]
    return Task.FULL_REPACK if task is Task.RECLAIM and event.kind != "maintain" else task


def _fill(path: Path, left_bytes: int) -> None:
    """Take all room of a file system but some bytes."""
    volume = os.statvfs(path.parent)
    room_bytes = volume.f_bavail * volume.f_frsize - left_bytes
    with contextlib.suppress(OSError), path.open("ab") as file:
        file.write(b"\0" * max(room_bytes, 0))


def _git(repository: GitRepository, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    command = [GIT, "-C", os.fspath(repository.path), *arguments]
    return subprocess.run(command, capture_output=True, check=False, env=clean_environment())
