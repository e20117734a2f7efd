"""A server that lacks something says so once, and answers again as soon as it can."""

import asyncio
import errno
import os
import socket
import urllib.request
from contextlib import ExitStack
from pathlib import Path

import psutil
import pytest

from gitdash.tui.web.trouble import Trouble
from tests.web.serving import LIMIT_S, Serving, wait_for

CONNECTION_COUNT = 20


@pytest.mark.safety
def test_server_without_free_descriptors_says_one_sentence_and_answers_again_when_there_are_some(
    fleet: Path, environment: dict[str, str], options: list[str], tmp_path: Path
) -> None:
    talk = tmp_path / "talk"
    with talk.open("wb") as file, Serving([*options, "serve", os.fspath(fleet)], environment, say=file.fileno()) as one:
        process = psutil.Process(one.process.pid)
        limits = process.rlimit(psutil.RLIMIT_NOFILE)
        process.rlimit(psutil.RLIMIT_NOFILE, (process.num_fds(), limits[1]))
        name, _, port = one.host.partition(":")
        with ExitStack() as connections:
            for _ in range(CONNECTION_COUNT):
                connections.enter_context(socket.create_connection((name, int(port)), timeout=LIMIT_S))
            wait_for(lambda: talk.stat().st_size > 0, "the server has said something")
            process.rlimit(psutil.RLIMIT_NOFILE, limits)
            with urllib.request.urlopen(one.url, timeout=LIMIT_S) as answer:
                assert answer.status == 200
        one.process.terminate()
        assert one.process.wait(LIMIT_S) == 130
    assert talk.read_text() == "gitdash: a browser gets no answer for now: too many open files\n"


def test_the_same_trouble_is_said_again_only_after_a_minute() -> None:
    said: list[str] = []
    now_s = [1_000.0]
    trouble = Trouble(said.append, lambda: now_s[0])
    for seconds in (0.0, 1.0, 59.0, 60.0, 119.0, 120.0):
        now_s[0] = 1_000.0 + seconds
        trouble.say("a")
    assert said == ["a", "a", "a"]
    trouble.say("b")
    assert said == ["a", "a", "a", "b"]


def test_fault_of_ours_keeps_its_traceback() -> None:
    said: list[str] = []
    passed_on: list[dict[str, object]] = []
    loop = asyncio.new_event_loop()
    try:
        loop.default_exception_handler = passed_on.append  # type: ignore[method-assign]
        loop.set_exception_handler(Trouble(said.append).heard)
        for error in (ValueError("ours"), OSError(errno.EBADF, "ours"), OSError(errno.ENFILE, "not ours")):
            loop.call_exception_handler({"message": "it failed", "exception": error})
    finally:
        loop.close()
    assert [str(context["exception"]) for context in passed_on] == ["ours", "[Errno 9] ours"]
    assert said == ["gitdash: a browser gets no answer for now: too many open files in system"]
