"""The file system of `fuse_mount`: `python fuse_pass_through.py BACKING MOUNT_POINT RECORD DELAY_S NEGATIVE_TIMEOUT_S`.

Each look-up is a line of RECORD, `1 path` or `0 path` by whether it was there. It unmounts itself at the end of stdin.
Source: libfuse's fuse_operations. One thread, so that lines and calls have one order.
"""

import errno
import os
import shutil
import subprocess
import sys
import threading
import time

import mfusepy


class PassThrough(mfusepy.Operations):
    """Does below `backing` what is asked for, and notes what `getattr` finds, which is what a look-up becomes."""

    use_ns = True

    def __init__(self, backing: str, record: int, delay_s: float) -> None:
        self._backing = backing
        self._record = record
        self._delay_s = delay_s

    def _path(self, path: str) -> str:
        return self._backing + path

    def getattr(self, path, fh=None):
        time.sleep(self._delay_s)
        try:
            found = os.lstat(self._path(path))
        except OSError as error:
            os.write(self._record, b"0 " + os.fsencode(path.lstrip("/")) + b"\n")
            raise mfusepy.FuseOSError(error.errno or errno.EIO) from error
        os.write(self._record, b"1 " + os.fsencode(path.lstrip("/")) + b"\n")
        names = ("st_mode", "st_nlink", "st_size", "st_uid", "st_gid")
        times = {f"st_{kind}time": getattr(found, f"st_{kind}time_ns") for kind in "amc"}
        return {name: getattr(found, name) for name in names} | times

    def access(self, path, amode):
        return 0 if os.access(self._path(path), amode) else -errno.EACCES

    def readdir(self, path, fh):
        return [".", "..", *os.listdir(self._path(path))]

    def mkdir(self, path, mode):
        os.mkdir(self._path(path), mode)
        return 0

    def rmdir(self, path):
        os.rmdir(self._path(path))
        return 0

    def unlink(self, path):
        os.unlink(self._path(path))
        return 0

    def rename(self, old, new):
        os.rename(self._path(old), self._path(new))
        return 0

    def link(self, target, source):
        os.link(self._path(source), self._path(target))
        return 0

    def symlink(self, target, source):
        os.symlink(source, self._path(target))
        return 0

    def readlink(self, path):
        return os.readlink(self._path(path))

    def chmod(self, path, mode):
        os.chmod(self._path(path), mode)
        return 0

    def chown(self, path, uid, gid):
        os.lchown(self._path(path), uid, gid)
        return 0

    def utimens(self, path, times=None):
        os.utime(self._path(path), ns=times, follow_symlinks=False)
        return 0

    def open(self, path, flags):
        return os.open(self._path(path), flags)

    def create(self, path, mode, fi=None):
        return os.open(self._path(path), os.O_RDWR | os.O_CREAT | os.O_EXCL, mode)

    def read(self, path, size, offset, fh):
        return os.pread(fh, size, offset)

    def write(self, path, data, offset, fh):
        return os.pwrite(fh, data, offset)

    def truncate(self, path, length, fh=None):
        os.truncate(self._path(path), length)
        return 0

    def fsync(self, path, datasync, fh):
        os.fsync(fh)
        return 0

    def release(self, path, fh):
        os.close(fh)
        return 0

    def statfs(self, path):
        found = os.statvfs(self._path(path))
        names = ("f_bsize", "f_frsize", "f_blocks", "f_bfree", "f_bavail", "f_files", "f_ffree", "f_namemax")
        return {name: getattr(found, name) for name in names}


def _unmount_at_the_end_of_stdin(point: str) -> None:
    """Go when the tests are gone: they hold the other end, whatever ends them."""
    sys.stdin.buffer.read()
    program = shutil.which("fusermount3") or "fusermount"
    subprocess.run([program, "-u", "-z", point], capture_output=True, check=False)


def main(backing: str, point: str, log: str, delay_s: str, negative_timeout_s: str) -> None:
    """Serve until unmounted."""
    threading.Thread(target=_unmount_at_the_end_of_stdin, args=(point,), daemon=True).start()
    mfusepy.FUSE(
        PassThrough(backing, os.open(log, os.O_WRONLY | os.O_APPEND), float(delay_s)),
        point,
        foreground=True,
        nothreads=True,
        entry_timeout=60,
        attr_timeout=60,
        negative_timeout=float(negative_timeout_s),
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
