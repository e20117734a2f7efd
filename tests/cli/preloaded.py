"""Runs `python -m gitdash` in copies of one process that has imported everything already.

Starting Python and importing are most of what a short command costs, and the tests run hundreds. A copy has the
arguments, environment, folder and files that it is given, a process of its own and an end of its own, as a process
that was started has. What differs: modules are there before they are asked for. Tests of imports, of signals and of
limits start a real one.
"""

import atexit
import gc
import importlib
import io
import json
import os
import pkgutil
import runpy
import select
import selectors
import signal
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

_REQUEST_BYTES: Final = 1 << 17
_STATUS: Final = struct.Struct("i")
_NOT_FOR_COMMANDS: Final = "gitdash.tui"


class Preloaded:
    """The process that is copied; it ends with this one."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._requests, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            # -P: the folder of this file holds names that may be those of modules
            self._process = subprocess.Popen(
                [sys.executable, "-P", os.fspath(Path(__file__).resolve()), str(theirs.fileno())],
                env=dict(environment),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
            )
        atexit.register(self._end)

    def run(
        self, arguments: Sequence[str], *, environment: Mapping[str, str], folder: Path, time_limit_s: float
    ) -> "subprocess.CompletedProcess[str]":
        """Run gitdash without input; the answer is what `subprocess.run` would return."""
        request = json.dumps([list(arguments), dict(environment), os.fspath(folder)]).encode()
        pipes = [os.pipe() for _ in range(3)]
        try:
            socket.send_fds(self._requests, [request], [written for _, written in pipes])
        finally:
            for _, written in pipes:
                os.close(written)
        try:
            status, output, errors = _read_all([read for read, _ in pipes], time.monotonic() + time_limit_s)
        finally:
            for read, _ in pipes:
                os.close(read)
        exit_code = os.waitstatus_to_exitcode(_STATUS.unpack(status)[0])
        return subprocess.CompletedProcess(list(arguments), exit_code, _text(output), _text(errors))

    def _end(self) -> None:
        self._requests.close()
        self._process.wait()


def _read_all(descriptors: Sequence[int], deadline_s: float) -> list[bytes]:
    """Read files to their ends, all at once."""
    found = {descriptor: bytearray() for descriptor in descriptors}
    with selectors.DefaultSelector() as selector:
        for descriptor in descriptors:
            selector.register(descriptor, selectors.EVENT_READ)
        while selector.get_map():
            ready = selector.select(deadline_s - time.monotonic())
            assert ready, f"gitdash does not end; it said {found}"
            for key, _ in ready:
                chunk = os.read(key.fd, 1 << 16)
                found[key.fd] += chunk
                if not chunk:
                    selector.unregister(key.fd)
    return [bytes(found[descriptor]) for descriptor in descriptors]


def _text(output: bytes) -> str:
    return io.TextIOWrapper(io.BytesIO(output)).read()


def _import_everything() -> None:
    import gitdash

    for module in pkgutil.walk_packages(gitdash.__path__, "gitdash."):
        if not module.name.startswith(_NOT_FOR_COMMANDS) and not module.name.endswith(".__main__"):
            importlib.import_module(module.name)


def _serve(requests: socket.socket) -> bool:
    """Make a copy for each request; true in a copy, and false at the end of all requests."""
    copies: dict[int, tuple[int, int]] = {}
    poller = select.poll()
    poller.register(requests, select.POLLIN)
    while True:
        for descriptor, _ in poller.poll():
            if descriptor != requests.fileno():
                poller.unregister(descriptor)
                _report(descriptor, *copies.pop(descriptor))
                continue
            request, files, _, _ = socket.recv_fds(requests, _REQUEST_BYTES, 3)
            if not request:
                _end_all(copies)
                return False
            if (copy := os.fork()) == 0:
                _close_all(copies)
                _become(request, files)
                return True
            report, *others = files
            for file in others:
                os.close(file)
            ended = os.pidfd_open(copy)
            copies[ended] = (copy, report)
            poller.register(ended, select.POLLIN)


def _end_all(copies: Mapping[int, tuple[int, int]]) -> None:
    for copy, _ in copies.values():
        os.kill(copy, signal.SIGKILL)


def _close_all(copies: Mapping[int, tuple[int, int]]) -> None:
    for ended, (_, report) in copies.items():
        os.close(ended)
        os.close(report)


def _report(ended: int, copy: int, report: int) -> None:
    os.write(report, _STATUS.pack(os.waitpid(copy, 0)[1]))
    os.close(report)
    os.close(ended)


def _become(request: bytes, files: Sequence[int]) -> None:
    """Take over what a process is started with."""
    arguments, environment, folder = json.loads(request)
    report, output, errors = files
    os.close(report)
    for file, place in ((output, 1), (errors, 2)):
        os.dup2(file, place)
        os.close(file)
    encoding, handler = sys.stdout.encoding, sys.stdout.errors
    sys.stdout = sys.__stdout__ = open(1, "w", encoding=encoding, errors=handler)  # noqa: SIM115
    sys.stderr = sys.__stderr__ = open(2, "w", encoding=encoding, errors="backslashreplace", buffering=1)  # noqa: SIM115
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    sys.argv[1:] = arguments


if __name__ == "__main__":
    _import_everything()
    gc.freeze()
    with socket.socket(fileno=int(sys.argv[1])) as asked:
        is_copy = _serve(asked)
    if is_copy:
        runpy.run_module("gitdash", run_name="__main__", alter_sys=True)
