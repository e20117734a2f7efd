"""`git http-backend` behind http.server on the loopback, with and without TLS, and answers that come before it.

What a request needs to become one of CGI: git-http-backend(1). A request for a whole URL is one to a proxy, and is
answered as if the host were this one.
"""

import base64
import contextlib
import functools
import os
import ssl
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tests.support.repositories import GIT, clean_environment
from tests.support.servers.listening import LIMIT_S


@functools.cache
def git_speaks_http() -> bool:
    """Whether the git under test has a helper for HTTP that runs: it needs libraries that may not be here."""
    said = subprocess.run([GIT, "remote-http"], capture_output=True, text=True, env=clean_environment()).stderr
    return "usage" in said


@dataclass(frozen=True)
class Request:
    """What a client asked."""

    method: str
    path: str
    """With the query."""
    headers: Mapping[str, str]
    """Names in lower case."""
    proxied_for: str = ""
    """The host that the client wanted of a proxy."""

    @property
    def credentials(self) -> str:
        """`user:password` of basic authentication; empty without."""
        scheme, _, value = self.headers.get("authorization", "").partition(" ")
        return base64.b64decode(value).decode() if scheme == "Basic" else ""


@dataclass(frozen=True)
class Answer:
    """What is answered without asking git."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""


Respond = Callable[[Request], Answer | None]
"""None: git answers."""


def anonymous(_request: Request) -> Answer | None:
    """Let everybody in."""
    return None


def basic_authentication(user: str, password: str, *, realm: str = "git") -> Respond:
    """Let in who knows the password."""

    def respond(request: Request) -> Answer | None:
        if request.credentials == f"{user}:{password}":
            return None
        return Answer(401, {"WWW-Authenticate": f'Basic realm="{realm}"'})

    return respond


def always(status: int, body: bytes = b"", **headers: str) -> Respond:
    """Say the same to everybody; `_` in a header's name stands for `-`."""
    answer = Answer(status, {name.replace("_", "-"): value for name, value in headers.items()}, body)
    return lambda _request: answer


def redirect_to(base_url: str, status: int = 302) -> Respond:
    """Send everybody to the same path elsewhere."""
    return lambda request: Answer(status, {"Location": base_url.rstrip("/") + request.path})


@dataclass
class Site:
    """A server that runs, and what it was asked."""

    folder: Path
    respond: Respond
    requests: list[Request] = field(default_factory=list)
    port: int = 0
    scheme: str = "http"

    def url(self, path: str, *, user_information: str = "") -> str:
        """Where `path` is, with `user:password` if it shall be in the URL."""
        at = f"{user_information}@" if user_information else ""
        return f"{self.scheme}://{at}127.0.0.1:{self.port}/{path}"


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away, or that does not trust us, is what many tests are about."""


@contextlib.contextmanager
def http_server(folder: Path, respond: Respond = anonymous, *, certificate: "Path | None" = None) -> Iterator[Site]:
    """Serve every repository below `folder`; with a certificate (and key, in one file) by TLS."""
    site = Site(folder, respond, scheme="https" if certificate else "http")

    class Handler(_Handler):
        asked_of = site

        def setup(self) -> None:
            if certificate is not None:
                # In the thread of the connection: a client that stalls in the handshake keeps nobody waiting.
                context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
                context.load_cert_chain(certificate)
                self.request = context.wrap_socket(self.request, server_side=True)
            super().setup()

        def finish(self) -> None:
            super().finish()
            if certificate is not None:
                with contextlib.suppress(OSError):
                    self.request.unwrap()
                self.request.close()

    with _Server(("127.0.0.1", 0), Handler) as server:
        site.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        try:
            yield site
        finally:
            server.shutdown()
            thread.join(LIMIT_S)


class _Handler(BaseHTTPRequestHandler):
    asked_of: Site

    def do_GET(self) -> None:
        self._answer(b"")

    def do_POST(self) -> None:
        self._answer(self._body())

    def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002 - the name in http.server
        """Say nothing."""

    def _answer(self, body: bytes) -> None:
        whole = urlsplit(self.path)
        path = whole.path + (f"?{whole.query}" if whole.query else "")
        headers = {name.lower(): value for name, value in self.headers.items()}
        request = Request(self.command, path, headers, whole.netloc)
        self.asked_of.requests.append(request)
        answer = self.asked_of.respond(request) or _ask_git(self.asked_of.folder, request, body)
        self.send_response_only(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(answer.body)

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length", "0")))
        parts = []
        while size := int(self.rfile.readline(), 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        return b"".join(parts)


def _ask_git(folder: Path, request: Request, body: bytes) -> Answer:
    path, _, query = request.path.partition("?")
    environment = clean_environment(
        GIT_PROJECT_ROOT=os.fspath(folder),
        GIT_HTTP_EXPORT_ALL="1",
        PATH_INFO=path,
        QUERY_STRING=query,
        REQUEST_METHOD=request.method,
        REMOTE_ADDR="127.0.0.1",
        CONTENT_TYPE=request.headers.get("content-type", ""),
        CONTENT_LENGTH=str(len(body)),
        HTTP_CONTENT_ENCODING=request.headers.get("content-encoding", ""),
        GIT_PROTOCOL=request.headers.get("git-protocol", ""),
    )
    said = subprocess.run(
        [GIT, "http-backend"], input=body, capture_output=True, env=environment, timeout=LIMIT_S
    ).stdout
    head, _, content = said.partition(b"\r\n\r\n")
    headers = dict(line.split(": ", 1) for line in head.decode("latin-1").split("\r\n") if ": " in line)
    status = int(headers.pop("Status", "200 OK").split()[0])
    return Answer(status, headers, content)


def make_certificate(folder: Path) -> Path:
    """Make a certificate for 127.0.0.1 that only itself vouches for, with its key in the same file."""
    file = folder / "certificate.pem"
    key = folder / "key.pem"
    kind = ["-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
    name = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"]
    subprocess.run(
        ["openssl", "req", *kind, *name, "-keyout", key, "-out", file],
        check=True,
        capture_output=True,
        timeout=LIMIT_S,
    )
    file.write_bytes(file.read_bytes() + key.read_bytes())
    return file
