"""Who holds deleted packs, on the tab Objects."""

import pytest

from gitdash.model.held_packs import HeldPacks, PackHolder
from gitdash.model.repository import Unreadable
from gitdash.tui.repository.objects import objects_page
from tests.tui.fixture_fleet import MIB
from tests.tui.repository_pages import HOSTILE_TEXTS, entry, longest_line, texts_of, view_of
from tests.tui.test_repository_questions import PATH, opened


def holder(process_id: int, *, command: str = "git", is_own: bool = False, pack_count: int = 3) -> PackHolder:
    return PackHolder(
        process_id=process_id,
        command=command,
        is_own=is_own,
        pack_count=pack_count,
        other_count=0,
        bytes=1_229 * MIB,
    )


def texts(held: HeldPacks | Unreadable | None, width: int = 120) -> list[str]:
    return texts_of(objects_page(view_of(entry(), held_packs=held), width))


def test_each_process_is_named_with_what_it_keeps() -> None:
    held = HeldPacks(holders=(holder(4711), holder(4712, is_own=True)), bytes=1_229 * MIB, unseen_count=0)
    assert texts(held)[1:4] == [
        "1.20 GiB is not free yet  held by processes that have deleted files open",
        "process 4711 (git) holds 3 deleted packs, 1.20 GiB",
        "process 4712 (git, of gitdash) holds 3 deleted packs, 1.20 GiB",
    ]


def test_many_are_counted_and_what_was_not_seen_is_said() -> None:
    held = HeldPacks(holders=tuple(map(holder, range(1, 8))), bytes=MIB, unseen_count=12, is_complete=False)
    assert texts(held)[7:10] == [
        "and 2 more processes",
        "12 processes cannot be looked into",
        "there are more processes than could be looked at in time",
    ]


def test_nobody_who_holds_any_is_said_too() -> None:
    assert "No process that is seen holds deleted packs" in texts(HeldPacks(holders=(), bytes=0, unseen_count=0))
    assert "No process that is seen holds deleted packs; 1 process cannot be looked into" in texts(
        HeldPacks(holders=(), bytes=0, unseen_count=1)
    )
    assert "Who holds deleted packs is not known: no /proc" in texts(Unreadable("no /proc"))
    assert not [text for text in texts(None) if "deleted" in text]


@pytest.mark.safety
@pytest.mark.parametrize("width", [69, 79, 199])
@pytest.mark.parametrize("text", HOSTILE_TEXTS)
def test_any_command_stays_within_the_width(text: str, width: int) -> None:
    held = HeldPacks(holders=(holder(1, command=text),), bytes=1, unseen_count=1)
    assert longest_line(objects_page(view_of(entry(), held_packs=held), width)) <= width


async def test_answer_is_on_the_screen() -> None:
    async with opened() as here:
        await here.press("6")
        held = HeldPacks(holders=(holder(4711),), bytes=1_229 * MIB, unseen_count=0)
        here.source.happen().held_packs[PATH] = held
        await here.flush()
        assert "process 4711 (git) holds 3 deleted packs, 1.20 GiB" in here.text()
