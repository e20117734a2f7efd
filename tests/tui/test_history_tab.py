"""The tab History: what the ledger says of a repository, what it asks for, and what can be copied of it."""

import msgspec
import pytest

from gitdash.model.job import Job, JobKind, JobState
from gitdash.tui.dashboard import Dashboard
from gitdash.tui.repository.history import history_commands, history_page
from gitdash.tui.repository.screen import RepositoryScreen
from gitdash.tui.repository.view import Need
from tests.support.idle import until
from tests.tui.fixture_answers import MEMBER
from tests.tui.fixture_fleet import NOW_S, ROOT, fixed_reports, fixed_summaries
from tests.tui.fixture_ledger import COMMAND, CUT_OFF, ENTRIES, FETCH, LOOSE, entry, hostile_entry
from tests.tui.repository_pages import HOSTILE_TEXTS, longest_line, texts_of, view_of
from tests.tui.source_double import SourceDouble

FETCH_COMMAND = "git --git-dir=/run/shadow -c core.pager=cat fetch --prune origin '+refs/heads/*:refs/x/*'"


def test_actions_stand_with_age_seconds_outcome_and_what_changed() -> None:
    page = history_page(view_of(None, entries=ENTRIES, chosen=CUT_OFF.number), 200)
    lines = texts_of(page)
    assert lines[0] == "6 actions, the newest first"
    heads = [lines[number] for number in page.items]
    assert heads[0].startswith("1m ago      4.0 s  fetch origin                done             received 12.0k objects")
    assert heads[1].startswith("1m ago     700 ms  fetch origin                failed (needs a password)")
    assert "maintain loose-objects      done             packs 37 -> 38   loose objects 6,700 -> 0" in heads[2]
    assert heads[5].startswith("1d ago             fetch origin                cut off")


def test_action_under_the_cursor_is_unfolded() -> None:
    lines = texts_of(history_page(view_of(None, entries=ENTRIES, chosen=LOOSE.number), 120))
    assert "removed  objects/17/aa" in lines
    assert not any("git fetch" in line for line in lines)
    # NOW_S - 64
    assert "began 2025-06-15 15:05:36 UTC" in lines
    first = texts_of(history_page(view_of(None, entries=ENTRIES), 120))
    assert "git fetch --prune origin '+refs/heads/*:refs/x/*' +1 -c" in [" ".join(line.split()) for line in first]


def test_cut_off_action_says_what_it_may_have_left() -> None:
    lines = texts_of(history_page(view_of(None, entries=ENTRIES, chosen=CUT_OFF.number), 120))
    assert "may have left objects/pack/tmp_pack_Xy12, objects/maintenance.lock, gc.pid and 1 more" in lines


def test_without_entries_the_page_says_why() -> None:
    assert texts_of(history_page(view_of(None), 120))[0] == "Not read yet."
    waiting = view_of(None, waiting_since_s={Need.ENTRIES: 0.0})
    assert texts_of(history_page(waiting, 120))[0] == "Reading the ledger."
    nothing = texts_of(history_page(view_of(None, entries=()), 120))
    assert nothing[0] == "gitdash has done nothing to this repository yet: fetches and maintenance will stand here."


@pytest.mark.safety
@pytest.mark.parametrize("width", range(60, 201, 10))
def test_no_line_is_wider_than_the_terminal_whatever_the_ledger_says(width: int) -> None:
    hostile = [hostile_entry(text) for text in (*HOSTILE_TEXTS[:4], "\x1b[2J", "a\nb")]
    entries = tuple(msgspec.structs.replace(one, number=number) for number, one in enumerate((*hostile, *ENTRIES)))
    for one in entries:
        page = history_page(view_of(None, entries=entries, chosen=one.number), width)
        assert longest_line(page) <= width
        assert all(piece.text.isprintable() for line in page.lines for piece in line)


def test_commands_of_an_action_can_be_copied_whole() -> None:
    view = view_of(None, entries=(FETCH, LOOSE))
    assert history_commands(view, 0) == [FETCH_COMMAND]
    assert history_commands(view, 1) == []
    assert history_commands(view_of(None), 0) == ()


async def test_tab_asks_for_the_ledger_when_it_is_shown_and_again_when_a_job_has_ended() -> None:
    source = SourceDouble(fixed_reports())
    app = Dashboard([ROOT], fixed_summaries(), source, lambda: NOW_S)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(lambda: source.started, "the survey begins")
        app.open_repository(MEMBER)
        await pilot.pause()
        app.flush()
        assert source.entries_asked == []
        await pilot.press("9")
        await pilot.pause()
        assert source.entries_asked == [MEMBER]
        source.happen().entries[MEMBER] = (FETCH, LOOSE)
        app.flush()
        await pilot.pause()
        screen = app.screen
        assert isinstance(screen, RepositoryScreen)
        assert len(screen.items._items) == 2
        await pilot.press("y", "y")
        assert app.clipboard == FETCH_COMMAND
        job = Job(
            number=1,
            kind=JobKind.FETCH,
            path=MEMBER,
            state=JobState.DONE,
            asked_at_s=NOW_S,
            started_at_s=NOW_S,
            ended_at_s=NOW_S,
        )
        source.happen().jobs[1] = msgspec.structs.replace(job, state=JobState.RUNNING, ended_at_s=None)
        app.flush()
        assert source.entries_asked == [MEMBER]
        source.happen().jobs[1] = job
        app.flush()
        await pilot.pause()
        assert source.entries_asked == [MEMBER, MEMBER]
        source.happen().entries[MEMBER] = (entry(8, commands=(COMMAND,)), FETCH, LOOSE)
        app.flush()
        await pilot.pause()
        assert len(screen.items._items) == 3
        assert screen.items.chosen == FETCH.number, "the cursor stays on its action"
