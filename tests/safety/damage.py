"""Repositories that hang, lie, or are corrupt: each is a copy of one sound repository with one thing done to it."""

import os
import shutil
import struct
import subprocess
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.support.repositories import GIT, GitRepository, clean_environment

Damage = Callable[[Path], None]

GIANT_BYTES = 1024**3


@dataclass(frozen=True)
class Sound:
    """The repository without damage, and what is true of it."""

    path: Path
    size_bytes: int
    tip: str


def make_sound(folder: Path) -> Sound:
    """Two packs below a multi-pack-index, a bitmap, a commit-graph, loose objects, packed and loose references."""
    repository = GitRepository.init(folder / "sound.git")
    for number in range(6):
        repository.commit({"a": f"{number}\n" * 40, f"d{number}/b": f"{number}"})
    repository.git("branch", "old", "main~3")
    repository.repack("--write-bitmap-index")
    repository.git("pack-refs", "--all")
    repository.git("commit-graph", "write", "--reachable")
    tip = repository.commit({"a": "loose\n" * 50})
    size_bytes = int(repository.git("rev-list", "--all", "--objects", "--disk-usage"))
    return Sound(repository.path, size_bytes, tip)


def only(folder: Path, pattern: str) -> Path:
    """The one file that matches; made writable, because git writes packs read-only."""
    (file,) = folder.glob(pattern)
    file.chmod(0o644)
    return file


def replace(name: str, make: Callable[[Path], object]) -> Damage:
    """Put something else where a file is or would be; `name` may be a pattern."""

    def damage(folder: Path) -> None:
        found = list(folder.glob(name))
        path = found[0] if found else folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.is_dir():
            shutil.rmtree(path)
        path.unlink(missing_ok=True)
        make(path)

    return damage


def both(*damages: Damage) -> Damage:
    def damage(folder: Path) -> None:
        for each in damages:
            each(folder)

    return damage


def fifo(name: str) -> Damage:
    return replace(name, os.mkfifo)


def endless(name: str) -> Damage:
    return replace(name, lambda path: path.symlink_to("/dev/zero"))


def giant(name: str) -> Damage:
    def make(path: Path) -> None:
        path.touch()
        os.truncate(path, GIANT_BYTES)

    return replace(name, make)


def text(name: str, content: str | bytes) -> Damage:
    data = content.encode() if isinstance(content, str) else content
    return replace(name, lambda path: path.write_bytes(data))


def link_to(name: str, target: str) -> Damage:
    return replace(name, lambda path: path.symlink_to(target))


def patch(pattern: str, offset: int, data: bytes) -> Damage:
    """Overwrite bytes; a negative offset counts from the end."""

    def damage(folder: Path) -> None:
        file = only(folder, pattern)
        content = bytearray(file.read_bytes())
        start = offset if offset >= 0 else len(content) + offset
        content[start : start + len(data)] = data
        file.write_bytes(content)

    return damage


def cut(pattern: str, length: int) -> Damage:
    def damage(folder: Path) -> None:
        os.truncate(only(folder, pattern), length)

    return damage


def remove(pattern: str) -> Damage:
    return lambda folder: only(folder, pattern).unlink()


def flip_in_pack(folder: Path) -> None:
    file = only(folder, "objects/pack/*.pack")
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 0x55
    file.write_bytes(content)


def index_offsets(value: int) -> Damage:
    def damage(folder: Path) -> None:
        file = only(folder, "objects/pack/*.idx")
        content = bytearray(file.read_bytes())
        (count,) = struct.unpack_from(">I", content, 8 + 255 * 4)
        start = 8 + 1024 + count * 24
        content[start : start + 4 * count] = struct.pack(">I", value) * count
        file.write_bytes(content)

    return damage


def index_names_zeroed(folder: Path) -> None:
    file = only(folder, "objects/pack/*.idx")
    content = bytearray(file.read_bytes())
    (count,) = struct.unpack_from(">I", content, 8 + 255 * 4)
    content[1032 : 1032 + 20 * count] = bytes(20 * count)
    file.write_bytes(content)


def commit_graph_without_parents(folder: Path) -> None:
    """Every commit of the commit-graph loses its parents: git believes it."""
    file = only(folder, "objects/info/commit-graph")
    content = bytearray(file.read_bytes())
    chunks = {}
    for number in range(content[6] + 1):
        name, offset = struct.unpack_from(">4sQ", content, 8 + 12 * number)
        chunks[name] = offset
    (count,) = struct.unpack_from(">I", content, chunks[b"OIDF"] + 255 * 4)
    for number in range(count):
        struct.pack_into(">II", content, chunks[b"CDAT"] + 36 * number + 20, 0x70000000, 0x70000000)
    file.write_bytes(content)


def bitmap_that_lies(folder: Path) -> None:
    """Flip bits of the bitmap until git believes another size; nothing checks its checksum."""
    file = only(folder, "objects/pack/*.bitmap")
    sound = file.read_bytes()
    query = [GIT, "--git-dir", folder, "rev-list", "--all", "--objects", "--disk-usage", "--use-bitmap-index"]
    expected = subprocess.run(query, env=clean_environment(), capture_output=True, check=True).stdout
    for offset in range(len(sound) - 24, 32, -1):
        for bit in (1, 16):
            content = bytearray(sound)
            content[offset] ^= bit
            file.write_bytes(content)
            answer = subprocess.run(query, env=clean_environment(), capture_output=True, check=False)
            if answer.returncode == 0 and answer.stdout.strip().isdigit() and answer.stdout != expected:
                return
    raise AssertionError("no flipped bit makes git answer wrongly")


def with_multi_pack_index(damage: Damage) -> Damage:
    def planted(folder: Path) -> None:
        GitRepository(folder).git("multi-pack-index", "write")
        damage(folder)

    return planted


def empty_pairs(folder: Path) -> None:
    for number in range(1500):
        for suffix in ("pack", "idx"):
            (folder / "objects" / "pack" / f"pack-{number:040x}.{suffix}").touch()


def junk(folder: Path) -> None:
    for number in range(20_000):
        (folder / "objects" / "pack" / f"junk{number}").touch()


def tip_in(name: str) -> Damage:
    """Name the tip in a file that makes git believe that it has no parents."""
    return lambda folder: text(name, GitRepository(folder).git("rev-parse", "refs/heads/main") + "\n")(folder)


def alternates(content: str) -> Damage:
    return text("objects/info/alternates", content)


def objects_gone(folder: Path) -> None:
    shutil.rmtree(folder / "objects")
    (folder / "objects").mkdir()


def everything_gone(folder: Path) -> None:
    for name in ("objects", "refs"):
        shutil.rmtree(folder / name)
        (folder / name).mkdir()
    (folder / "packed-refs").unlink()


def included_fifo(folder: Path) -> None:
    os.mkfifo(folder / "included")
    with (folder / "config").open("a") as config:
        config.write("[include]\n\tpath = included\n")


def loose_zero_length(folder: Path) -> None:
    """What a power loss leaves: the tip's own object is empty."""
    for file in folder.glob("objects/??/*"):
        file.chmod(0o644)
        os.truncate(file, 0)


def loose_giant_header(folder: Path) -> None:
    path = folder / LOOSE_OBJECT
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(zlib.compress(b"blob %d\0" % 2**60))


def config_text(content: str) -> Damage:
    def damage(folder: Path) -> None:
        with (folder / "config").open("a") as config:
            config.write(content)

    return damage


LOOSE_OBJECT = "objects/0f/" + "e" * 38

HANGING: dict[str, Damage] = {
    **{
        f"FIFO as {name}": fifo(name)
        for name in (
            "HEAD",
            "config",
            "config.worktree",
            "packed-refs",
            "refs/heads/main",
            "refs/heads/new",
            "commondir",
            "shallow",
            "refs",
            "objects/info/alternates",
            "objects/info/commit-graph",
            "objects/info/commit-graphs/commit-graph-chain",
            "objects/pack/multi-pack-index",
            "objects/pack/*.idx",
            "objects/pack/*.pack",
            "objects/pack/*.bitmap",
            "objects/pack/*.rev",
            "objects/pack/x.keep",
            "objects/pack/pack-" + "1" * 40 + ".idx",
            LOOSE_OBJECT,
            "gc.log",
            "gc.pid",
            "index",
            "packed-refs.lock",
            "worktrees/w/gitdir",
            "worktrees/w/HEAD",
        )
    },
    "FIFO as included file": included_fifo,
    **{
        f"/dev/zero as {name}": endless(name)
        for name in (
            "HEAD",
            "config",
            "packed-refs",
            "refs/heads/new",
            "commondir",
            "shallow",
            "objects/info/alternates",
            "objects/info/commit-graph",
            "objects/pack/multi-pack-index",
            "objects/pack/*.idx",
            LOOSE_OBJECT,
        )
    },
    **{
        f"1 GiB as {name}": giant(name)
        for name in (
            "HEAD",
            "config",
            "packed-refs",
            "refs/heads/new",
            "commondir",
            "shallow",
            "objects/info/alternates",
            "objects/pack/multi-pack-index",
            "objects/info/commit-graph",
            "objects/pack/pack-" + "1" * 40 + ".idx",
        )
    },
}

INDEX = "objects/pack/*.idx"
PACK = "objects/pack/*.pack"
BITMAP = "objects/pack/*.bitmap"
GRAPH = "objects/info/commit-graph"
MIDX = "objects/pack/multi-pack-index"
HUGE = b"\xff\xff\xff\xff"

LYING: dict[str, Damage] = {
    "index truncated": cut(INDEX, 600),
    "index empty": cut(INDEX, 0),
    "index with bad magic": patch(INDEX, 0, b"XXXX"),
    "index version 99": patch(INDEX, 4, struct.pack(">I", 99)),
    "index with decreasing fan-out": patch(INDEX, 8, HUGE),
    "index with 4294967295 objects": patch(INDEX, 8 + 255 * 4, HUGE),
    "index with all offsets beyond the pack": index_offsets(0x7FFFFFFF),
    "index with large offsets and no table": index_offsets(0x80000000),
    "index with zeroed names": index_names_zeroed,
    "pack truncated": cut(PACK, 100),
    "pack empty": cut(PACK, 0),
    "pack with bad magic": patch(PACK, 0, b"XXXX"),
    "pack with 4294967295 objects": patch(PACK, 8, HUGE),
    "pack with a flipped byte": flip_in_pack,
    "index without pack": remove(PACK),
    "pack without index": remove(INDEX),
    "bitmap truncated": cut(BITMAP, 50),
    "bitmap empty": cut(BITMAP, 0),
    "bitmap with bad magic": patch(BITMAP, 0, b"XXXX"),
    "bitmap version 9": patch(BITMAP, 4, struct.pack(">H", 9)),
    "bitmap with unknown flags": patch(BITMAP, 6, struct.pack(">H", 0xFFFF)),
    "bitmap with 4294967295 entries": patch(BITMAP, 8, HUGE),
    "bitmap with 4294967295 words": patch(BITMAP, 36, HUGE),
    "bitmap that lies": bitmap_that_lies,
    "multi-pack-index truncated": with_multi_pack_index(cut(MIDX, 40)),
    "multi-pack-index with bad magic": with_multi_pack_index(patch(MIDX, 0, b"XXXX")),
    "multi-pack-index version 9": with_multi_pack_index(patch(MIDX, 4, b"\x09")),
    "multi-pack-index with another hash": with_multi_pack_index(patch(MIDX, 5, b"\x02")),
    "multi-pack-index with 255 chunks": with_multi_pack_index(patch(MIDX, 6, b"\xff")),
    "multi-pack-index with 4294967295 packs": with_multi_pack_index(patch(MIDX, 8, HUGE)),
    "multi-pack-index that names a deleted pack": with_multi_pack_index(remove(PACK)),
    "commit-graph truncated": cut(GRAPH, 60),
    "commit-graph with bad magic": patch(GRAPH, 0, b"XXXX"),
    "commit-graph version 9": patch(GRAPH, 4, b"\x09"),
    "commit-graph that lies about parents": commit_graph_without_parents,
    "loose objects of no length": loose_zero_length,
    "loose object with a huge header": loose_giant_header,
    "1500 empty packs with indexes": empty_pairs,
    "20000 junk files": junk,
    "pack gone with its index": both(remove(PACK), remove(INDEX)),
    "all objects gone": objects_gone,
    "everything gone": everything_gone,
    "HEAD empty": text("HEAD", ""),
    "HEAD garbage": text("HEAD", b"\x00\xff garbage"),
    "HEAD missing": remove("HEAD"),
    "HEAD to itself": text("HEAD", "ref: HEAD\n"),
    "HEAD out of refs": text("HEAD", "ref: ../../etc/passwd\n"),
    "HEAD in a loop": both(text("HEAD", "ref: refs/x\n"), text("refs/x", "ref: HEAD\n")),
    "HEAD unborn": text("HEAD", "ref: refs/heads/unborn\n"),
    "HEAD at a missing object": text("HEAD", "1" * 40 + "\n"),
    "packed-refs garbage": text("packed-refs", b"\x00\xff garbage\n"),
    "packed-refs with conflict markers": text("packed-refs", "<<<<<<< ours\n=======\n>>>>>>>\n"),
    "packed-refs cut in a line": cut("packed-refs", 70),
    "packed-refs with a dangerous name": text("packed-refs", "1" * 40 + " refs/../../x\n"),
    "reference empty": text("refs/heads/new", ""),
    "reference of NULs": text("refs/heads/new", bytes(41)),
    "reference garbage": text("refs/heads/new", b"\xff garbage"),
    "reference to a missing object": text("refs/heads/new", "1" * 40 + "\n"),
    "reference that is a link to a file": link_to("refs/heads/new", "/etc/passwd"),
    "reference names with escapes": both(
        *(text(f"refs/heads/{name}", "1" * 40 + "\n") for name in ("a\x1b[31m", "-x", "x.lock", "a b", "[/]"))
    ),
    "config with a syntax error": config_text("[core\n"),
    "config with a bad boolean": config_text("[core]\n\tbare = maybe\n"),
    "config with a bad level": config_text("[core]\n\tcompression = 99\n"),
    "config that includes itself": config_text("[include]\n\tpath = config\n"),
    "config that includes a device": config_text("[include]\n\tpath = /dev/zero\n"),
    "config missing": remove("config"),
    "config version 99": config_text("[core]\n\trepositoryformatversion = 99\n"),
    "config with an unknown extension": config_text("[core]\n\trepositoryformatversion = 1\n[extensions]\n\tnew = x\n"),
    "config that lies about the hash": config_text(
        "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tobjectFormat = sha256\n"
    ),
    "alternates to itself": alternates("../objects\n"),
    "alternates to nowhere": alternates("/nonexistent/objects\n"),
    "alternates with CRLF": alternates("/nonexistent/objects\r\n"),
    "20000 bad alternates": alternates("".join(f"/nonexistent/{number}\n" for number in range(20_000))),
    "grafts that cut history": tip_in("info/grafts"),
    "shallow at the tip": tip_in("shallow"),
    "shallow garbage": text("shallow", "garbage\n"),
}
