"""The whole way: a browser opens the URL, draws the fleet, takes keys, and asks nobody else for anything."""

import asyncio
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest

from tests.web.chromium import PROGRAM, chromium, open_page
from tests.web.serving import Serving, wait_for_end

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(PROGRAM is None, reason="no Chromium is installed"),
]

NEEDED = {"/", "/static/css/xterm.css", "/static/page.css", "/static/page.js", "/static/js/textual.js"}
FONT = "/static/fonts/RobotoMono-VariableFont_wght.ttf"


@pytest.fixture(scope="module")
def devtools(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    with chromium(tmp_path_factory.mktemp("chromium")) as port:
        yield port


async def test_a_browser_shows_the_fleet_takes_keys_and_asks_nobody_else(serving: Serving, devtools: int) -> None:
    async with open_page(devtools, serving.url) as page:
        await page.wait_for_text("quokka.git")
        (dashboard,) = serving.wait_for_dashboards(1)
        assert (await page.picture()).startswith(b"\x89PNG")
        await page.press("?")
        await page.wait_for_text("Move the cursor down.")
        await page.press("q")
        await page.wait_for_text("Move the cursor down.", is_shown=False)
        await page.press("q")
        await page.wait_for("getComputedStyle(document.querySelector('#ended')).display == 'block'")
        await asyncio.to_thread(wait_for_end, dashboard)
        asked = [event["request"]["url"] for event in page.happened("Network.requestWillBeSent")]
        sockets = [event["url"] for event in page.happened("Network.webSocketCreated")]
        told = [event["entry"] for event in page.happened("Log.entryAdded")]
    assert {urlsplit(url).netloc for url in [*asked, *sockets]} == {serving.host}
    assert {urlsplit(url).path for url in asked} == NEEDED | {FONT}
    assert [urlsplit(url).path for url in sockets] == [f"/ws/{serving.token}"]
    assert [entry for entry in told if entry["level"] == "error" and entry["source"] in {"network", "security"}] == []


async def test_the_page_can_neither_load_nor_open_anything_from_elsewhere(serving: Serving, devtools: int) -> None:
    async with open_page(devtools, serving.url) as page:
        await page.wait_for_text("quokka.git")
        blocked = await page.evaluate(
            """
            new Promise(resolve => {
              const blocked = [];
              document.addEventListener('securitypolicyviolation', event => {
                blocked.push(event.effectiveDirective);
                if (blocked.length == 4) resolve(blocked.sort());
              });
              const image = new Image();
              image.src = 'http://127.0.0.1:9/image.png';
              const script = document.createElement('script');
              script.src = 'http://127.0.0.1:9/script.js';
              document.head.append(script);
              fetch('http://127.0.0.1:9/').catch(() => {});
              const frame = document.createElement('iframe');
              frame.src = 'http://127.0.0.1:9/';
              document.body.append(frame);
            })
            """
        )
        assert blocked == ["connect-src", "frame-src", "img-src", "script-src-elem"]
        assert await page.evaluate("window.open('http://127.0.0.1:9/') === null")
        assert await page.evaluate("document.cookie === '' && document.referrer === ''")
