"""Who may come in: a token, the names of our own host, our own origin; and what a browser may do with our pages. Pure.

The server listens on the loopback interface, which every user of this host and every page in the browser can reach:

- The token is in the URL. Not in a cookie: one for 127.0.0.1 is sent to every port of it, whoever listens there.
- A page of another site can open a socket to us and cannot read ours, so it has no token; its `Origin` is refused, too.
- A name of another site can be made to lead to 127.0.0.1 (DNS rebinding): then `Host` is not ours.

Source: RFC 6455 section 10.2, RFC 6265 section 8.5, Content Security Policy Level 3.
"""

import hmac
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

ADDRESS: Final = "127.0.0.1"
_NAMES: Final = (ADDRESS, "localhost")
_TOKEN_BYTES: Final = 32
_HTTP_PORT: Final = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """What is asked of whoever comes."""

    token: str
    port: int

    @property
    def url(self) -> str:
        """Where to open the dashboard. Whoever has it may."""
        return f"http://{self.hosts[0]}/?token={self.token}"

    @property
    def hosts(self) -> tuple[str, ...]:
        """What `Host` may be; browsers leave the port out where it is that of HTTP."""
        suffix = "" if self.port == _HTTP_PORT else f":{self.port}"
        return tuple(f"{name}{suffix}" for name in _NAMES)

    def is_token(self, given: str) -> bool:
        """Tell whether it is the token, in a time that does not tell how much of it is right."""
        return hmac.compare_digest(given.encode("utf-8", "replace"), self.token.encode())

    def is_own_host(self, hosts: Sequence[str]) -> bool:
        """Tell whether a request's `Host` headers are one, and one of ours."""
        return len(hosts) == 1 and hosts[0] in self.hosts

    def is_own_origin(self, origins: Sequence[str], host: str) -> bool:
        """Tell whether a request's `Origin` headers are one, that of a page which came from `host`."""
        return len(origins) == 1 and origins[0] == f"http://{host}" and self.is_own_host([host])


def new_access(port: int) -> Access:
    """Return a random token for a port."""
    return Access(token=secrets.token_urlsafe(_TOKEN_BYTES), port=port)


def answer_headers(access: Access) -> dict[str, str]:
    """Return the headers of every answer."""
    policy = (
        "default-src 'none'",
        "script-src 'self'",
        # xterm.js makes style elements of its own
        "style-src 'self' 'unsafe-inline'",
        "font-src 'self'",
        "img-src data:",
        " ".join(["connect-src", *(f"ws://{host}" for host in access.hosts)]),
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        # no pop-ups: xterm.js opens what looks like a URL when it is clicked, as the name of a branch may
        "sandbox allow-scripts allow-same-origin",
    )
    return {
        "Content-Security-Policy": "; ".join(policy),
        "Cache-Control": "no-store",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Referrer-Policy": "no-referrer",
        "Server": "gitdash",
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "DENY",
    }
