"""The web server: a page for each tab, the files that it needs, a socket for its dashboard. Nothing else is answered.

Of textual-serve it has the browser's half: the terminal (xterm.js), its style and fonts. The server's half is our own:
textual-serve's asks nobody for anything, starts a shell, and leaves its processes behind. All answers have the headers
of `access`; what is not allowed and what does not exist are refused alike. Talks to nobody but the browser.
"""

import asyncio
import logging
import os
import signal
import socket
from collections.abc import Awaitable, Callable, Iterator, Sequence
from html import escape
from importlib.resources import files
from string import Template
from typing import Final

import textual_serve
from aiohttp import WSCloseCode, web
from aiohttp.http import HttpProcessingError
from aiohttp.typedefs import Handler

from gitdash.errors import GitdashError
from gitdash.gitcmd.git_error import GitError
from gitdash.tui.web.access import ADDRESS, Access, answer_headers, new_access
from gitdash.tui.web.packets import cells
from gitdash.tui.web.tab import LEAVE_S, Tab
from gitdash.tui.web.trouble import Trouble

MAXIMUM_TABS: Final = 8
"""Each is a process that surveys all roots."""
_MAXIMUM_MESSAGE_BYTES: Final = 1 << 20
"""The longest text that can be pasted, about."""
_HEARTBEAT_S: Final = 15.0
"""A browser that does not answer for so long is gone."""
_GOODBYE_S: Final = 1.0
"""How long a browser may take to agree that a socket is closed."""
_DIGITS: Final = 6

_FILES: Final = {
    "js/textual.js": "text/javascript",
    "css/xterm.css": "text/css",
    "fonts/RobotoMono-VariableFont_wght.ttf": "font/ttf",
    "fonts/RobotoMono-Italic-VariableFont_wght.ttf": "font/ttf",
}
"""Of textual-serve's, with their types."""
_OWN_FILES: Final = {"page.css": "text/css", "page.js": "text/javascript"}


class ServeError(GitdashError):
    """The server could not begin."""


def serve(
    arguments: Sequence[str | bytes], *, port: int, announce: Callable[[str], None], say: Callable[[str], None]
) -> None:
    """Serve `gitdash arguments` on a port of the loopback interface, any if it is 0, until a signal asks for an end.

    `announce` gets the URL as soon as it is answered, `say` what goes wrong. Raises ServeError if the port cannot be
    had. All dashboards have ended when it returns.
    """
    try:
        listening = socket.create_server((ADDRESS, port))
    except OSError as error:
        reason = os.strerror(error.errno or 0).lower()
        raise ServeError(f"cannot listen on port {port} of {ADDRESS}: {reason}") from error
    with listening:
        server = _Server(arguments, new_access(listening.getsockname()[1]), say)
        asyncio.run(server.run(listening, announce))


class _Server:
    """The handlers, and the sockets that are open."""

    def __init__(self, arguments: Sequence[str | bytes], access: Access, say: Callable[[str], None]) -> None:
        self._arguments = arguments
        self._access = access
        self._headers = answer_headers(access)
        self._trouble = Trouble(say)
        self._browsers: set[web.WebSocketResponse] = set()
        self._page = Template(_own_file("page.html").decode())
        self._full_page = Template(_own_file("full.html").decode())

    async def run(self, listening: socket.socket, announce: Callable[[str], None]) -> None:
        """Answer until a signal comes."""
        asyncio.get_running_loop().set_exception_handler(self._trouble.heard)
        logger = logging.getLogger(__name__)
        logger.addFilter(_is_of_our_making)
        runner = web.AppRunner(self._application(), access_log=None, logger=logger, shutdown_timeout=LEAVE_S * 2)
        await runner.setup()
        try:
            await web.SockSite(runner, listening).start()
            is_asked_to_end = _signalled()
            announce(self._access.url)
            await is_asked_to_end.wait()
        finally:
            await runner.cleanup()

    def _application(self) -> web.Application:
        application = web.Application(middlewares=[self._only_own_names])
        application.on_response_prepare.append(self._add_headers)
        application.on_shutdown.append(self._close_sockets)
        application.router.add_get("/", self._answer_page)
        application.router.add_get("/ws/{token}", self._answer_socket, allow_head=False)
        for name, content, content_type in _static_files():
            application.router.add_get(f"/static/{name}", _answer_with(content, content_type))
        return application

    @web.middleware
    async def _only_own_names(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Refuse other names for our host, and make what does not exist look like what is refused."""
        if not self._access.is_own_host(request.headers.getall("Host", [])):
            raise web.HTTPForbidden
        try:
            return await handler(request)
        except (web.HTTPNotFound, web.HTTPMethodNotAllowed):
            raise web.HTTPForbidden from None

    async def _add_headers(self, _request: web.Request, response: web.StreamResponse) -> None:
        response.headers.update(self._headers)

    async def _answer_page(self, request: web.Request) -> web.Response:
        if not self._access.is_token(request.query.get("token", "")):
            raise web.HTTPForbidden
        if self._is_full():
            text = self._full_page.substitute(count=MAXIMUM_TABS)
            return web.Response(text=text, status=503, content_type="text/html")
        socket_url = f"ws://{request.host}/ws/{self._access.token}"
        return web.Response(text=self._page.substitute(socket_url=escape(socket_url)), content_type="text/html")

    def _is_full(self) -> bool:
        """Tell whether there are all the tabs that may be; a dashboard that is still leaving has none."""
        return sum(not browser.closed for browser in self._browsers) >= MAXIMUM_TABS

    async def _answer_socket(self, request: web.Request) -> web.StreamResponse:
        is_own_page = self._access.is_own_origin(request.headers.getall("Origin", []), request.host)
        if not is_own_page or not self._access.is_token(request.match_info["token"]):
            raise web.HTTPForbidden
        browser = web.WebSocketResponse(
            heartbeat=_HEARTBEAT_S, timeout=_GOODBYE_S, compress=False, max_msg_size=_MAXIMUM_MESSAGE_BYTES
        )
        await browser.prepare(request)
        if self._is_full():
            await browser.close(code=WSCloseCode.TRY_AGAIN_LATER)
            return browser
        self._browsers.add(browser)
        try:
            await self._open_tab(browser, request)
        finally:
            self._browsers.remove(browser)
        return browser

    async def _open_tab(self, browser: web.WebSocketResponse, request: web.Request) -> None:
        try:
            tab = await Tab.open(self._arguments, _terminal(request))
        except GitError as error:
            self._trouble.say(f"gitdash: {error}")
            await browser.close(code=WSCloseCode.INTERNAL_ERROR)
        else:
            await tab.draw_through(browser)

    async def _close_sockets(self, _application: web.Application) -> None:
        await asyncio.gather(*(browser.close(code=WSCloseCode.GOING_AWAY) for browser in self._browsers))


def _terminal(request: web.Request) -> dict[str, str]:
    """Return the variables that describe the terminal of a page to Textual."""
    return {
        "COLUMNS": str(_cells(request.query.get("width", ""), 80)),
        "ROWS": str(_cells(request.query.get("height", ""), 24)),
        "TERM_PROGRAM": "gitdash",
        "TEXTUAL_COLOR_SYSTEM": "truecolor",
    }


def _cells(text: str, otherwise: int) -> int:
    return cells(int(text)) if text.isdecimal() and len(text) < _DIGITS else otherwise


def _answer_with(content: bytes, content_type: str) -> Callable[[web.Request], Awaitable[web.Response]]:
    async def answer(_request: web.Request) -> web.Response:
        return web.Response(body=content, content_type=content_type)

    return answer


def _is_of_our_making(record: logging.LogRecord) -> bool:
    """Tell whether an error is a fault of ours: whoever reaches the port can send what is not HTTP."""
    return not (record.exc_info and isinstance(record.exc_info[1], HttpProcessingError))


def _signalled() -> asyncio.Event:
    """Return an event that is set by the signals that end a program, less those that are ignored, as by nohup(1)."""
    event = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:
            asyncio.get_running_loop().add_signal_handler(number, event.set)
    return event


def _static_files() -> Iterator[tuple[str, bytes, str]]:
    """Yield name, content and type of each file that a page needs."""
    for name, content_type in _OWN_FILES.items():
        yield name, _own_file(name), content_type
    for name, content_type in _FILES.items():
        yield name, files(textual_serve).joinpath("static", name).read_bytes(), content_type


def _own_file(name: str) -> bytes:
    return files("gitdash.tui.web").joinpath(name).read_bytes()
