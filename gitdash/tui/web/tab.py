"""One tab of a browser: a dashboard process, its pipes, and the socket that it is drawn through.

Whichever of the two ends, the other one does: the dashboard is let go of (its stdin ends), has a while to leave, and is
ended if it does not. Decides nothing about who may open a tab.
"""

import asyncio
import contextlib
from collections.abc import Sequence
from typing import Final, Self

from aiohttp import WSMsgType, web

from gitdash.gitcmd.workers import WorkerProcess, start_gitdash
from gitdash.tui.web.packets import BEGINNING, HEAD_BYTES, MAXIMUM_PAYLOAD_BYTES, is_exit, packet_for

LEAVE_S: Final = 3.0
"""How long a dashboard may take to leave by itself."""
_UNREAD_LIMIT_BYTES: Final = 1 << 20
"""A dashboard that leaves so much unread does not read any more."""
_PRELUDE_LINES: Final = 10
"""Lines before BEGINNING: what a library may have said on stdout."""


class Tab:
    """A dashboard process whose pipes are connected to the event loop."""

    def __init__(
        self,
        worker: WorkerProcess,
        output: asyncio.StreamReader,
        transports: tuple[asyncio.ReadTransport, asyncio.WriteTransport],
    ) -> None:
        self._worker = worker
        self._output = output
        self._reading, self._writing = transports

    @classmethod
    async def open(cls, arguments: Sequence[str | bytes], environment: dict[str, str]) -> Self:
        """Start a dashboard, in this thread. Raises GitError if it cannot be started."""
        worker = start_gitdash(arguments, environment)
        loop = asyncio.get_running_loop()
        output = asyncio.StreamReader()
        reading: asyncio.ReadTransport | None = None
        try:
            reading, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(output), worker.stdout)
            writing, _ = await loop.connect_write_pipe(asyncio.BaseProtocol, worker.stdin)
        except BaseException:
            if reading is not None:
                reading.close()
            await asyncio.shield(asyncio.to_thread(worker.stop))
            raise
        return cls(worker, output, (reading, writing))

    async def draw_through(self, socket: web.WebSocketResponse) -> None:
        """Carry keys and pictures until the browser or the dashboard ends, or we are cancelled; then end both."""
        directions = [asyncio.create_task(self._carry_in(socket)), asyncio.create_task(self._carry_out(socket))]
        try:
            await asyncio.wait(directions, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for direction in directions:
                direction.cancel()
            await asyncio.gather(*directions, return_exceptions=True)
            await asyncio.shield(self._end())
            await socket.close()

    async def _carry_in(self, socket: web.WebSocketResponse) -> None:
        async for message in socket:
            packet = packet_for(message.data) if message.type is WSMsgType.TEXT else None
            if packet is not None:
                self._writing.write(packet)
            if self._writing.is_closing() or self._writing.get_write_buffer_size() > _UNREAD_LIMIT_BYTES:
                return

    async def _carry_out(self, socket: web.WebSocketResponse) -> None:
        with contextlib.suppress(asyncio.IncompleteReadError, ValueError, ConnectionError):
            await self._skip_prelude()
            while True:
                head = await self._output.readexactly(HEAD_BYTES)
                size_bytes = int.from_bytes(head[1:], "big")
                if size_bytes > MAXIMUM_PAYLOAD_BYTES:
                    return
                payload = await self._output.readexactly(size_bytes)
                if head[:1] == b"D":
                    await socket.send_bytes(payload)
                elif head[:1] == b"M" and is_exit(payload):
                    return

    async def _skip_prelude(self) -> None:
        """Read to the first packet. Raises ValueError if none begins."""
        for _ in range(_PRELUDE_LINES):
            if await self._output.readline() == BEGINNING:
                return
        raise ValueError("no dashboard")

    async def _end(self) -> None:
        self._writing.abort()
        with contextlib.suppress(TimeoutError):
            # what it still draws is read, so that no full pipe keeps it from leaving
            await asyncio.wait_for(self._read_to_the_end(), LEAVE_S)
        self._reading.close()
        await asyncio.to_thread(self._worker.stop)

    async def _read_to_the_end(self) -> None:
        while await self._output.read(1 << 16):
            pass
