"""Inputs that hang, lie, or are corrupt: a row with a reason, no hang, no wrong number, bounded memory."""

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.safety.damage import HANGING, LYING, Sound, make_sound
from tests.safety.product import Answer, run_gitdash
from tests.support.repositories import GitRepository

pytestmark = pytest.mark.safety

DAMAGES = HANGING | LYING

LESS_IS_TRUE = {
    "everything gone": 0,
    "FIFO as refs/heads/main": 814,
}
"""Where what is left is less, and that is what the size has to be."""

SEEN = {
    "bitmap that lies",
    "commit-graph that lies about parents",
    "config with a bad boolean",
    "config with a bad level",
    "grafts that cut history",
    "shallow at the tip",
    "index with zeroed names",
    "pack without index",
    "loose objects of no length",
    "reference to a missing object",
}
"""Damage with a size, or without any trace in one, that must not look healthy."""


LOST_REFERENCES = {
    *(f"FIFO as {name}" for name in ("refs/heads/main", "refs/heads/new", "worktrees/w/HEAD")),
    "/dev/zero as refs/heads/new",
    "1 GiB as refs/heads/new",
    "HEAD in a loop",
    "HEAD at a missing object",
    "packed-refs with a dangerous name",
    *(f"reference {what}" for what in ("empty", "of NULs", "garbage", "to a missing object")),
    "reference that is a link to a file",
    "reference names with escapes",
}
"""What they pointed to is not known, so the size of the others is not the whole."""

NO_SIZE = {"pack gone with its index", "all objects gone", "pack without index", "index without pack"}
"""Where git, or what is left, would say 0 bytes or less than there were."""


@dataclass(frozen=True)
class Fleet:
    """All damaged repositories below one root, with a sound one beside them, and what one scan said."""

    sound: Sound
    paths: dict[str, Path]
    answer: Answer


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Fleet:
    folder = tmp_path_factory.mktemp("fleet")
    sound = make_sound(folder)
    paths = {}
    for number, (name, damage) in enumerate(DAMAGES.items()):
        path = folder / "root" / f"r{number:03}.git"
        shutil.copytree(sound.path, path, symlinks=True)
        damage(path)
        paths[name] = path
    shutil.copytree(sound.path, folder / "root" / "sound.git")
    answer = run_gitdash(folder, "--no-state", "scan", "--sizes", "all", "--format", "json", folder / "root")
    return Fleet(sound, paths, answer)


@pytest.mark.parametrize("name", DAMAGES)
def test_damage_is_a_row_with_a_true_size_or_a_reason(fleet: Fleet, name: str) -> None:
    path = fleet.paths[name]
    rows = [row for row in fleet.answer.document["repositories"] if row["path"] == os.fspath(path)]
    if not rows:
        assert f"not a repository: {path}: " in fleet.answer.stderr
        return
    reachable = rows[0]["sizes"]["reachable"]
    if "unreadable" in reachable:
        assert len(reachable["unreadable"]) > 5
        return
    assert name not in NO_SIZE
    assert (reachable["exact"], reachable["bound"]) == (
        (False, "lower") if name in LOST_REFERENCES else (True, "exact")
    ), reachable["notes"]
    if reachable["bytes"] != LESS_IS_TRUE.get(name, fleet.sound.size_bytes):
        assert rows[0]["shallow"]


def test_the_sound_neighbour_is_read_as_if_it_were_alone(fleet: Fleet) -> None:
    row = fleet.answer.row(fleet.paths["HEAD unborn"].parent / "sound.git")
    assert row["state"] == "ok"
    assert row["sizes"]["reachable"]["bytes"] == fleet.sound.size_bytes
    assert row["sizes"]["reachable"]["exact"]
    # sizes of its neighbours cannot be told
    assert fleet.answer.exit_code == 1


@pytest.mark.parametrize("name", DAMAGES)
def test_damage_that_is_seen_shows_in_the_state(fleet: Fleet, name: str) -> None:
    rows = [row for row in fleet.answer.document["repositories"] if row["path"] == os.fspath(fleet.paths[name])]
    is_seen = rows and ("unreadable" in rows[0]["sizes"]["reachable"] or name in SEEN)
    assert not is_seen or rows[0]["state"] != "ok"


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("name", "flags"),
    [
        ("commit-graph that lies about parents", []),
        ("bitmap that lies", ["--use-bitmap-index"]),
        ("index with all offsets beyond the pack", ["--use-bitmap-index"]),
        ("grafts that cut history", []),
        ("shallow at the tip", []),
    ],
)
def test_plain_git_believes_the_lie(fleet: Fleet, name: str, flags: list[str]) -> None:
    repository = GitRepository(fleet.paths[name])
    assert int(repository.git("rev-list", "--all", "--objects", "--disk-usage", *flags)) != fleet.sound.size_bytes
