"""Recorded mount tables, and what their types and options mean for git by the manual pages."""

from types import SimpleNamespace

import pytest

from gitdash.inspection.mounts import Mount, mount_of, parse_mounts
from gitdash.lab.mount_options import Absence, meaning_of
from gitdash.lab.mounts import Place, filesystem_name, mounts_of_partitions

# ruff: noqa: E501
SERVER = rb"""
22 1 259:1 / / rw,relatime shared:1 - ext4 /dev/nvme0n1p1 rw,discard,errors=remount-ro
23 22 0:21 / /proc rw,nosuid,nodev,noexec,relatime shared:12 - proc proc rw
24 22 0:24 / /dev/shm rw,nosuid,nodev shared:3 - tmpfs tmpfs rw,inode64
98 22 0:50 / /srv/git rw,relatime shared:40 - nfs4 nas-1:/export/git rw,vers=4.2,rsize=1048576,wsize=1048576,namlen=255,hard,proto=tcp,nconnect=8,timeo=600,retrans=2,sec=sys,clientaddr=10.0.0.7,local_lock=none,addr=10.0.0.2
99 22 0:51 / /srv/pos rw,noatime shared:41 - nfs nas-1:/export/pos rw,vers=3,rsize=65536,wsize=65536,namlen=255,acregmin=3,acregmax=60,acdirmin=5,acdirmax=10,soft,nocto,proto=tcp,timeo=100,retrans=1,sec=sys,mountaddr=10.0.0.2,mountvers=3,mountport=20048,mountproto=tcp,lookupcache=pos,local_lock=none,addr=10.0.0.2
100 22 0:52 / /srv/none rw,sync,relatime shared:42 - nfs4 nas-1:/export/none rw,sync,vers=4.1,acregmin=0,acregmax=0,acdirmin=0,acdirmax=0,hard,noac,proto=tcp,lookupcache=none,addr=10.0.0.2
101 22 0:53 / /srv/efs rw,relatime shared:43 - nfs4 fs-0a1b2c3d4e5f60718.efs.eu-west-1.amazonaws.com:/ rw,vers=4.1,rsize=1048576,wsize=1048576,namlen=255,hard,noresvport,proto=tcp,timeo=600,retrans=2,sec=sys,clientaddr=172.31.5.9,local_lock=none,addr=172.31.8.4
102 22 0:54 / /srv/tls rw,relatime shared:44 - nfs4 127.0.0.1:/ rw,vers=4.1,rsize=1048576,hard,noresvport,proto=tcp,port=20449,timeo=600,retrans=2,sec=sys,clientaddr=127.0.0.1,local_lock=none,addr=127.0.0.1
103 22 0:55 / /srv/smb rw,relatime shared:45 - cifs //files.example.com/git rw,vers=3.1.1,cache=strict,username=git,uid=0,noforceuid,gid=0,noforcegid,addr=10.0.0.3,file_mode=0755,dir_mode=0755,soft,nounix,serverino,mapposix,rsize=4194304,wsize=4194304,bsize=1048576,echo_interval=60,actimeo=1
104 22 0:56 / /srv/ssh rw,nosuid,nodev,relatime shared:46 - fuse.sshfs git@host:/srv rw,user_id=1000,group_id=1000
105 22 0:57 / /srv/with\040space\134 rw,relatime shared:47 - xfs /dev/sdb1 rw,attr2,inode64,logbufs=8,noquota
106 22 0:58 / /srv/ceph rw,relatime shared:48 - ceph 10.0.0.4:6789:/ rw,name=git,secret=<hidden>,acl,nodcache
"""
CONTAINER = rb"""
600 500 0:70 / / rw,relatime master:1 - overlay overlay rw,lowerdir=/var/lib/o/l/A:/var/lib/o/l/B:/var/lib/o/l/C,upperdir=/var/lib/o/up,workdir=/var/lib/o/work,volatile
601 600 0:71 / /host rw,relatime - 9p drvfs rw,dirsync,aname=drvfs;path=C:\,cache=mmap,access=client,msize=65536,trans=fd
602 600 0:72 / /fast rw,relatime - 9p share rw,cache=loose,access=client,trans=virtio
603 600 0:73 / /data rw,noatime - btrfs /dev/vdb rw,compress=zstd:3,space_cache=v2,subvolid=5,subvol=/
604 600 0:74 / /tank rw,noatime - zfs tank/git rw,xattr,noacl
605 600 0:75 / /tank/over rw,relatime - tmpfs tmpfs rw
606 600 0:76 / /tank/over rw,relatime - ext4 /dev/vdc ro,nobarrier,data=writeback
607 600 0:77 / /odd rw - newfs dev rw
"""


def mount_at(path: bytes, table: bytes = SERVER) -> Mount:
    found = mount_of(path, parse_mounts(table))
    assert found is not None
    return found


def subjects(mount: Mount) -> dict[str, str]:
    return {meaning.subject: meaning.sentence for meaning in meaning_of(mount).meanings}


def test_longest_mount_point_holds_the_path_and_only_whole_names_count():
    assert mount_at(b"/srv/git/a.git").type_name == "nfs4"
    assert mount_at(b"/srv/git").type_name == "nfs4"
    assert mount_at(b"/srv/gitea/a.git").type_name == "ext4"
    assert mount_at(b"/").type_name == "ext4"


def test_of_two_mounts_on_one_point_the_later_counts():
    assert mount_at(b"/tank/over/a.git", CONTAINER).type_name == "ext4"


def test_escapes_of_the_table_are_undone():
    assert mount_at(b"/srv/with space\\/a.git").type_name == "xfs"


def test_lines_that_are_no_mounts_are_left_out():
    assert parse_mounts(b"rubbish\n1 2 3\n- \n22 1 0:1 / /x rw - ext4\n\xff\xfe - a b c\n") == ()


def test_names_of_a_hostile_table_are_printable():
    (mount,) = parse_mounts(b"1 2 0:1 / /x rw - fuse.\x1b[2J \x1b]0;x\x07 rw,a\x1b=b\n")
    assert mount.type_name.isprintable()
    assert mount.source.isprintable()
    assert all(meaning.subject.isprintable() for meaning in meaning_of(mount).meanings)


@pytest.mark.parametrize(
    ("path", "table", "place", "absence"),
    [
        (b"/home", SERVER, Place.LOCAL, Absence.REMEMBERED),
        (b"/dev/shm/x", SERVER, Place.MEMORY, Absence.REMEMBERED),
        (b"/srv/git", SERVER, Place.NETWORK, Absence.REMEMBERED),
        (b"/srv/pos", SERVER, Place.NETWORK, Absence.ASKED_AGAIN),
        (b"/srv/none", SERVER, Place.NETWORK, Absence.ASKED_AGAIN),
        (b"/srv/smb", SERVER, Place.NETWORK, Absence.UNKNOWN),
        (b"/srv/ssh", SERVER, Place.PROGRAM, Absence.UNKNOWN),
        (b"/srv/ceph", SERVER, Place.NETWORK, Absence.UNKNOWN),
        (b"/", CONTAINER, Place.LAYERS, Absence.UNKNOWN),
        (b"/host", CONTAINER, Place.HOST, Absence.ASKED_AGAIN),
        (b"/fast", CONTAINER, Place.HOST, Absence.UNKNOWN),
        (b"/data", CONTAINER, Place.LOCAL, Absence.REMEMBERED),
        (b"/tank", CONTAINER, Place.LOCAL, Absence.REMEMBERED),
        (b"/odd", CONTAINER, Place.UNKNOWN, Absence.UNKNOWN),
    ],
)
def test_table_says_where_files_are_and_whether_absence_is_remembered(path, table, place, absence):
    meaning = meaning_of(mount_at(path, table))
    assert (meaning.place, meaning.absence) == (place, absence)


def test_every_sentence_of_every_recorded_mount_names_its_page():
    for mount in parse_mounts(SERVER) + parse_mounts(CONTAINER):
        for meaning in meaning_of(mount).meanings:
            assert meaning.sentence
            assert "(" in meaning.source or "documentation" in meaning.source or "guide" in meaning.source


def test_nfs_defaults_are_said_as_defaults():
    said = subjects(mount_at(b"/srv/git"))
    assert "both remembered" in said["lookupcache=all, the default"]
    assert "30 s, up to 60 s" in said["acdirmin=30,acdirmax=60, the defaults"]
    assert "8 connections" in said["nconnect=8"]
    assert {"hard", "vers=4.2"} <= set(said)


def test_nfs_options_that_are_given_are_said_with_their_values():
    said = subjects(mount_at(b"/srv/pos"))
    assert "asked for again each time" in said["lookupcache=pos"]
    assert "5 s, up to 10 s" in said["acregmin=3,acregmax=60,acdirmin=5,acdirmax=10"]
    assert {"soft", "nocto", "vers=3"} <= set(said)


def test_an_option_of_nfs_is_said_once_whether_it_is_for_reading_only_or_not():
    for options in ("ro", "rw"):
        table = f"98 22 0:50 / /srv/git rw - nfs4 nas-1:/git {options},sync,vers=4.2,hard\n".encode()
        said = [(meaning.subject, meaning.source) for meaning in meaning_of(mount_at(b"/srv/git", table)).meanings]
        assert [one for one in said if one[0] == "sync"] == [("sync", "nfs(5)")]
        assert (("ro", "mount(8)") in said) == (options == "ro")


def test_noac_and_lookupcache_none_remember_nothing():
    said = subjects(mount_at(b"/srv/none"))
    assert "nothing is remembered" in said["lookupcache=none"]
    assert "every write waits" in said["noac,acregmin=0,acregmax=0,acdirmin=0,acdirmax=0"]


@pytest.mark.parametrize("option", ["actimeo=0", "noac", "acdirmin=0,acdirmax=0"])
def test_attributes_that_count_for_nothing_make_absence_asked_again(option):
    mounts = parse_mounts(b"1 2 0:1 / /x rw - nfs4 nas:/x rw,vers=4.2," + option.encode() + b"\n")
    assert meaning_of(mounts[0]).absence is Absence.ASKED_AGAIN


def test_efs_is_known_by_its_server_and_a_tunnel_by_its_port():
    assert filesystem_name(mount_at(b"/srv/efs")) == "Amazon EFS (nfs4)"
    assert "tunnel" in filesystem_name(mount_at(b"/srv/tls"))
    assert filesystem_name(mount_at(b"/srv/git")) == "NFS version 4 (nfs4)"


def test_smb_says_how_long_attributes_count():
    said = subjects(mount_at(b"/srv/smb"))
    assert "1 s" in said["actimeo=1"]
    assert {"cache=strict", "soft", "nounix"} <= set(said)


def test_fuse_says_that_the_table_does_not_have_its_timeouts():
    assert "measure it" in subjects(mount_at(b"/srv/ssh"))["negative_timeout"]


def test_overlay_counts_its_layers_and_warns_of_volatile():
    said = subjects(mount_at(b"/", CONTAINER))
    assert "4 layers" in said["lowerdir"]
    assert "damaged" in said["volatile"]


def test_options_that_weaken_a_flush_are_said():
    assert {"ro", "nobarrier", "data=writeback"} <= set(subjects(mount_at(b"/tank/over", CONTAINER)))


def test_partitions_of_psutil_read_like_a_table():
    partition = SimpleNamespace(device="nas:/x", mountpoint="/Volumes/git", fstype="nfs", opts="rw,lookupcache=pos")
    mounts = mounts_of_partitions([partition])
    found = mount_of(b"/Volumes/git/a.git", mounts)
    assert found is not None
    assert meaning_of(found).absence is Absence.ASKED_AGAIN
