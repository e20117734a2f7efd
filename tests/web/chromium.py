"""A headless Chromium that is driven through its DevTools protocol, as far as the tests need it.

Source: https://chromedevtools.github.io/devtools-protocol/. It resolves no names, and asks nobody for updates.
"""

import asyncio
import base64
import contextlib
import json
import os
import shutil
import signal
import subprocess
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import aiohttp

from tests.web.serving import wait_for

PROGRAM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
LIMIT_S = 30.0
_OPTIONS = (
    "--headless",
    "--no-sandbox",
    "--no-first-run",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
    "--window-size=1200,700",
    "--remote-debugging-port=0",
)

_KEEP_TERMINAL = """
Object.defineProperty(Object.prototype, 'terminal', {configurable: true, set(value) {
  window.keptTerminal = value;
  Object.defineProperty(this, 'terminal', {value, writable: true, configurable: true, enumerable: true});
}});
"""
"""xterm.js draws text as pixels, and textual.js keeps its terminal to itself; this is the assignment that it makes."""
_TEXT = """(() => {
  const buffer = window.keptTerminal?.buffer?.active;
  return Array.from({length: buffer?.length ?? 0}, (_, y) => buffer.getLine(y).translateToString(true)).join('\\n');
})()"""
"""What the terminal shows."""
_WAIT = """new Promise(resolve => {
  const timer = setInterval(() => { if (CONDITION) { clearInterval(timer); resolve(true); } }, 20);
})"""


class Page:
    """The one tab, and everything that happened in it."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket = socket
        self._answers: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self.events: list[tuple[str, dict[str, Any]]] = []

    async def listen(self) -> None:
        async for message in self._socket:
            content = message.json()
            if "id" in content:
                self._answers[content["id"]].set_result(content)
            else:
                self.events.append((content["method"], content["params"]))

    async def call(self, method: str, **parameters: object) -> dict[str, Any]:
        number = len(self._answers)
        self._answers[number] = asyncio.get_running_loop().create_future()
        await self._socket.send_json({"id": number, "method": method, "params": parameters})
        async with asyncio.timeout(LIMIT_S):
            answer = await self._answers[number]
        assert "error" not in answer, answer
        return answer["result"]  # type: ignore[no-any-return]

    async def evaluate(self, expression: str) -> Any:
        answer = await self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    async def open(self, url: str) -> None:
        for domain in ("Network", "Page", "Runtime", "Log"):
            await self.call(f"{domain}.enable")
        await self.call("Page.addScriptToEvaluateOnNewDocument", source=_KEEP_TERMINAL)
        await self.call("Page.navigate", url=url)

    async def wait_for(self, condition: str) -> None:
        """Wait until a condition in JavaScript holds."""
        try:
            await self.evaluate(_WAIT.replace("CONDITION", condition))
        except TimeoutError:
            raise AssertionError(f"not so: {condition}; the page shows\n{await self.evaluate(_TEXT)}") from None

    async def wait_for_text(self, text: str, *, is_shown: bool = True) -> None:
        """Wait until the terminal shows it, or does not any more."""
        await self.wait_for(f"{_TEXT}.includes({json.dumps(text)}) === {json.dumps(is_shown)}")

    async def press(self, key: str) -> None:
        code, number = (f"Key{key.upper()}", ord(key.upper())) if key.isalpha() else ("Slash", 191)
        await self.call(
            "Input.dispatchKeyEvent", type="keyDown", key=key, code=code, windowsVirtualKeyCode=number, text=key
        )
        await self.call("Input.dispatchKeyEvent", type="keyUp", key=key, code=code, windowsVirtualKeyCode=number)

    async def picture(self) -> bytes:
        """Return a PNG."""
        answer = await self.call("Page.captureScreenshot")
        return base64.b64decode(answer["data"])

    def happened(self, method: str) -> list[dict[str, Any]]:
        return [parameters for name, parameters in self.events if name == method]


@contextlib.contextmanager
def chromium(folder: Path) -> Iterator[int]:
    """Start one with a profile in `folder`, and return the port of its DevTools."""
    assert PROGRAM is not None
    process = subprocess.Popen(
        [PROGRAM, *_OPTIONS, f"--user-data-dir={folder}", "about:blank"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    told = folder / "DevToolsActivePort"
    try:
        wait_for(lambda: told.exists() and "\n" in told.read_text(), "Chromium listens", LIMIT_S)
        yield int(told.read_text().splitlines()[0])
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@contextlib.asynccontextmanager
async def open_page(port: int, url: str) -> AsyncIterator[Page]:
    """Open a URL in a tab of its own."""
    async with aiohttp.ClientSession() as session:
        async with session.put(f"http://127.0.0.1:{port}/json/new?about:blank") as answer:
            target = await answer.json()
        async with session.ws_connect(target["webSocketDebuggerUrl"], max_msg_size=0) as socket:
            page = Page(socket)
            listening = asyncio.create_task(page.listen())
            await page.open(url)
            yield page
            await page.call("Page.close")
            await listening
