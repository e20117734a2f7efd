"""The experiment on clones: timed, counted under strace, and compared with what a FUSE file system was asked."""

import os
import re
import shutil
import subprocess
import threading
from pathlib import Path

import pytest

from gitdash.lab import clone, counted_clone, filesystem
from gitdash.lab.request import ExperimentError
from tests.support.fuse_mount import fuse_mount, why_not
from tests.support.lab_requests import files_of, import_objects, request_for
from tests.support.repositories import GIT, GitRepository, clean_environment

needs_strace = pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
needs_fuse = pytest.mark.skipif(why_not() is not None, reason=str(why_not()))
BELOW_OBJECTS = ("fan-out folder", "object", "new object", "pack", "other below objects")


@pytest.fixture
def repository(tmp_path: Path) -> GitRepository:
    repository = GitRepository.init(tmp_path / "fleet" / "a.git")
    import_objects(repository, 20)
    return repository


def git(*arguments: str | os.PathLike[str]) -> None:
    subprocess.run([GIT, *arguments], check=True, capture_output=True, env=clean_environment())


@needs_strace
def test_clones_are_timed_and_counted_and_nothing_is_left(repository, tmp_path):
    before = files_of(repository.path)
    heard = []
    result = clone.run(request_for(repository, tmp_path / "registry", on_run=heard.append))
    by_name = {variant.name: variant for variant in result.variants}
    assert list(by_name) == ["clone", "clone-linked", "clone-counted"]
    assert [len(variant.runs) for variant in result.variants] == [2, 2, 1]
    assert all(by_name[name].summary.minimum_s > 0 for name in ("clone", "clone-linked"))
    assert by_name["clone-counted"].summary is None
    assert [run.number for run in heard] == [0, 0, 1, 2, 3, 4, 5]
    assert files_of(repository.path) == before
    assert os.listdir(tmp_path / "fleet") == ["a.git"]
    assert os.listdir(tmp_path / "registry") == []


@needs_strace
@pytest.mark.oracle
def test_counts_are_those_of_a_clone_that_strace_is_asked_about_here(repository, tmp_path):
    (run,) = clone.run(request_for(repository, tmp_path / "registry")).variants[-1].runs
    table = tmp_path / "table"
    command = ["strace", "-c", "-f", "-o", table, GIT, "clone", "-q", "--bare", "--no-local", "--template="]
    target = tmp_path / "clone.git"
    subprocess.run([*command, repository.path, target], check=True, env=clean_environment(), capture_output=True)
    calls = {line.split()[-1]: int(line.split()[3]) for line in table.read_text().splitlines()[2:-2]}
    assert run.counts["open"] == pytest.approx(calls["openat"], rel=0.3)
    assert run.counts["fsync"] == calls["fsync"]
    assert run.counts["all"] > run.counts["all-failed"] > run.counts["absent-fan-out-folder"] > 0


def test_without_strace_the_counted_clone_is_skipped_and_says_why(repository, tmp_path, monkeypatch):
    monkeypatch.setattr(counted_clone, "strace", lambda: None)
    result = clone.run(request_for(repository, tmp_path / "registry"))
    assert result.variants[-1].skipped == "needs strace, which is not installed"
    assert result.variants[-1].runs == ()
    listed = clone.variants(request_for(repository, tmp_path / "registry"))
    assert listed[-1].skipped == "needs strace, which is not installed"


def test_strace_that_may_not_trace_costs_its_counts_only(repository, tmp_path, monkeypatch):
    refusing = tmp_path / "strace"
    refusing.write_text("#!/bin/sh\necho 'strace: ptrace: Operation not permitted' >&2\nexit 1\n")
    refusing.chmod(0o755)
    monkeypatch.setattr(counted_clone, "strace", lambda: os.fspath(refusing))
    result = clone.run(request_for(repository, tmp_path / "registry"))
    assert "Operation not permitted" in result.variants[-1].note
    assert [len(variant.runs) for variant in result.variants] == [2, 2, 0]


@needs_strace
def test_strace_that_cannot_leave_out_what_succeeds_costs_the_absent_names_only(repository, tmp_path, monkeypatch):
    old = tmp_path / "strace"
    old.write_text(f'#!/bin/sh\ncase " $* " in *" -Z "*) exit 1;; esac\nexec {shutil.which("strace")} "$@"\n')
    old.chmod(0o755)
    monkeypatch.setattr(counted_clone, "strace", lambda: os.fspath(old))
    counted = clone.run(request_for(repository, tmp_path / "registry")).variants[-1]
    assert "Absent names are not counted" in counted.note
    assert counted.runs[0].counts["all"] > 0


def test_chosen_clones_alone_are_run(repository, tmp_path):
    result = clone.run(request_for(repository, tmp_path / "registry", chosen=("clone-linked",)))
    assert [variant.name for variant in result.variants] == ["clone-linked"]


@needs_strace
def test_counts_alone_are_given_beside_a_timed_clone(repository, tmp_path):
    result = clone.run(request_for(repository, tmp_path / "registry", chosen=("clone-counted",)))
    assert [variant.name for variant in result.variants] == ["clone", "clone-counted"]


def test_a_cancelled_clone_leaves_nothing(repository, tmp_path):
    cancel = threading.Event()
    result = clone.run(request_for(repository, tmp_path / "registry", cancel=cancel, on_run=lambda _: cancel.set()))
    assert not result.is_complete
    assert os.listdir(tmp_path / "fleet") == ["a.git"]


def test_a_clone_that_has_no_room_is_not_begun(repository, tmp_path, monkeypatch):
    full = os.statvfs_result((4096, 4096, 100, 1, 0, 10, 10, 10, 0, 255))
    monkeypatch.setattr(os, "statvfs", lambda _: full)
    with pytest.raises(ExperimentError, match="where 0 B are free"):
        clone.run(request_for(repository, tmp_path / "registry"))
    assert os.listdir(tmp_path / "fleet") == ["a.git"]


@pytest.mark.safety
def test_nothing_of_the_cloned_repository_runs(repository, tmp_path):
    trap = tmp_path / "trap"
    trap.write_text(f'#!/bin/sh\ntouch {tmp_path}/sprung\nexec "$@"\n')
    trap.chmod(0o755)
    for key in ("uploadpack.packObjectsHook", "core.fsmonitor", "core.alternateRefsCommand", "core.sshCommand"):
        repository.git("config", key, os.fspath(trap))
    (repository.path / "hooks").mkdir()
    for name in ("post-checkout", "reference-transaction", "pre-receive"):
        shutil.copy(trap, repository.path / "hooks" / name)
    result = clone.run(request_for(repository, tmp_path / "registry"))
    assert len(result.variants[0].runs) == 2
    assert not (tmp_path / "sprung").exists()


def test_a_clone_of_a_member_has_the_lenders_objects_too(tmp_path):
    lender = GitRepository.init(tmp_path / "lender.git")
    import_objects(lender, 20)
    member = GitRepository.init(tmp_path / "member.git")
    member.borrow_from(lender)
    member.git("update-ref", "refs/heads/main", lender.git("rev-parse", "main"))
    result = clone.run(request_for(member, tmp_path / "registry", chosen=("clone",)))
    assert len(result.variants[0].runs) == 2, result.variants[0].note


def with_branches(source: GitRepository, commits: list[str]) -> int:
    # other references are not cloned
    named(source, [f"refs/keep/k{number}" for number in range(100)], commits)
    names = [f"refs/heads/b{number}" for number in range(150)] + [f"refs/tags/t{number}" for number in range(100)]
    return named(source, names, commits)


def with_annotated_tags(source: GitRepository, commits: list[str]) -> int:
    # each names the tag and the commit
    return 2 * named(source, [f"refs/tags/a{number}" for number in range(200)], tags_of(source, commits[:200]))


def with_annotated_tags_of_branches(source: GitRepository, commits: list[str]) -> int:
    return with_branches(source, commits) + with_annotated_tags(source, commits)


def with_annotated_tags_of_one_commit(source: GitRepository, commits: list[str]) -> int:
    return 2 * named(source, [f"refs/tags/a{number}" for number in range(120)], tags_of(source, commits[:1] * 120))


def with_tags_of_tags(source: GitRepository, commits: list[str]) -> int:
    # what is between is not named
    return 2 * named(
        source, [f"refs/tags/a{number}" for number in range(100)], tags_of(source, tags_of(source, commits[:100]))
    )


def with_packed_annotated_tags(source: GitRepository, commits: list[str]) -> int:
    count = with_annotated_tags(source, commits)
    source.git("pack-refs", "--all")
    return count


def named(source: GitRepository, names: list[str], ids: list[str]) -> int:
    lines = [f"create {name} {object_id}\n" for name, object_id in zip(names, ids, strict=False)]
    source.git("update-ref", "--stdin", stdin="".join(lines).encode())
    return len(lines)


def tags_of(source: GitRepository, ids: list[str]) -> list[str]:
    """Write one annotated tag of each object, and return their ids."""
    kind = source.git("cat-file", "-t", ids[0])
    lines = [
        f"object {object_id}\ntype {kind}\ntag {number}\ntagger A <a@example.com> 1 +0000\n\nx\n"
        for number, object_id in enumerate(ids)
    ]
    folder = source.path.parent / f"tags-{kind}"
    folder.mkdir()
    for number, text in enumerate(lines):
        (folder / str(number)).write_text(text)
    paths = "".join(f"{folder / str(number)}\n" for number in range(len(lines)))
    return source.git("hash-object", "-w", "-t", "tag", "--stdin-paths", stdin=paths.encode()).split()


@needs_strace
@pytest.mark.oracle
@pytest.mark.parametrize(
    "name",
    [
        with_branches,
        with_packed_annotated_tags,
        with_annotated_tags_of_branches,
        with_annotated_tags_of_one_commit,
        with_tags_of_tags,
    ],
)
def test_look_ups_of_a_clone_are_as_many_as_predicted(tmp_path, name):
    source = GitRepository.init(tmp_path / "fleet" / "source.git")
    import_objects(source, 400)
    named_count = 1 + name(source, source.git("rev-list", "main").split())
    source.repack()
    request = request_for(source, tmp_path / "registry", chosen=("clone-counted",))
    (run,) = next(one.runs for one in clone.run(request).variants if one.name == "clone-counted")
    # and for one more, whatever is named
    assert run.counts["absent-object"] == named_count + 1
    counted = run.counts["absent-fan-out-folder"] + run.counts["absent-object"]
    request = request_for(source, tmp_path / "registry", chosen=("look-up-absent",))
    notes = " ".join(filesystem.run(request).notes)
    predicted = int(re.search(r"as git makes it: ([0-9,]+) look-ups", notes)[1].replace(",", ""))
    # in how many folders random ids lie differs by a few
    assert predicted == pytest.approx(counted, abs=16)


@needs_fuse
@pytest.mark.oracle
@pytest.mark.parametrize("negative_timeout_s", [0.0, 60.0])
def test_clone_of_one_branch_asks_once_for_each_fan_out_folder_and_never_for_an_object(tmp_path, negative_timeout_s):
    source = GitRepository.init(tmp_path / "source.git")
    object_count = import_objects(source, 900)
    with fuse_mount(tmp_path, negative_timeout_s=negative_timeout_s) as mount:
        git("clone", "-q", "--bare", "--no-local", "--template=", source.path, mount.path / "clone.git")
        counts = mount.look_ups(mount.path / "clone.git")
    absent = {kind: counts[kind, False] for kind in BELOW_OBJECTS}
    assert object_count == 3600
    assert absent["object"] == absent["new object"] == 0
    # 256 folders; a few are asked for twice, as 282 look-ups were seen below objects for 34,296 objects
    assert 250 <= absent["fan-out folder"] <= 262
    assert 256 <= sum(absent.values()) <= 300


@needs_fuse
@pytest.mark.oracle
def test_fetch_that_unpacks_asks_about_five_times_for_each_object(tmp_path):
    source = GitRepository.init(tmp_path / "source.git")
    object_count = import_objects(source, 30)
    with fuse_mount(tmp_path) as mount:
        counts = {}
        for limit in ("1", "1000"):
            target = mount.path / f"limit-{limit}.git"
            git("init", "-q", "--bare", "--template=", target)
            mount.forget()
            git("-C", target, "-c", f"fetch.unpackLimit={limit}", "fetch", "-q", source.path, "refs/*:refs/*")
            counts[limit] = mount.look_ups(target)
    kept, unpacked = (
        sum(counts[limit][kind, False] for kind in BELOW_OBJECTS) / object_count for limit in ("1", "1000")
    )
    assert counts["1"]["object", False] == 0
    assert 4 <= unpacked <= 6
    assert kept < unpacked / 3


@needs_fuse
@needs_strace
@pytest.mark.oracle
def test_names_that_strace_saw_missing_are_those_that_the_file_system_was_asked_for(tmp_path):
    with fuse_mount(tmp_path) as mount:
        repository = GitRepository.init(mount.path / "fleet" / "a.git")
        import_objects(repository, 60)
        (run,) = clone.run(request_for(repository, tmp_path / "registry")).variants[-1].runs
        git("clone", "-q", "--bare", "--no-local", "--template=", repository.path, mount.path / "clone.git")
        counts = mount.look_ups(mount.path / "clone.git")
        assert os.listdir(mount.path / "fleet") == ["a.git"]
    assert counts["object", False] == 0
    # an object below a folder that is not there is one look-up, and that of the folder
    asked = run.counts["absent-fan-out-folder"] + run.counts.get("absent-object", 0)
    assert asked == pytest.approx(counts["fan-out folder", False], abs=4)
