"""Who may come in, and what is translated: tables of values."""

import json
import re

import pytest

from gitdash.tui.web.access import Access, answer_headers, new_access
from gitdash.tui.web.packets import cells, is_exit, packet_for

ACCESS = Access(token="t" * 43, port=8765)


def test_tokens_differ_and_have_256_bits() -> None:
    tokens = {new_access(1).token for _ in range(50)}
    assert len(tokens) == 50
    assert all(re.fullmatch(r"[\w-]{43}", token) for token in tokens)


def test_url_names_the_loopback_address_and_the_token() -> None:
    assert ACCESS.url == f"http://127.0.0.1:8765/?token={'t' * 43}"
    assert Access(token="x", port=80).url == "http://127.0.0.1/?token=x"


@pytest.mark.parametrize("given", ["", "t", "t" * 42, "t" * 44, "T" * 43, "é" * 43, "\udcff" * 43])
def test_no_other_text_is_the_token(given: str) -> None:
    assert ACCESS.is_token("t" * 43)
    assert not ACCESS.is_token(given)


HOSTS = [
    (["127.0.0.1:8765"], True),
    (["localhost:8765"], True),
    ([], False),
    (["127.0.0.1"], False),
    (["127.0.0.1:8766"], False),
    (["127.0.0.1:8765", "127.0.0.1:8765"], False),
    (["evil.example:8765"], False),
    (["127.0.0.1:8765.evil.example"], False),
    (["127.0.0.1.nip.example:8765"], False),
    (["[::1]:8765"], False),
    (["0.0.0.0:8765"], False),
    (["LOCALHOST:8765"], False),
    (["user@127.0.0.1:8765"], False),
]


@pytest.mark.parametrize(("hosts", "is_own"), HOSTS)
def test_only_two_names_are_our_host(hosts: list[str], is_own: bool) -> None:
    assert ACCESS.is_own_host(hosts) is is_own


def test_browsers_leave_out_the_port_of_http() -> None:
    assert Access(token="x", port=80).is_own_host(["127.0.0.1"])
    assert not Access(token="x", port=80).is_own_host(["127.0.0.1:80"])


ORIGINS = [
    (["http://127.0.0.1:8765"], "127.0.0.1:8765", True),
    (["http://localhost:8765"], "localhost:8765", True),
    (["http://localhost:8765"], "127.0.0.1:8765", False),
    (["https://127.0.0.1:8765"], "127.0.0.1:8765", False),
    (["http://127.0.0.1:9999"], "127.0.0.1:8765", False),
    (["http://127.0.0.1"], "127.0.0.1:8765", False),
    (["http://evil.example"], "127.0.0.1:8765", False),
    (["http://evil.example:8765"], "evil.example:8765", False),
    (["null"], "127.0.0.1:8765", False),
    ([""], "127.0.0.1:8765", False),
    ([], "127.0.0.1:8765", False),
    (["http://127.0.0.1:8765"] * 2, "127.0.0.1:8765", False),
]


@pytest.mark.parametrize(("origins", "host", "is_own"), ORIGINS)
def test_only_a_page_of_ours_is_our_origin(origins: list[str], host: str, is_own: bool) -> None:
    assert ACCESS.is_own_origin(origins, host) is is_own


def test_policy_names_no_other_source_than_this_server() -> None:
    policy = dict(part.split(" ", 1) for part in answer_headers(ACCESS)["Content-Security-Policy"].split("; "))
    assert policy == {
        "default-src": "'none'",
        "script-src": "'self'",
        "style-src": "'self' 'unsafe-inline'",
        "font-src": "'self'",
        "img-src": "data:",
        "connect-src": "ws://127.0.0.1:8765 ws://localhost:8765",
        "base-uri": "'none'",
        "form-action": "'none'",
        "frame-ancestors": "'none'",
        "sandbox": "allow-scripts allow-same-origin",
    }


def test_keys_become_a_packet_of_what_a_terminal_reads() -> None:
    assert packet_for('["stdin", "q"]') == b"D\x00\x00\x00\x01q"
    assert packet_for(json.dumps(["stdin", "ä€"])) == b"D\x00\x00\x00\x05\xc3\xa4\xe2\x82\xac"


@pytest.mark.parametrize(
    ("message", "meta"),
    [
        ('["resize", {"width": 100, "height": 30}]', {"type": "resize", "width": 100, "height": 30}),
        ('["resize", {"width": 0, "height": 99999999}]', {"type": "resize", "width": 1, "height": 1000}),
        ('["focus"]', {"type": "focus"}),
        ('["blur"]', {"type": "blur"}),
    ],
)
def test_what_the_page_tells_becomes_a_meta_packet(message: str, meta: dict[str, object]) -> None:
    packet = packet_for(message)
    assert packet is not None
    assert packet[:1] == b"M"
    assert int.from_bytes(packet[1:5], "big") == len(packet) - 5
    assert json.loads(packet[5:]) == meta


@pytest.mark.parametrize(
    "message",
    [
        "",
        "q",
        "[]",
        "{}",
        "null",
        '["stdin"]',
        '["stdin", 1]',
        '["stdin", "a", "b"]',
        '["stdin", "\\ud800"]',
        '["resize", {"width": "1", "height": 1}]',
        '["resize", {"width": 1}]',
        '["quit"]',
        '["deliver_chunk_request", {"key": "x", "size": 1}]',
        '["ping", "1"]',
        "[" * 100_000,
    ],
)
def test_nothing_else_of_a_browser_reaches_the_dashboard(message: str) -> None:
    assert packet_for(message) is None


def test_a_terminal_has_at_least_one_cell_and_at_most_a_million() -> None:
    assert [cells(wanted) for wanted in (-5, 0, 1, 80, 1000, 10**9)] == [1, 1, 1, 80, 1000, 1000]


@pytest.mark.parametrize(
    ("meta", "is_end"),
    [
        (b'{"type": "exit"}', True),
        (b'{"type": "open_url", "url": "http://evil.example", "new_tab": true}', False),
        (b'{"type": "deliver_file_start", "key": "k"}', False),
        (b"[]", False),
        (b"{", False),
        (b"\xff", False),
    ],
)
def test_of_what_a_dashboard_tells_only_its_end_counts(meta: bytes, is_end: bool) -> None:
    assert is_exit(meta) is is_end
