"""What the server answers to whom, asked over HTTP."""

import http.client
import os
import socket
from pathlib import Path

import aiohttp
import pytest

from tests.web.serving import Serving

HEADERS = {
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "Server": "gitdash",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


def ask(serving: Serving, path: str, *, method: str = "GET", hosts: tuple[str, ...] | None = None) -> tuple[int, str]:
    """Return status and body; every answer has the headers."""
    connection = http.client.HTTPConnection(serving.host, timeout=10)
    connection.putrequest(method, path, skip_host=True)
    for host in (serving.host,) if hosts is None else hosts:
        connection.putheader("Host", host)
    connection.endheaders()
    answer = connection.getresponse()
    body = answer.read().decode("utf-8", "replace")
    connection.close()
    assert {name: answer.headers[name] for name in HEADERS} == HEADERS
    assert answer.headers["Content-Security-Policy"].startswith("default-src 'none'; script-src 'self'; ")
    assert "Set-Cookie" not in answer.headers
    return answer.status, body


def test_only_the_loopback_address_listens(serving: Serving) -> None:
    port = int(serving.host.split(":")[1])
    listening = Path("/proc/net/tcp").read_text() + Path("/proc/net/tcp6").read_text()
    addresses = {line.split()[1] for line in listening.splitlines() if f":{port:04X} " in line and " 0A " in line}
    assert addresses == {f"0100007F:{port:04X}"}


def test_the_page_with_the_token_leads_to_nothing_but_this_server(serving: Serving) -> None:
    status, body = ask(serving, f"/?token={serving.token}")
    assert status == 200
    assert f"ws://{serving.host}/ws/{serving.token}" in body
    assert "//" not in body.replace(f"ws://{serving.host}/", "")


def test_a_page_by_the_other_name_leads_to_a_socket_by_that_name(serving: Serving) -> None:
    name = serving.host.replace("127.0.0.1", "localhost")
    _, body = ask(serving, f"/?token={serving.token}", hosts=(name,))
    assert f"ws://{name}/ws/" in body


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/?token=",
        "/?token=wrong",
        "/?Token=TOKEN",
        "/index.html?token=TOKEN",
        "/ws",
        "/ws/",
        "/ws/wrong",
        "/ws/TOKEN",
        "/static",
        "/static/",
        "/static/js",
        "/static/js/",
        "/static/?token=TOKEN",
        "/static/images/background.png",
        "/static/../server.py",
        "/static/%2e%2e/server.py",
        "/static/page.html",
        "/download/x?token=TOKEN",
        "/download/TOKEN",
        "/favicon.ico",
        "//evil.example/",
    ],
)
def test_what_is_not_allowed_and_what_does_not_exist_are_refused_alike(serving: Serving, path: str) -> None:
    assert ask(serving, path.replace("TOKEN", serving.token)) == (403, "403: Forbidden")


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "TRACE"])
def test_other_methods_are_refused(serving: Serving, method: str) -> None:
    assert ask(serving, f"/?token={serving.token}", method=method) == (403, "403: Forbidden")


@pytest.mark.parametrize("name", ["js/textual.js", "css/xterm.css", "page.css", "page.js"])
def test_the_files_of_the_page_need_no_token(serving: Serving, name: str) -> None:
    status, body = ask(serving, f"/static/{name}")
    assert status == 200
    assert serving.token not in body


@pytest.mark.parametrize("host", ["evil.example", "evil.example:PORT", "127.0.0.1", "[::1]:PORT", ""])
def test_another_name_is_refused_even_with_the_token(serving: Serving, host: str) -> None:
    port = serving.host.split(":")[1]
    for path in (f"/?token={serving.token}", "/static/page.css"):
        assert ask(serving, path, hosts=(host.replace("PORT", port),)) == (403, "403: Forbidden")


NO_HTTP = [
    b"\x00\xff\x1b]0;title\x07\r\n\r\n",
    b"A" * 20_000 + b"\r\n\r\n",
    b"GET / HTTP/1.1\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: \x1b[2J\r\n\r\n",
    b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999\r\n\r\n",
]


def test_what_is_no_http_neither_ends_the_server_nor_makes_it_talk(
    fleet: Path, environment: dict[str, str], options: list[str]
) -> None:
    with Serving([*options, "serve", os.fspath(fleet)], environment) as server:
        for request in NO_HTTP:
            with socket.create_connection(("127.0.0.1", int(server.host.split(":")[1])), timeout=10) as connection:
                connection.sendall(request)
                assert connection.recv(100).startswith(b"HTTP/1.0 400 Bad Request")
        assert ask(server, f"/?token={server.token}")[0] == 200
        assert server.interrupt() == (130, "")


async def shake_hands(serving: Serving, url: str, **headers: str) -> int:
    """Return the status of the answer to a socket that is not to be."""
    async with aiohttp.ClientSession() as session:
        try:
            async with session.ws_connect(url, headers=headers):
                return 101
        except aiohttp.WSServerHandshakeError as error:
            return error.status


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1"},
        {"Origin": "http://localhost:PORT"},
        {"Origin": "https://127.0.0.1:PORT"},
        {"Origin": "http://evil.example:PORT", "Host": "evil.example:PORT"},
        {"Origin": "http://127.0.0.1:PORT", "Host": "evil.example:PORT"},
    ],
    ids=str,
)
async def test_a_socket_of_another_page_is_refused_even_with_the_token(
    serving: Serving, headers: dict[str, str]
) -> None:
    port = serving.host.split(":")[1]
    sent = {name: value.replace("PORT", port) for name, value in headers.items()}
    assert await shake_hands(serving, serving.socket_url(), **sent) == 403
    assert serving.dashboards() == []


async def test_a_socket_without_the_right_token_is_refused(serving: Serving) -> None:
    wrong = serving.token[:-1] + ("a" if serving.token[-1] != "a" else "b")
    assert await shake_hands(serving, serving.socket_url(wrong), Origin=serving.origin) == 403
    assert await shake_hands(serving, f"ws://{serving.host}/ws?token={serving.token}", Origin=serving.origin) == 403
    assert serving.dashboards() == []
