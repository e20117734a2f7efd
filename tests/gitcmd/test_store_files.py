import os
import socket
from pathlib import Path

import pytest

from gitdash.gitcmd.git_error import GitError, GitFailure
from gitdash.gitcmd.installed import find_git
from gitdash.gitcmd.runner import run_git
from gitdash.gitcmd.shadow import shadow_git_dir
from gitdash.gitcmd.store_files import irregular_file
from gitdash.measurement.reachable import measure_reachable
from gitdash.model.inspection import ObjectFormat
from tests.measurement.built import git_program, request_for
from tests.support.repositories import GIT, GitRepository, git_version

PACK = "pack/pack-" + "1" * 40

OPENED_BY_GIT = [
    "info/alternates",
    "info/commit-graph",
    "info/commit-graphs/commit-graph-chain",
    "info/commit-graphs/graph-1.graph",
    "pack/multi-pack-index",
    "pack/multi-pack-index-1.bitmap",
    "pack/multi-pack-index.d/multi-pack-index-chain",
    f"{PACK}.pack",
    f"{PACK}.rev",
    f"{PACK}.bitmap",
    "0f/" + "e" * 38,
    "ff/" + "0" * 62,
]

NOT_OPENED_BY_GIT = [
    *(f"{PACK}.idx", f"{PACK}.keep", "pack/junk", "pack/multi-pack-index.lock", "info/junk"),
    *("0f/tmp_obj_x", "junk", "xx/" + "e" * 38),
]

INCREMENTAL_SINCE = (2, 47)


@pytest.fixture
def objects(tmp_path: Path) -> Path:
    repository = GitRepository.init(tmp_path / "r.git")
    repository.commit({"a": b"1"})
    repository.repack("--write-bitmap-index")
    repository.git("commit-graph", "write", "--reachable")
    repository.git("multi-pack-index", "write")
    repository.blob(b"loose")
    return repository.git_dir / "objects"


def make_fifo(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    os.mkfifo(path)


def test_a_sound_store_has_no_irregular_file(objects: Path) -> None:
    assert irregular_file(os.fsencode(objects)) is None
    assert irregular_file(os.fsencode(objects / "missing")) is None


@pytest.mark.oracle
@pytest.mark.skipif(git_version() < INCREMENTAL_SINCE, reason="git writes no incremental multi-pack-index")
def test_chains_of_commit_graphs_and_multi_pack_indexes_are_sound(tmp_path: Path) -> None:
    repository = GitRepository.init(tmp_path / "r.git")
    for number in range(2):
        repository.commit({"a": f"{number}"})
        repository.git("repack", "-q", "-d")
        repository.git("multi-pack-index", "write", "--incremental")
        repository.git("commit-graph", "write", "--reachable", "--split=no-merge")
    objects = repository.git_dir / "objects"
    assert (objects / "pack" / "multi-pack-index.d").is_dir()
    assert (objects / "info" / "commit-graphs").is_dir()
    assert irregular_file(os.fsencode(objects)) is None
    request = request_for(repository)
    size = measure_reachable(request, git_program(), now_s=0.0, time_limit_s=30.0)
    assert size.bytes == int(repository.git("rev-list", "--all", "--objects", "--disk-usage"))
    assert (size.exact, size.notes) == (True, ())


@pytest.mark.parametrize("name", OPENED_BY_GIT)
def test_a_fifo_that_git_would_open_is_found(objects: Path, name: str) -> None:
    make_fifo(objects / name)
    assert irregular_file(os.fsencode(objects)) == (name.encode(), "a FIFO")


def test_loose_objects_are_left_out_where_somebody_has_looked_at_each(objects: Path) -> None:
    make_fifo(objects / "0f" / ("e" * 38))
    assert irregular_file(os.fsencode(objects), looks_at_loose=False) is None
    make_fifo(objects / "info" / "alternates")
    assert irregular_file(os.fsencode(objects), looks_at_loose=False) == (b"info/alternates", "a FIFO")


@pytest.mark.parametrize("name", NOT_OPENED_BY_GIT)
def test_a_fifo_that_git_would_not_open_does_not_matter(objects: Path, name: str) -> None:
    make_fifo(objects / name)
    assert irregular_file(os.fsencode(objects)) is None


def test_an_index_counts_if_its_pack_is_there(objects: Path) -> None:
    make_fifo(objects / f"{PACK}.idx")
    (objects / f"{PACK}.pack").touch()
    assert irregular_file(os.fsencode(objects)) == (f"{PACK}.idx".encode(), "a FIFO")


def test_a_link_counts_as_what_it_leads_to(objects: Path, tmp_path: Path) -> None:
    (pack,) = (objects / "pack").glob("*.pack")
    pack.rename(tmp_path / "elsewhere")
    pack.symlink_to(tmp_path / "elsewhere")
    (objects / "info" / "alternates").symlink_to("nowhere")
    assert irregular_file(os.fsencode(objects)) is None
    (objects / "pack" / "multi-pack-index").unlink()
    (objects / "pack" / "multi-pack-index").symlink_to("/dev/zero")
    assert irregular_file(os.fsencode(objects)) == (b"pack/multi-pack-index", "a device")


def test_each_kind_is_named(objects: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (objects / "info" / "alternates").mkdir()
    assert irregular_file(os.fsencode(objects)) == (b"info/alternates", "a directory")
    (objects / "info" / "alternates").rmdir()
    monkeypatch.chdir(objects / "info")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("alternates")
        assert irregular_file(os.fsencode(objects)) == (b"info/alternates", "a socket")


@pytest.mark.safety
def test_git_is_not_started_in_a_store_that_it_would_hang_in(objects: Path) -> None:
    make_fifo(objects / "info" / "commit-graph")
    with (
        pytest.raises(GitError) as caught,
        shadow_git_dir(object_format=ObjectFormat.SHA1, objects_dir=os.fsencode(objects)),
    ):
        pass
    assert caught.value.kind is GitFailure.REFUSED
    assert str(caught.value) == "objects/info/commit-graph is a FIFO, and git would open it"


@pytest.mark.safety
@pytest.mark.oracle
@pytest.mark.parametrize("name", ["info/alternates", "info/commit-graph", "pack/multi-pack-index", "*.bitmap", "*.idx"])
def test_plain_git_does_hang_there(objects: Path, name: str) -> None:
    found = next(objects.rglob(name), objects / name)
    make_fifo(found)
    with pytest.raises(GitError) as caught:
        run_git(
            find_git(GIT),
            ["rev-list", "--all", "--objects", "--use-bitmap-index", "--disk-usage"],
            git_dir=os.fsencode(objects.parent),
            config=[("core.multiPackIndex", "false")] if name in {"*.bitmap", "*.idx"} else [],
            time_limit_s=0.5,
        )
    assert caught.value.kind is GitFailure.TIMED_OUT
