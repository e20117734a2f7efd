"""What the type and the options of a mount mean for git. Pure; each sentence names the page that it follows.

git asks a store for names that are mostly not there (a loose object before it is written, `.lock`, `.keep`, alternates,
packed references), and it writes a file, flushes it, and renames it. So what counts is whether absence is remembered,
what a look-up costs, and what a flush is worth. A mount table leaves out some of this: then a sentence says that only
measuring tells, which `filesystem` does.
"""

import enum
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from gitdash.inspection.mounts import Mount
from gitdash.lab.mounts import Place, filesystem_name, is_efs, is_tunnelled, place_of

_DEFAULT_FOLDER_S: Final = 30
"""acdirmin of nfs(5): how long what is known of a folder counts at least."""
_DEFAULT_FOLDER_LONGEST_S: Final = 60
_NFS_FAMILY: Final = frozenset({"nfs", "nfs4", "efs"})
_SMB_FAMILY: Final = frozenset({"cifs", "smb3", "smbfs"})


class Absence(enum.StrEnum):
    """Whether a name that was not there is asked for again."""

    REMEMBERED = "remembered"
    """Until the folder changes, or for as long as what is known of it counts."""
    ASKED_AGAIN = "asked again"
    UNKNOWN = "unknown"
    """The table does not say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Meaning:
    """One thing that a mount table says."""

    subject: str
    """A type or an option as the table has it, or the name of an option that is at its default."""
    sentence: str
    source: str
    """The page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MountMeaning:
    """What a mount means for git."""

    name: str
    """Of the file system, for people."""
    place: Place
    absence: Absence
    meanings: tuple[Meaning, ...]


def meaning_of(mount: Mount) -> MountMeaning:
    """Say what a mount means for git, the type first, then options by their weight."""
    place = place_of(mount)
    meanings = [_of_type(mount, place), *_of_service(mount)]
    for reader in _READERS:
        meanings.extend(reader(mount))
    return MountMeaning(
        name=filesystem_name(mount), place=place, absence=_absence(mount, place), meanings=tuple(meanings)
    )


def _absence(mount: Mount, place: Place) -> Absence:
    if mount.type_name in _NFS_FAMILY:
        is_forgotten = mount.value_of("lookupcache") in {"pos", "positive", "none"} or _folder_seconds(mount) == (0, 0)
        return Absence.ASKED_AGAIN if is_forgotten else Absence.REMEMBERED
    if mount.type_name == "9p" and mount.value_of("cache") in {None, "none", "0", "mmap"}:
        return Absence.ASKED_AGAIN
    return Absence.REMEMBERED if place in {Place.LOCAL, Place.MEMORY} else Absence.UNKNOWN


def _folder_seconds(mount: Mount) -> tuple[int, int]:
    """Return how long what is known of a folder counts, at least and at most; nfs(5)."""
    if mount.value_of("noac") is not None:
        return 0, 0
    both = mount.value_of("actimeo")
    least, most = (both or mount.value_of(name) for name in ("acdirmin", "acdirmax"))
    return _seconds(least, _DEFAULT_FOLDER_S), _seconds(most, _DEFAULT_FOLDER_LONGEST_S)


def _seconds(value: str | None, default: int) -> int:
    return int(value) if value is not None and value.isascii() and value.isdecimal() else default


def _of_type(mount: Mount, place: Place) -> Meaning:
    sentence, source = _TYPES.get(mount.type_name) or _PLACES[place]
    return Meaning(subject=mount.type_name, sentence=sentence, source=source)


def _of_service(mount: Mount) -> list[Meaning]:
    if not (is_efs(mount) or is_tunnelled(mount)):
        return []
    sentence = (
        "a service over the network: each look-up that is not remembered, and each flush, waits for it, often for some"
        " ms, so git's many small steps cost far more than its bytes"
    )
    return [Meaning(subject=mount.source, sentence=sentence, source="Amazon EFS user guide, performance")]


def _of_nfs(mount: Mount) -> list[Meaning]:
    if mount.type_name not in _NFS_FAMILY:
        return []
    meanings = [_lookup_cache(mount), _attribute_cache(mount)]
    meanings.extend(_chosen(mount, _NFS_OPTIONS, "nfs(5)"))
    return meanings + _connections(mount) + _version(mount)


def _lookup_cache(mount: Mount) -> Meaning:
    value = mount.value_of("lookupcache")
    subject = f"lookupcache={value}" if value else "lookupcache=all, the default"
    sentence = _LOOKUP_CACHE["pos" if value == "positive" else value or "all"] if value in _LOOKUP_KNOWN else _NOT_KNOWN
    return Meaning(subject=subject, sentence=sentence, source="nfs(5)")


def _attribute_cache(mount: Mount) -> Meaning:
    least, most = _folder_seconds(mount)
    given = [
        name if mount.value_of(name) == "" else f"{name}={mount.value_of(name)}"
        for name in ("noac", "actimeo", "acregmin", "acregmax", "acdirmin", "acdirmax")
        if mount.value_of(name) is not None
    ]
    subject = ",".join(given) or f"acdirmin={least},acdirmax={most}, the defaults"
    if mount.value_of("noac") is not None:
        sentence = (
            "nothing that is known of a file or folder counts for the next look, and every write waits for the server:"
            " git asks the server at each step"
        )
    elif most == 0:
        sentence = "what is known of a folder counts for nothing, so every look-up asks the server again"
    else:
        sentence = (
            f"what is known of a folder, absent names too, counts for {least} s, up to {most} s if it stays unchanged;"
            " what another machine writes may go unseen for as long"
        )
    return Meaning(subject=subject, sentence=sentence, source="nfs(5)")


def _connections(mount: Mount) -> list[Meaning]:
    count = mount.value_of("nconnect")
    if count is None:
        return []
    sentence = (
        f"{count} connections share the requests: more bytes a second for large packs; a look-up waits as long as"
        " before, for git asks for one name after the other"
    )
    return [Meaning(subject=f"nconnect={count}", sentence=sentence, source="nfs(5)")]


def _version(mount: Mount) -> list[Meaning]:
    version = mount.value_of("vers") or mount.value_of("nfsvers")
    if version is None:
        return []
    if version.startswith("4"):
        sentence = "opening and closing a file are requests of their own, so a small loose object costs several"
    else:
        sentence = "a look-up is one request, opening none of its own; a file is asked about again when it is opened"
    return [Meaning(subject=f"vers={version}", sentence=sentence, source="nfs(5)")]


def _of_smb(mount: Mount) -> list[Meaning]:
    if mount.type_name not in _SMB_FAMILY:
        return []
    seconds = mount.value_of("actimeo") or mount.value_of("acdirmax")
    subject = f"actimeo={seconds}" if seconds else "actimeo=1, the default"
    sentence = (
        f"what is known of a file or folder counts for {seconds or 1} s; how long absence is remembered mount.cifs(8)"
        " does not say, so measure it"
    )
    return [
        Meaning(subject=subject, sentence=sentence, source="mount.cifs(8)"),
        *_chosen(mount, _SMB_OPTIONS, "mount.cifs(8)"),
    ]


def _of_fuse(mount: Mount) -> list[Meaning]:
    if place_of(mount) is not Place.PROGRAM:
        return []
    sentence = (
        "negative_timeout is how long absence is remembered, by default not at all; programs keep it to themselves, so"
        " the mount table does not have it: measure it"
    )
    return [Meaning(subject="negative_timeout", sentence=sentence, source="mount.fuse3(8)")]


def _of_layers(mount: Mount) -> list[Meaning]:
    if mount.type_name != "overlay":
        return []
    lower = mount.value_of("lowerdir")
    meanings = _chosen(mount, _OVERLAY_OPTIONS, "kernel documentation, overlayfs")
    if lower:
        layers = len(lower.split(":")) + (mount.value_of("upperdir") is not None)
        sentence = f"a name that is not there is looked for in each of {layers} layers the first time"
        meanings.insert(0, Meaning(subject="lowerdir", sentence=sentence, source="kernel documentation, overlayfs"))
    return meanings


def _of_9p(mount: Mount) -> list[Meaning]:
    if mount.type_name != "9p":
        return []
    value = mount.value_of("cache")
    subject = f"cache={value}" if value else "cache=none, the default"
    if _absence(mount, Place.HOST) is Absence.ASKED_AGAIN:
        sentence = "nothing is kept here: each look-up, present or absent, asks the host again"
    else:
        sentence = "what was seen is kept without asking the host again; what the host writes may go unseen"
    return [Meaning(subject=subject, sentence=sentence, source="kernel documentation, v9fs")]


def _of_ceph(mount: Mount) -> list[Meaning]:
    return _chosen(mount, _CEPH_OPTIONS, "mount.ceph(8)") if mount.type_name == "ceph" else []


def _of_any(mount: Mount) -> list[Meaning]:
    # of a flush over NFS nfs(5) speaks
    is_nfs = mount.type_name in _NFS_FAMILY
    return _chosen(mount, {"ro": _ANY_OPTIONS["ro"]} if is_nfs else _ANY_OPTIONS, "mount(8)")


def _chosen(mount: Mount, sentences: dict[str, str], source: str) -> list[Meaning]:
    given = [(name, value) for name, value in mount.options if name in sentences or f"{name}={value}" in sentences]
    return [
        Meaning(subject=subject, sentence=sentences.get(subject) or sentences[name], source=source)
        for name, value in given
        for subject in (name if value is None else f"{name}={value}",)
    ]


_READERS: Final[tuple[Callable[[Mount], list[Meaning]], ...]] = (
    _of_nfs,
    _of_smb,
    _of_fuse,
    _of_layers,
    _of_9p,
    _of_ceph,
    _of_any,
)
_KERNEL: Final = "path_resolution(7)"
_PLACES: Final = {
    Place.LOCAL: ("a local file system: the kernel remembers names and absence, a look-up costs some µs", _KERNEL),
    Place.MEMORY: ("files in memory: look-ups cost some µs, flushing nothing, and a restart loses all", "tmpfs(5)"),
    Place.NETWORK: ("files on a server: what is not remembered here costs a round trip for each look-up", _KERNEL),
    Place.PROGRAM: ("a program answers: each look-up that the kernel does not remember goes to it and back", "fuse(4)"),
    Place.LAYERS: ("layers of other file systems: what is in a lower one is copied up when it is written", "mount(8)"),
    Place.HOST: ("a folder of the host: what is not remembered here crosses to the host for each look-up", "mount(8)"),
    Place.UNKNOWN: ("this type is not known to gitdash: what its look-ups cost only measuring tells", "mount(8)"),
}
_TYPES: Final = {
    "btrfs": (
        "copy on write: a look-up costs some µs, and flushing each of many small files goes through a log, so one pack"
        " is cheaper than loose objects; packs are compressed already",
        "btrfs(5)",
    ),
    "zfs": (
        "copy on write: a look-up costs some µs; flushing waits for the intent log, and whether it does (`sync`) is a"
        " property of the data set that the mount table does not have",
        "zfsprops(7)",
    ),
    "overlay": (
        "layers: a name that was not there is remembered as the layers allow; a pack of a lower layer that is written"
        " to or linked is copied up whole first",
        "kernel documentation, overlayfs",
    ),
    "cifs": (
        "files on an SMB server: what is not remembered here costs a round trip, and names may differ in case only",
        "mount.cifs(8)",
    ),
    "vfat": (
        "no hard links and no modes: git's links become copies, look-ups read folders from end to end",
        "mount(8)",
    ),
    "exfat": (
        "no hard links and no modes: git's links become copies, look-ups read folders from end to end",
        "mount(8)",
    ),
}
_NOT_KNOWN: Final = "this value is not in the manual page; measure what it does"
_LOOKUP_CACHE: Final = {
    "all": "names that are there and names that are not are both remembered, so asking again for an absent object costs"
    " nothing until the folder changes or its attributes expire",
    "pos": "names that are not there are asked for again each time: every check for an object that is not stored yet"
    " costs a round trip",
    "none": "nothing is remembered, names that are there neither: every part of every path costs a round trip",
}
_LOOKUP_KNOWN: Final = frozenset({None, "positive", *_LOOKUP_CACHE})
_NFS_OPTIONS: Final = {
    "hard": "a server that does not answer is waited for without end; git cannot be stopped meanwhile but by SIGKILL",
    "soft": "a server that does not answer in time makes reads and writes fail: git takes what it cannot read for"
    " damage, and a write may be lost",
    "softerr": "as soft, with an error that says that time ran out",
    "softreval": "what is remembered of folders goes on to count while the server does not answer",
    "nocto": "a file is not asked about again when it is opened: fewer requests, and what others wrote may go unseen,"
    " references too",
    "sync": "each write waits for the server instead of the flush at the end",
    "fsc": "what was read is kept on a local disk; look-ups are not",
    "nordirplus": "reading a folder does not bring attributes, so each file of it is asked for on its own",
    "nolock": "locks hold on this machine only; git's own lock files work without them",
    "local_lock=all": "locks hold on this machine only; git's own lock files work without them",
}
_SMB_OPTIONS: Final = {
    "cache=none": "nothing is kept here: each look-up asks the server again",
    "cache=strict": "what was read is kept only while the server has granted that nobody else writes",
    "cache=loose": "what was read is kept although others may write: fast, and wrong with more than one machine",
    "hard": "a server that does not answer is waited for without end",
    "soft": "a server that does not answer makes calls fail, which git takes for damage",
    "nobrl": "locks of byte ranges hold on this machine only; git's own lock files work without them",
    "nounix": "no hard links and no modes from the server",
}
_OVERLAY_OPTIONS: Final = {
    "volatile": "nothing is ever flushed: after a crash a repository in it may be damaged",
    "index=off": "a file with several links is no longer linked once it is copied up",
    "nfs_export=on": "each look-up checks where a file came from, too",
}
_CEPH_OPTIONS: Final = {
    "dcache": "absence is known without asking while the whole folder is known",
    "nodcache": "absence is asked for again even if the whole folder is known",
}
_ANY_OPTIONS: Final = {
    "ro": "mounted for reading only: nothing can be fetched or repacked here",
    "sync": "each write waits for the disk: a fetch that unpacks waits for every object",
    "dirsync": "each new name waits for the disk: a fetch that unpacks waits for every object",
    "strictatime": "reading writes the time of reading, for packs at each read",
    "nobarrier": "a flush does not reach past the cache of the disk: a power cut may damage what git took for stored",
    "barrier=0": "a flush does not reach past the cache of the disk: a power cut may damage what git took for stored",
    "data=writeback": "after a crash a file may have its new size and old content unless it was flushed",
    "lazytime": "times of files reach the disk late: after a crash ages of loose objects may be too old",
}
