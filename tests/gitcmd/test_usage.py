"""What run_git says of the processes that ran, by programs whose use is known."""

import os
import resource
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from gitdash.gitcmd import adoption, usage
from gitdash.gitcmd.git_program import GitProgram
from gitdash.gitcmd.runner import run_git
from gitdash.gitcmd.usage import MemoryWatch, ProcessUsage

MEGABYTE = 1024**2


@pytest.fixture
def usage_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], ProcessUsage]:
    """Run Python code as if it were git, where orphans cannot be adopted, and return what it used."""
    monkeypatch.setattr(adoption, "_SET_CHILD_SUBREAPER", 10**6)

    def run(code: str) -> ProcessUsage:
        path = tmp_path / "git"
        path.write_text(f"#!{sys.executable} -IS\n{code}\n")
        path.chmod(0o755)
        program = GitProgram(
            path=os.fspath(path), version=(2, 39), version_text="", memory_limit_bytes=2**32, is_measured=True
        )
        usage = run_git(program, ["x"], time_limit_s=60.0).usage
        assert usage is not None
        return usage

    return run


def test_processor_time_is_that_of_the_child(usage_of: Callable[[str], ProcessUsage]) -> None:
    usage = usage_of("import time\nwhile time.process_time() < 0.4: pass")
    assert 0.3 < usage.user_s + usage.system_s < 1.0


def test_processor_time_of_helpers_that_were_waited_for_counts(usage_of: Callable[[str], ProcessUsage]) -> None:
    usage = usage_of(
        "import os, time\nif os.fork() == 0:\n    while time.process_time() < 0.4: pass\n    os._exit(0)\nos.wait()"
    )
    assert 0.3 < usage.user_s + usage.system_s < 1.0


def test_peak_memory_is_what_the_child_had_although_we_are_larger(usage_of: Callable[[str], ProcessUsage]) -> None:
    ours = bytearray(b"x") * (200 * MEGABYTE)
    small = usage_of("import time\ntime.sleep(0.2)")
    middle = usage_of(f"import time\nheld = bytearray(b'x') * {80 * MEGABYTE}\ndel held\ntime.sleep(0.2)")
    assert len(ours) == 200 * MEGABYTE
    assert small.peak_memory_bytes is not None
    assert small.peak_memory_bytes < 40 * MEGABYTE
    assert middle.peak_memory_bytes is not None
    assert 80 * MEGABYTE <= middle.peak_memory_bytes < 120 * MEGABYTE


def test_peak_memory_is_that_of_the_largest_helper(usage_of: Callable[[str], ProcessUsage]) -> None:
    usage = usage_of(
        "import os, time\n"
        "if os.fork() == 0:\n"
        f"    held = bytearray(b'x') * {600 * MEGABYTE}\n"
        "    time.sleep(0.2)\n"
        "    os._exit(0)\n"
        "os.wait()"
    )
    assert usage.peak_memory_bytes is not None
    assert 600 * MEGABYTE <= usage.peak_memory_bytes < 660 * MEGABYTE


def test_what_is_in_memory_is_not_read_from_the_disk(usage_of: Callable[[str], ProcessUsage]) -> None:
    usage_of("pass")
    assert usage_of("pass").read_bytes < MEGABYTE


def test_what_is_not_in_memory_is_read_from_the_disk(usage_of: Callable[[str], ProcessUsage], tmp_path: Path) -> None:
    path = tmp_path / "content"
    path.write_bytes(os.urandom(5 * MEGABYTE))
    with path.open("rb") as file:
        os.fdatasync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    usage = usage_of(f"open({os.fspath(path)!r}, 'rb').read()")
    if usage.read_bytes == 0:
        pytest.skip("this file system does not let go of its pages, or does not count what it reads")
    assert 5 * MEGABYTE <= usage.read_bytes < 12 * MEGABYTE


@pytest.mark.parametrize(
    ("looked_s", "ended_s", "is_known"),
    [
        # looks at 5 ms of a life of 20: what it had in the last three quarters nobody knows
        ((0.0, 0.005), 0.02, False),
        ((0.0,), 0.002, False),
        ((0.05, 0.1), 0.105, True),
        ((0.05, 0.1), 0.11, False),
    ],
)
def test_memory_is_known_only_of_what_was_seen_nearly_to_its_end(
    monkeypatch: pytest.MonkeyPatch, looked_s: tuple[float, ...], ended_s: float, is_known: bool
) -> None:
    now_s = [100.0]
    monkeypatch.setattr(usage, "time", SimpleNamespace(monotonic=lambda: now_s[0]))
    watch = MemoryWatch(os.getpid())
    for look_s in looked_s:
        now_s[0] = 100.0 + look_s
        watch.look()
    now_s[0] = 100.0 + ended_s
    found = watch.usage(resource.struct_rusage((0.0, 0.0, 0, *[0] * 13))).peak_memory_bytes
    assert (found is not None) is is_known
    assert found is None or found > MEGABYTE


def test_memory_that_grows_to_the_end_is_seen_to_the_end(usage_of: Callable[[str], ProcessUsage]) -> None:
    ours = bytearray(b"x") * (400 * MEGABYTE)
    seen = usage_of(
        "import time\nheld = []\nend_s = time.monotonic() + 0.3\n"
        f"for step in range(60):\n    held.append(bytearray(b'x') * {2 * MEGABYTE})\n"
        "    time.sleep(max(0, end_s - (59 - step) * 0.005 - time.monotonic()))\n"
    ).peak_memory_bytes
    assert len(ours) == 400 * MEGABYTE
    # a busy machine may not let us look in time
    assert seen is None or 105 * MEGABYTE <= seen < 145 * MEGABYTE
