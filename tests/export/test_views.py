"""Saved views: those that come with gitdash select what they say, and those of people are checked and kept."""

import re

import pytest

from gitdash.assessment.rules import RULES
from gitdash.export.columns import CONDITION_NAMES, raw_row
from gitdash.export.views import BUILT_IN_VIEWS, decode_views, encode_views, known_parts
from gitdash.history.filter import columns_read, select
from gitdash.model.report import State
from gitdash.model.summary import RepositorySummary
from gitdash.model.view import View
from tests.export.rows import summary

VIEWS = {built_in.view.name: built_in.view for built_in in BUILT_IN_VIEWS}


def selected(name: str, *rows: RepositorySummary) -> list[str]:
    """Names of the rows that a built-in view shows, as SQLite selects them."""
    condition = VIEWS[name].filter.removeprefix("=")
    positions = select([raw_row(row) for row in rows], condition or "1")
    return [rows[position].name for position in positions]


@pytest.mark.parametrize("built_in", BUILT_IN_VIEWS, ids=lambda built_in: built_in.view.name)
def test_built_in_view_can_be_shown(built_in) -> None:
    view = built_in.view
    assert known_parts(view) == (view, ())
    assert re.fullmatch(r"[A-Z].*[^.]\.", built_in.help)
    assert view.columns[0] == "name"
    assert not view.sort or view.sort in view.columns
    if view.filter:
        assert view.filter.startswith("=")
        assert columns_read(view.filter.removeprefix("="), CONDITION_NAMES)


def test_names_of_built_in_views_are_few_and_unique() -> None:
    assert len(VIEWS) == len(BUILT_IN_VIEWS) <= 8


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
def test_built_in_view_names_findings_and_states_that_exist(view: View) -> None:
    ids = [rule.id for rule in RULES]
    for part in re.findall(r"rules LIKE '%([a-z-]+)%'", view.filter):
        assert any(part in rule_id for rule_id in ids), part
    states = re.findall(r"state (?:IN|=) (\(.*?\)|'\w+')", view.filter)
    assert {word for words in states for word in re.findall(r"\w+", words)} <= {*map(str, State)}


def test_what_needs_attention_is_worse_than_a_notice() -> None:
    rows = [summary(state.value, state=state) for state in State]
    assert selected("needs attention", *rows) == ["warning", "critical", "unreadable"]


def test_views_select_by_what_they_are_called() -> None:
    plain = summary("plain")
    assert selected("biggest", plain) == ["plain"]
    assert selected("garbage", plain, summary("left", garbage_bytes=5), summary("?", garbage_bytes=None)) == ["left"]
    assert selected("duplicates left", plain, summary("member", duplicate_bytes=9)) == ["member"]
    pool = summary("pool", borrower_count=2)
    assert selected("pools and members", plain, pool, summary("member", alternate_count=1)) == ["pool", "member"]


@pytest.mark.parametrize(
    ("rule", "name"),
    [
        ("stale-lock", "locks and leftovers"),
        ("maintenance-lock", "locks and leftovers"),
        ("stale-keep", "locks and leftovers"),
        ("gc-log", "locks and leftovers"),
        ("gc-pid", "locks and leftovers"),
        ("no-bitmap", "slow to read"),
        ("many-packs", "slow to read"),
        ("packs-outside-midx", "slow to read"),
        ("loose-objects", "slow to read"),
        ("unreadable-parts", "not a number"),
        ("size-unreadable", "not a number"),
        ("measurement-notes", "not a number"),
    ],
)
def test_finding_is_seen_in_its_view_also_if_it_is_not_the_worst(rule: str, name: str) -> None:
    row = summary("found", rules=("missing-lender", rule), worst_rule="missing-lender", state=State.CRITICAL)
    assert selected(name, summary("other", rules=("shallow",)), row) == ["found"]


def test_columns_of_a_view_may_have_either_name_and_stand_once() -> None:
    view, problems = known_parts(View(name="a", columns=("disk_bytes", "name", "disk"), sort="-pack_count"))
    assert view == View(name="a", columns=("disk", "name"), sort="-packs")
    assert problems == ()


def test_column_that_does_not_exist_is_left_out_and_named() -> None:
    view, problems = known_parts(View(name="a\x1b", filter="x", columns=("diks", "name"), sort="-lose", group="root"))
    assert view == View(name="a\x1b", filter="x", columns=("name",), group="root")
    assert problems == (
        "view 'a\\x1b': no column 'diks', did you mean 'disk'?",
        "view 'a\\x1b': no column 'lose', did you mean 'loose'?",
    )


def test_views_are_the_same_after_they_were_kept() -> None:
    views = (View(name="é [/] \x1b", filter="=disk > 1", sort="-disk", columns=("name",), group="pool"), View(name="b"))
    assert decode_views(encode_views(views)) == views
    assert decode_views(encode_views(VIEWS.values())) == tuple(VIEWS.values())


@pytest.mark.parametrize(
    ("data", "names"),
    [
        (b'[{"name":"a"},{"name":1},{"nam":"x"},3,null,{"name":"b","later":1},{"name":"c","group":"size"}]', ["a"]),
        (b'[{"name":"\xff"},{"name":"c"}]', ["c"]),
        (b"", []),
        (b"{}", []),
        (b"[", []),
        (b"[" * 100_000, []),
        (b'[{"name":"a"}', []),
    ],
)
def test_what_is_no_view_is_left_out(data: bytes, names: list[str]) -> None:
    assert [view.name for view in decode_views(data)] == names
