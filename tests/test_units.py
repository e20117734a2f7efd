"""Values for people."""

import unicodedata

import pytest

from gitdash.units import (
    ago_text,
    counted,
    exact_bytes,
    fine_duration,
    human_age,
    human_bytes,
    human_count,
    human_duration,
    moment_text,
    printable,
    printable_path,
    sum_bytes,
)


@pytest.mark.parametrize(
    ("size_bytes", "text"),
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (1024, "1.00 KiB"),
        (1536, "1.50 KiB"),
        (10 * 1024, "10.0 KiB"),
        (1024**2 - 1, "1.00 MiB"),
        (58_358_935, "55.7 MiB"),
        (3 * 1024**5, "3.00 PiB"),
        (5000 * 1024**5, "5000 PiB"),
    ],
)
def test_bytes_have_binary_prefixes_and_three_digits(size_bytes: int, text: str) -> None:
    assert human_bytes(size_bytes) == text


@pytest.mark.parametrize(
    ("size_bytes", "text"),
    [
        (0, "0 bytes"),
        (1, "1 byte"),
        (1023, "1,023 bytes"),
        (1024, "1,024 bytes (1.00 KiB)"),
        (127_930, "127,930 bytes (125 KiB)"),
    ],
)
def test_exact_size_has_separators_and_from_one_kibibyte_on_what_people_remember(size_bytes: int, text: str) -> None:
    assert exact_bytes(size_bytes) == text


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0"),
        (999, "999"),
        (1000, "1,000"),
        (1024, "1,024"),
        (9_999, "9,999"),
        (10_000, "10.0k"),
        (99_949, "99.9k"),
        (655_136, "655k"),
        (999_999, "1.00M"),
        (12_345_678, "12.3M"),
        (999_949_999_999, "1000G"),
    ],
)
def test_counts_are_exact_below_ten_thousand_and_have_decimal_prefixes_from_there_on(count: int, text: str) -> None:
    assert human_count(count) == text


@pytest.mark.parametrize(
    ("duration_s", "text"),
    [
        (0.0, "0 ms"),
        (1e-9, "0.01 ms"),
        (0.000_043, "0.04 ms"),
        (0.001, "1 ms"),
        (0.004, "4 ms"),
        (1.25, "1.2 s"),
        (59.94, "59.9 s"),
        (125, "2 m 05 s"),
        (11_400, "3 h 10 m"),
    ],
)
def test_durations(duration_s: float, text: str) -> None:
    assert human_duration(duration_s) == text


@pytest.mark.parametrize(
    ("duration_s", "text"),
    [
        (1.42e-6, "1.42 µs"),
        (0.000231, "231 µs"),
        (0.000_999_9, "1.00 ms"),
        (0.00314, "3.14 ms"),
        (0.25, "250 ms"),
        (2, "2.00 s"),
        (0, "0 ms"),
        (12.34, "12.3 s"),
        (125, "2 m 05 s"),
    ],
)
def test_fine_durations_have_three_digits(duration_s: float, text: str) -> None:
    assert fine_duration(duration_s) == text


@pytest.mark.parametrize(
    ("age_s", "text"),
    [(-5, "now"), (0.2, "now"), (40, "40s"), (720, "12m"), (18_000, "5h"), (259_200, "3d"), (1_209_600, "2w")],
)
def test_ages_use_the_largest_whole_unit(age_s: float, text: str) -> None:
    assert human_age(age_s) == text


def test_moments_and_how_long_ago_they_were_are_for_people() -> None:
    # date -u -d @1700000000
    assert moment_text(1_700_000_000.9) == "2023-11-14 22:13:20 UTC"
    assert ago_text(0.2) == "now"
    assert ago_text(3 * 86_400.0) == "3d ago"


@pytest.mark.parametrize(
    ("raw", "safe"),
    [
        ("plain.git", "plain.git"),
        ("\x1b]0;owned\x07", "\\x1b]0;owned\\x07"),
        ("a\nb", "a\\x0ab"),
        ("\u009b2J", "\\x9b2J"),
        ("\u202egit", "\\u202egit"),
        ("zero\u200bwidth", "zero\\u200bwidth"),
        ("\udce9t\udce9", "\\xe9t\\xe9"),
        ("\U000e0041", "\\U000e0041"),
        ("[red]no markup[/]", "[red]no markup[/]"),
        ("日本", "日本"),
    ],
)
def test_text_that_a_terminal_could_act_on_becomes_visible(raw: str, safe: str) -> None:
    assert printable(raw) == safe


def test_no_control_format_or_surrogate_character_survives() -> None:
    survivors = [
        hex(code)
        for code in range(0x110000)
        if unicodedata.category(chr(code)) in {"Cc", "Cs", "Zl", "Zp"} and printable(chr(code)) == chr(code)
    ]
    assert survivors == []


def test_path_that_is_not_utf8_is_shown_with_its_bytes() -> None:
    assert printable_path(b"/srv/caf\xe9.git") == "/srv/caf\\xe9.git"


@pytest.mark.parametrize(
    ("sizes_bytes", "total_bytes"),
    [((), 0), ((1, 2), 3), ((2**63 - 2, 1), 2**63 - 1), ((2**63 - 1, 1), 2**63 - 1), ((2**63 - 1,) * 9, 2**63 - 1)],
)
def test_a_sum_of_sizes_is_no_larger_than_a_file_can_be(sizes_bytes: tuple[int, ...], total_bytes: int) -> None:
    assert sum_bytes(sizes_bytes) == total_bytes


@pytest.mark.parametrize(
    ("count", "words", "text"),
    [
        (0, ("pack",), "0 packs"),
        (1, ("pack",), "1 pack"),
        (2, ("repository", "repositories"), "2 repositories"),
        (12_000, ("reference is", "references are"), "12.0k references are"),
    ],
)
def test_noun_follows_its_count(count: int, words: tuple[str, ...], text: str) -> None:
    assert counted(count, *words) == text
