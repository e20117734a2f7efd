import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitdash.gitcmd.output import PART_LIMIT_BYTES, BoundedText, first_complaint


def collected(*chunks: bytes) -> BoundedText:
    text = BoundedText()
    for chunk in chunks:
        text.append(chunk)
    return text


def test_short_text_is_kept_whole() -> None:
    assert collected(b"warning: a\n", b"", b"fatal: b\n").text() == "warning: a\nfatal: b\n"


def test_of_a_long_text_the_first_and_the_last_lines_are_kept_and_the_gap_is_counted() -> None:
    lines = [b"error: line %d\n" % number for number in range(20_000)]
    text = collected(*lines).text()
    assert text.startswith("error: line 0\n")
    assert text.endswith("error: line 19999\n")
    assert len(text) < 2 * PART_LIMIT_BYTES + 100
    left_out = sum(map(len, lines)) - sum(len(line) + 1 for line in text.splitlines() if line.startswith("error"))
    assert f"[... {left_out} bytes left out ...]" in text


def test_memory_does_not_follow_the_length_of_the_text() -> None:
    text = collected(*[b"x" * 65536] * 100)
    assert text.length_bytes == 6_553_600
    assert len(text.text()) < 100


@pytest.mark.parametrize("before", range(PART_LIMIT_BYTES - 40, PART_LIMIT_BYTES + 3))
def test_a_credential_that_lies_across_the_cut_is_not_kept_in_part(before: int) -> None:
    data = b"\n".rjust(before, b"-") + b"https://user:CANARYCANARY@host/\n" + b"tail\n" * 20_000
    assert "CAN" not in collected(data).text()


@given(chunks=st.lists(st.binary(max_size=3 * PART_LIMIT_BYTES), max_size=8))
@settings(max_examples=60, deadline=None, database=None)
def test_any_bytes_make_a_bounded_text(chunks: list[bytes]) -> None:
    text = collected(*chunks)
    assert text.length_bytes == sum(map(len, chunks))
    assert len(text.text()) <= 4 * PART_LIMIT_BYTES


@pytest.mark.parametrize(
    ("stderr", "complaint"),
    [
        ("", ""),
        ("warning: w\nerror: e\nfatal: f\n", "f"),
        ("warning: w\nerror: e\nerror: e2\n", "e"),
        ("\nsomething\nelse\n", "something"),
    ],
)
def test_the_complaint_is_the_first_fatal_else_the_first_error_else_the_first_line(stderr: str, complaint: str) -> None:
    assert first_complaint(stderr) == complaint
