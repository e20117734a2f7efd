"""A tab has a dashboard, and whichever of browser, dashboard and server ends, the others do not stay behind."""

import asyncio
import os
import signal
import sqlite3
from contextlib import closing
from pathlib import Path

import aiohttp
import pytest

from gitdash.tui.web.tab import Tab
from tests.support.processes import children_where
from tests.support.repositories import GIT
from tests.web.serving import Serving, killed_afterwards, wait_for_end
from tests.web.tabs import open_tab


async def test_a_tab_shows_the_fleet_in_a_dashboard_of_its_own_that_ends_with_it(
    serving: Serving, fleet: Path, options: list[str]
) -> None:
    async with open_tab(serving) as first, open_tab(serving) as second:
        await first.wait_for("quokka")
        await second.wait_for("quokka")
        dashboards = serving.wait_for_dashboards(2)
        commands = [process.cmdline()[3:] for process in dashboards]
        assert commands == [["--served", "--no-state", "--read-only", *options[1:], "--", str(fleet)]] * 2
        assert all(process.cmdline()[1:3] == ["-m", "gitdash"] for process in dashboards)
        await first.socket.close()
        (left,) = serving.wait_for_dashboards(1)
        await second.type("?")
        await second.wait_for("Move the cursor down")
    wait_for_end(left)


async def test_a_dashboard_that_is_left_closes_its_tab(serving: Serving) -> None:
    async with open_tab(serving) as tab:
        await tab.wait_for("quokka")
        (dashboard,) = serving.wait_for_dashboards(1)
        await tab.type("q")
        await tab.wait_for_close()
        wait_for_end(dashboard)


async def test_a_tab_has_the_size_of_its_page(serving: Serving) -> None:
    async with open_tab(serving) as tab:
        await tab.wait_for("quokka")
        (dashboard,) = serving.wait_for_dashboards(1)
        environment = dashboard.environ()
        assert (environment["COLUMNS"], environment["ROWS"]) == ("100", "30")
        tab.drawn = b""
        await tab.socket.send_str('["resize", {"width": 40, "height": 10}]')
        await tab.wait_for("gitdash needs")
        await tab.socket.close()
        wait_for_end(dashboard)


async def test_a_browser_that_dies_without_a_word_leaves_no_dashboard(serving: Serving) -> None:
    async with open_tab(serving) as tab:
        await tab.wait_for("quokka")
        (dashboard,) = serving.wait_for_dashboards(1)
        connection = tab.socket._response.connection
        assert connection is not None
        assert connection.transport is not None
        connection.transport.abort()
        await asyncio.to_thread(wait_for_end, dashboard)


async def test_what_no_page_sends_is_dropped(serving: Serving) -> None:
    async with open_tab(serving) as tab:
        await tab.wait_for("quokka")
        (dashboard,) = serving.wait_for_dashboards(1)
        for nonsense in ("", "q", "[]", '["stdin", 5]', '["quit"]', '["resize", {"width": -1, "height": null}]'):
            await tab.socket.send_str(nonsense)
        await tab.socket.send_bytes(b"\x00\xff")
        await tab.type("?")
        await tab.wait_for("Move the cursor down")
        await tab.socket.close()
        wait_for_end(dashboard)


async def test_beyond_the_limit_a_page_says_so_and_a_socket_is_closed(
    fleet: Path, environment: dict[str, str], options: list[str]
) -> None:
    before = "import gitdash.tui.web.server as server; server.MAXIMUM_TABS = 1"
    with Serving([*options, "serve", os.fspath(fleet)], environment, before=before) as serving:
        async with open_tab(serving) as tab:
            await tab.wait_for("quokka")
            async with aiohttp.ClientSession() as session, session.get(serving.url) as answer:
                assert answer.status == 503
                assert "Close one" in await answer.text()
            async with open_tab(serving) as another:
                assert await another.wait_for_close() == aiohttp.WSCloseCode.TRY_AGAIN_LATER
            assert len(serving.dashboards()) == 1
            await tab.socket.close()
            serving.wait_for_dashboards(0)
        async with open_tab(serving) as next_one:
            await next_one.wait_for("quokka")


async def test_ctrl_c_ends_all_dashboards_with_exit_code_130(
    fleet: Path, environment: dict[str, str], options: list[str]
) -> None:
    with Serving([*options, "serve", os.fspath(fleet)], environment) as serving:
        async with open_tab(serving) as first, open_tab(serving) as second:
            await first.wait_for("quokka")
            await second.wait_for("quokka")
            dashboards = serving.wait_for_dashboards(2)
            interrupted = asyncio.get_running_loop().run_in_executor(None, serving.interrupt)
            assert await first.wait_for_close() == aiohttp.WSCloseCode.GOING_AWAY
            assert await second.wait_for_close() == aiohttp.WSCloseCode.GOING_AWAY
            assert await interrupted == (130, "")
            for dashboard in dashboards:
                wait_for_end(dashboard, limit_s=0)


async def test_dashboards_end_when_the_server_is_killed(
    fleet: Path, environment: dict[str, str], options: list[str]
) -> None:
    with Serving([*options, "serve", os.fspath(fleet)], environment) as serving:
        async with open_tab(serving) as tab:
            await tab.wait_for("quokka")
            (dashboard,) = serving.wait_for_dashboards(1)
            with killed_afterwards(dashboard):
                serving.process.send_signal(signal.SIGKILL)
                wait_for_end(dashboard)


async def test_a_dashboard_that_does_not_leave_is_ended(
    fleet: Path, environment: dict[str, str], options: list[str]
) -> None:
    before = "import gitdash.tui.web.tab as tab; tab.LEAVE_S = 0.2"
    with Serving([*options, "serve", os.fspath(fleet)], environment, before=before) as serving:
        async with open_tab(serving) as tab:
            await tab.wait_for("quokka")
            (dashboard,) = serving.wait_for_dashboards(1)
            with killed_afterwards(dashboard):
                dashboard.suspend()
                await tab.socket.close()
                wait_for_end(dashboard)


@pytest.mark.parametrize("allows_actions", [False, True])
async def test_what_is_chosen_in_a_read_only_tab_is_not_remembered(
    fleet: Path, environment: dict[str, str], tmp_path: Path, allows_actions: bool
) -> None:
    state = tmp_path / "state.db"
    options = ["--allow-actions"] if allows_actions else []
    arguments = ["--state", os.fspath(state), "--git", GIT, "serve", *options, os.fspath(fleet)]
    with Serving(arguments, environment) as serving:
        async with open_tab(serving) as tab:
            await tab.wait_for("quokka")
            await tab.type(">")
            await tab.type("w")
            await tab.wait_for("Save as a view")
            await tab.type("mine\r")
            await tab.wait_for("Saved as")
            await tab.type("q")
            await tab.wait_for_close()
        serving.wait_for_dashboards(0)
    with closing(sqlite3.connect(state)) as connection:
        names = {name for (name,) in connection.execute("SELECT name FROM preferences")}
    assert names == ({"dashboard", "views"} if allows_actions else set())


async def test_a_tab_says_that_it_is_read_only_and_why_a_key_does_nothing(serving: Serving) -> None:
    async with open_tab(serving) as tab:
        await tab.wait_for("quokka")
        await tab.wait_for("read-only")
        await tab.type("!")
        await tab.wait_for("Read-only: no other program is started.")
        await tab.type("\x1a")
        await tab.wait_for("There is no shell to go back to")
        assert b"shell " not in tab.drawn.replace(b"no shell to", b"")


@pytest.mark.parametrize("failing", ["connect_read_pipe", "connect_write_pipe"])
async def test_a_dashboard_whose_pipe_cannot_be_connected_ends(monkeypatch: pytest.MonkeyPatch, failing: str) -> None:
    async def broken(*_: object) -> None:
        raise OSError("no such pipe")

    monkeypatch.setattr(asyncio.get_running_loop(), failing, broken)
    with pytest.raises(OSError, match="no such pipe"):
        await Tab.open(["--version"], dict(os.environ))
    assert children_where(lambda child: "gitdash" in child.cmdline()) == []
