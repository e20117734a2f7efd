"""The browser's side of a tab: a socket, and what is drawn through it."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Callable

import aiohttp

from tests.web.serving import LIMIT_S, Serving


class OpenTab:
    """A socket to a dashboard."""

    def __init__(self, socket: "aiohttp.ClientWebSocketResponse") -> None:
        self.socket = socket
        self.drawn = b""

    async def read_until(self, is_reached: Callable[[bytes], bool]) -> None:
        """Read what is drawn until the condition holds."""
        async with asyncio.timeout(LIMIT_S):
            while not is_reached(self.drawn):
                message = await self.socket.receive()
                assert message.type is aiohttp.WSMsgType.BINARY, (message, self.drawn[-500:])
                self.drawn += message.data

    async def wait_for(self, text: str) -> None:
        await self.read_until(lambda drawn: text.encode() in drawn)

    async def wait_for_close(self) -> int:
        """Return the code with which the server closes."""
        async with asyncio.timeout(LIMIT_S):
            while not self.socket.closed:
                await self.socket.receive()
        assert self.socket.close_code is not None
        return self.socket.close_code

    async def type(self, keys: str) -> None:
        await self.socket.send_str(json.dumps(["stdin", keys]))


@contextlib.asynccontextmanager
async def open_tab(serving: Serving) -> AsyncIterator[OpenTab]:
    async with (
        aiohttp.ClientSession() as session,
        session.ws_connect(serving.socket_url(), headers={"Origin": serving.origin}, max_msg_size=0) as socket,
    ):
        yield OpenTab(socket)
