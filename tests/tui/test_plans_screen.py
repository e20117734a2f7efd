"""The screen of plans under every key: what it asks of the source, and what it says."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
import pytest

from gitdash.maintenance.script import shell_script
from gitdash.model.plan import Plan
from gitdash.model.report import RepositoryReport
from gitdash.model.task import Task
from gitdash.tui.dashboard import Dashboard
from gitdash.tui.jobs.screen import JobsScreen
from gitdash.tui.options import Options
from gitdash.tui.pages.name_screen import NameScreen
from gitdash.tui.plans.book import AT_ONCE
from gitdash.tui.plans.screen import PlansScreen
from gitdash.tui.plans.tasks_screen import TasksScreen
from gitdash.tui.repository.screen import RepositoryScreen
from tests.support.idle import until
from tests.tui.driven import Driven
from tests.tui.fixture_fleet import NOW_S, PACKS_OUTSIDE, ROOT, fixed_reports, fixed_summaries, many_summaries
from tests.tui.fixture_plans import DEPLOY, EMPTY, HOSTILE_PLANS, MEMBER, PLANS, WEB, member_plan, web_plan
from tests.tui.source_double import SourceDouble


class DrivenPlans(Driven):
    """A dashboard whose screen of plans is open."""

    @property
    def screen(self) -> PlansScreen:
        screen = next(screen for screen in self.app.screen_stack if isinstance(screen, PlansScreen))
        assert isinstance(screen, PlansScreen)
        return screen

    async def settle(self) -> None:
        for _ in range(3):
            await self.pilot.pause()
            self.app.flush()
        await self.pilot.pause()

    async def answer(self, *plans: Plan) -> None:
        """Have these plans made, or all that were asked for."""
        by_path = {plan.path: plan for plan in plans}
        asked = [path for paths, _ in self.source.planned for path in paths]
        for path in by_path or dict.fromkeys(asked):
            self.source.happen().plans[path] = by_path.get(path) or PLANS.get(path) or HOSTILE_PLANS[path]
        await self.settle()

    async def write(self, text: str) -> None:
        """Put a text in place of what an input has, and accept it."""
        page = self.app.screen
        assert isinstance(page, NameScreen)
        page.input.value = text
        await self.press("enter")


@asynccontextmanager
async def plans_of(
    *paths: bytes,
    options: Options = Options(),  # noqa: B008 - it is frozen
    size: tuple[int, int] = (120, 40),
    reports: Sequence[RepositoryReport] | None = None,
) -> AsyncIterator[DrivenPlans]:
    source = SourceDouble(reports or fixed_reports())
    app = Dashboard([ROOT], fixed_summaries(), source, lambda: NOW_S, options)
    async with app.run_test(size=size) as pilot:
        await until(lambda: source.started, "the survey begins")
        driven = DrivenPlans(app, source, pilot)
        numbers = [app.fleet.number_of(path) for path in paths]
        if len(paths) == 1:
            app.fleet_screen.go_to(paths[0])
        else:
            app.fleet.marks.add(number for number in numbers if number is not None)
        await driven.settle()
        await driven.press("m")
        yield driven


async def test_key_opens_the_plan_of_the_row_and_changes_nothing() -> None:
    async with plans_of(WEB) as driven:
        assert driven.source.planned == [((WEB,), None)]
        assert "making plans 0 of 1" in driven.text()
        await driven.answer()
        assert "making" not in driven.text()
        assert "no bitmap for 655k objects" in driven.text()
        assert driven.screen.item == (WEB, Task.BITMAP)
        assert driven.source.run == []


async def test_key_opens_the_plans_of_all_marked_rows() -> None:
    async with plans_of(MEMBER, DEPLOY, WEB) as driven:
        ((paths, tasks),) = driven.source.planned
        assert {*paths} == {MEMBER, DEPLOY, WEB}
        assert tasks is None
        await driven.answer(member_plan())
        assert "making plans 1 of 3" in driven.text()
        await driven.answer()
        assert "3 tasks in 2 repositories marked · 3 refused" in driven.text()


@pytest.mark.parametrize("keys", [("p", "m"), ("enter", "m"), ("J", "m")])
async def test_key_acts_on_every_screen_whose_cursor_is_on_a_repository(keys: tuple[str, ...]) -> None:
    source = SourceDouble(fixed_reports())
    app = Dashboard([ROOT], fixed_summaries(), source, lambda: NOW_S)
    async with app.run_test(size=(120, 40)) as pilot:
        driven = DrivenPlans(app, source, pilot)
        await driven.press(*keys)
        if keys[0] == "J":
            assert driven.toasts() == ["A plan needs a repository: the cursor is on no repository."]
        else:
            assert len(driven.source.planned) == 1


async def test_plans_are_made_a_few_at_a_time_and_leaving_ends_it() -> None:
    source = SourceDouble()
    app = Dashboard([ROOT], many_summaries(200), source, lambda: NOW_S)
    async with app.run_test(size=(120, 40)) as pilot:
        driven = DrivenPlans(app, source, pilot)
        await driven.press("a", "m")
        ((first, _),) = source.planned
        assert len(first) == AT_ONCE
        await driven.answer(*(Plan(path=path, tasks=()) for path in first[:3]))
        assert "making plans 3 of 200" in driven.text()
        assert sum(len(paths) for paths, _ in source.planned) == AT_ONCE + 3
        await driven.press("escape")
        await driven.answer(*(Plan(path=path, tasks=()) for path in first[3:]))
        assert sum(len(paths) for paths, _ in source.planned) == AT_ONCE + 3


async def test_cursor_stays_on_top_until_it_is_moved_and_then_on_its_task() -> None:
    async with plans_of(MEMBER, DEPLOY, WEB) as driven:
        order = driven.screen.book.paths
        await driven.answer(*(plan for plan in (PLANS[order[2]],) if isinstance(plan, Plan)))
        assert driven.screen.item is not None
        assert driven.screen.item[0] == order[2]
        await driven.answer(*(plan for plan in (PLANS[order[1]],) if isinstance(plan, Plan)))
        assert driven.screen.item[0] == order[1]
        await driven.press("j")
        item = driven.screen.item
        await driven.answer()
        assert driven.screen.item == item


async def test_space_marks_a_task_and_on_a_head_all_of_them() -> None:
    async with plans_of(WEB) as driven:
        await driven.answer()
        await driven.press("space")
        assert [task.task for task in driven.screen.book.marked(WEB)] == [Task.PACK_REFS]
        assert "[ ] ▸ bitmap" in driven.text()
        await driven.press("k", "space")
        assert len(driven.screen.book.marked(WEB)) == 2
        await driven.press("space")
        assert driven.screen.book.marked(WEB) == ()


async def test_refused_task_cannot_be_marked_and_the_reason_is_said() -> None:
    async with plans_of(DEPLOY) as driven:
        await driven.answer()
        await driven.press("space")
        assert driven.screen.book.marked(DEPLOY) == ()
        assert driven.toasts() == [
            "sweep is refused: another git is at work: packed-refs.lock, no process seen holding it for 2h."
        ]


async def test_all_tasks_of_the_repository_are_marked_by_one_key_from_any_of_them() -> None:
    async with plans_of(WEB) as driven:
        await driven.answer()
        await driven.press("j", "a")
        assert driven.screen.book.marked(WEB) == ()
        await driven.press("a")
        assert len(driven.screen.book.marked(WEB)) == 2


@pytest.mark.parametrize("key", ["enter", "plus"])
async def test_commands_are_shown_and_hidden(key: str) -> None:
    async with plans_of(WEB) as driven:
        await driven.answer()
        assert "$ git" not in driven.text()
        await driven.press(key)
        assert "$ git repack" in driven.text()
        assert "pack-refs --all" not in driven.text()
        await driven.press("k", key)
        assert "pack-refs --all" in driven.text()
        await driven.press(key)
        assert "$ git" not in driven.text()


async def test_double_click_shows_the_commands() -> None:
    async with plans_of(WEB) as driven:
        await driven.answer()
        line = driven.screen.items._items[2]
        await driven.pilot.click(driven.screen.items, offset=(5, line), times=2)
        await driven.settle()
        assert driven.screen.item == (WEB, Task.PACK_REFS)
        assert "pack-refs --all" in driven.text()


async def test_click_on_a_mark_marks_and_elsewhere_only_moves_the_cursor() -> None:
    async with plans_of(WEB) as driven:
        await driven.answer()
        line = driven.screen.items._items[2]
        await driven.pilot.click(driven.screen.items, offset=(20, line))
        await driven.settle()
        assert driven.screen.item == (WEB, Task.PACK_REFS)
        assert len(driven.screen.book.marked(WEB)) == 2
        await driven.pilot.click(driven.screen.items, offset=(4, driven.screen.items._items[1]))
        await driven.settle()
        assert [task.task for task in driven.screen.book.marked(WEB)] == [Task.PACK_REFS]


async def test_run_asks_first_and_then_queues_what_is_marked_and_shows_the_jobs() -> None:
    async with plans_of(MEMBER, DEPLOY, WEB) as driven:
        await driven.answer()
        await driven.press("R")
        assert driven.source.run == []
        assert driven.toasts() == ["Once more runs 3 tasks in 2 repositories."]
        await driven.press("R")
        ((plans, name),) = driven.source.run
        assert name is None
        assert {plan.path: [task.task for task in plan.tasks] for plan in plans} == {
            MEMBER: [Task.INCREMENTAL_REPACK],
            WEB: [Task.BITMAP, Task.PACK_REFS],
        }
        assert driven.toasts()[-1] == "Queued 3 tasks in 2 repositories."
        assert isinstance(driven.app.screen, JobsScreen)
        await driven.press("escape")
        assert driven.app.screen is driven.app.fleet_screen


async def test_second_press_does_not_run_what_was_marked_after_the_first() -> None:
    async with plans_of(WEB) as driven:
        await driven.answer()
        await driven.press("space", "R", "space", "R")
        assert driven.source.run == []
        assert driven.toasts()[-1] == "Once more runs 2 tasks in 1 repository."


async def test_run_waits_until_all_plans_are_made() -> None:
    async with plans_of(MEMBER, WEB) as driven:
        await driven.answer(web_plan())
        await driven.press("R", "R")
        assert driven.source.run == []
        assert driven.toasts()[-1] == "Plans are still being made: 1 of 2."


async def test_nothing_is_run_where_nothing_is_marked() -> None:
    async with plans_of(DEPLOY) as driven:
        await driven.answer()
        await driven.press("R", "R")
        assert driven.source.run == []
        assert {*driven.toasts()} == {"No task is marked."}


async def test_read_only_plans_can_be_looked_at_but_not_run() -> None:
    async with plans_of(WEB, options=Options(read_only=True)) as driven:
        await driven.answer()
        assert "2 tasks in 1 repository marked" in driven.text()
        assert "R run" not in driven.text()
        await driven.press("R", "R")
        assert driven.source.run == []
        assert driven.toasts()[-1] == "Read-only: nothing is run. X writes a script of it."


@pytest.mark.safety
async def test_what_drops_objects_runs_only_under_the_name_of_the_repository() -> None:
    async with plans_of(WEB) as driven:
        await driven.answer(web_plan(Task.RECLAIM))
        await driven.press("R")
        assert isinstance(driven.app.screen, PlansScreen)
        assert driven.toasts()[-1].startswith("Once more asks for the name of the repository, and then runs ")
        await driven.press("R")
        assert isinstance(driven.app.screen, NameScreen)
        assert list(driven.app._notifications) == [], "they would cover what is asked"
        for wrong in ("web", "team/web.git", "WEB.GIT", "yes", " "):
            await driven.write(wrong)
            assert isinstance(driven.app.screen, NameScreen)
            await driven.press("enter")
        assert driven.source.run == []
        assert "Its name is web.git; nothing was run." in driven.text()
        await driven.write("web.git")
        ((plans, name),) = driven.source.run
        assert name == "web.git"
        assert Task.RECLAIM in [task.task for task in plans[0].tasks]
        assert isinstance(driven.app.screen, JobsScreen)


async def test_question_for_a_name_of_a_script_is_not_covered_by_what_was_said() -> None:
    async with plans_of(WEB) as driven:
        await driven.answer()
        await driven.press("R")
        assert len(driven.app._notifications) == 1
        await driven.press("X")
        assert isinstance(driven.app.screen, NameScreen)
        assert len(driven.app._notifications) == 0


@pytest.mark.safety
async def test_name_that_is_not_typed_runs_nothing() -> None:
    async with plans_of(WEB) as driven:
        await driven.answer(web_plan(Task.RECLAIM))
        await driven.press("R", "R", "escape")
        assert isinstance(driven.app.screen, PlansScreen)
        assert driven.source.run == []


async def test_added_task_is_planned_anew_with_those_there_are() -> None:
    async with plans_of(WEB) as driven:
        await driven.answer()
        await driven.press("t")
        page = driven.app.screen
        assert isinstance(page, TasksScreen)
        assert Task.BITMAP not in page._tasks
        assert page._tasks[-1] is Task.RECLAIM
        page.items.select(page._tasks.index(Task.VERIFY))
        await driven.press("enter")
        assert driven.source.planned[-1] == ((WEB,), (Task.BITMAP, Task.PACK_REFS, Task.VERIFY))
        assert driven.toasts() == ["Adding verify to the plan of team/web.git."]
        assert "planned anew" in driven.text()
        await driven.answer(web_plan(Task.VERIFY))
        assert "[x] ▸ verify" in driven.text()


async def test_task_is_added_to_all_that_lack_it_and_never_one_that_drops_objects() -> None:
    async with plans_of(MEMBER, WEB, EMPTY) as driven:
        await driven.answer()
        await driven.press("t")
        page = driven.app.screen
        assert isinstance(page, TasksScreen)
        assert Task.RECLAIM not in page._tasks
        assert "reclaim, which drops objects, is added to the plan of a single repository only." in driven.text()
        page.items.select(page._tasks.index(Task.PACK_REFS))
        await driven.press("a")
        added = dict(driven.source.planned[1:])
        assert added == {
            (MEMBER,): (Task.DEDUPLICATE, Task.INCREMENTAL_REPACK, Task.PACK_REFS),
            (EMPTY,): (Task.PACK_REFS,),
        }
        assert driven.toasts() == ["Adding pack-refs to the plan of 2 repositories."]


async def test_plans_are_made_anew() -> None:
    async with plans_of(WEB) as driven:
        await driven.answer()
        await driven.press("r")
        assert driven.source.planned == [((WEB,), None)] * 2
        assert "making plans 0 of 1" in driven.text()
        assert "planned anew" in driven.text()


async def test_copy_has_each_command_of_the_task_in_turn_and_on_a_head_the_path() -> None:
    async with plans_of(MEMBER) as driven:
        await driven.answer()
        await driven.press("j", "y")
        first = driven.app.clipboard
        await driven.press("y")
        second = driven.app.clipboard
        assert first.endswith("multi-pack-index write")
        assert second.endswith("multi-pack-index expire")
        assert "-c core.hooksPath=/dev/null" in first
        await driven.press("y")
        assert driven.app.clipboard == first
        await driven.press("k", "k", "y")
        assert driven.app.clipboard == MEMBER.decode()


async def test_script_is_what_is_marked_in_a_file_of_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    async with plans_of(WEB) as driven:
        await driven.answer()
        await driven.press("space", "X")
        page = driven.app.screen
        assert isinstance(page, NameScreen)
        assert page.input.value.startswith("gitdash-plan-2025-06-1")
        await driven.write("plan.sh")
        await until(driven.toasts, "the script is written")
        (bitmap, pack_refs) = web_plan().tasks
        wanted = msgspec.structs.replace(web_plan(), tasks=(pack_refs,))
        assert (tmp_path / "plan.sh").read_text() == shell_script([wanted])
        assert bitmap.task not in (tmp_path / "plan.sh").read_text()
        assert driven.toasts() == [f"Wrote {tmp_path}/plan.sh."]


async def test_file_of_that_name_is_replaced_only_by_the_same_name_once_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "plan.sh").write_text("mine")
    async with plans_of(WEB) as driven:
        await driven.answer()
        await driven.press("X")
        await driven.write("plan.sh")
        await until(lambda: "There is plan.sh already" in driven.text(), "it is asked")
        assert (tmp_path / "plan.sh").read_text() == "mine"
        await driven.press("enter")
        await until(driven.toasts, "the script is written")
        assert (tmp_path / "plan.sh").read_text().startswith("#!/bin/sh")


@pytest.mark.safety
async def test_read_only_writes_a_new_file_and_never_replaces_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "plan.sh").write_text("mine")
    async with plans_of(WEB, options=Options(read_only=True)) as driven:
        await driven.answer()
        await driven.press("X")
        for _ in range(2):
            await driven.write("plan.sh")
            await until(lambda: "Choose another name" in driven.text(), "it is said")
        assert (tmp_path / "plan.sh").read_text() == "mine"
        await driven.write("other.sh")
        await until(driven.toasts, "the script is written")
        assert (tmp_path / "other.sh").exists()


@pytest.mark.safety
async def test_read_only_tab_of_a_browser_writes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    async with plans_of(WEB, options=Options(read_only=True, has_terminal=False)) as driven:
        await driven.answer()
        await driven.press("X")
        assert driven.toasts() == ["Read-only in a browser: no file is written there where the server runs."]
        assert isinstance(driven.app.screen, PlansScreen)


async def test_folder_that_cannot_be_written_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    async with plans_of(WEB) as driven:
        await driven.answer()
        await driven.press("X")
        await driven.write("plan.sh")
        await until(driven.toasts, "it is said")
        assert driven.toasts() == ["The script cannot be written: No such file or directory."]


async def test_nothing_to_write_is_said() -> None:
    async with plans_of(EMPTY) as driven:
        await driven.answer()
        assert "No finding names a task. t adds a task of your choice." in driven.text()
        await driven.press("X", "t")
        assert driven.toasts() == ["There is nothing to write: no task is marked or refused."]
        assert isinstance(driven.app.screen, TasksScreen)


@pytest.mark.parametrize("key", ["escape", "q"])
async def test_leaving_goes_back(key: str) -> None:
    async with plans_of(WEB) as driven:
        await driven.press(key)
        assert driven.app.screen is driven.app.fleet_screen


async def test_keys_do_no_harm_before_there_is_a_plan() -> None:
    async with plans_of(WEB) as driven:
        await driven.press("space", "a", "enter", "y", "t", "X", "R", "r", "j", "k")
        assert driven.source.run == []
        assert isinstance(driven.app.screen, PlansScreen)


async def test_repository_that_goes_meanwhile_leaves_the_plan() -> None:
    async with plans_of(MEMBER, WEB) as driven:
        await driven.answer(web_plan())
        driven.source.happen().forgotten.append(MEMBER)
        await driven.settle()
        assert "making" not in driven.text()
        driven.source.happen().forgotten.append(WEB)
        await driven.settle()
        assert "There is no repository left." in driven.text()


async def test_finding_opens_the_plan_with_the_cursor_on_what_it_wants_done() -> None:
    wanting = msgspec.structs.replace(PACKS_OUTSIDE, task="geometric-repack")
    reports = [
        msgspec.structs.replace(report, findings=(wanting,)) if report.repository.path == MEMBER else report
        for report in fixed_reports()
    ]
    source = SourceDouble(reports)
    app = Dashboard([ROOT], fixed_summaries(), source, lambda: NOW_S)
    async with app.run_test(size=(120, 40)) as pilot:
        driven = DrivenPlans(app, source, pilot)
        app.fleet_screen.go_to(MEMBER)
        await driven.settle()
        await driven.press("enter", "2")
        assert "m shows what geometric-repack would do here, and runs it" in driven.text()
        await driven.press("m")
        assert source.planned == [((MEMBER,), None)]
        await driven.answer()
        assert driven.screen.item == (MEMBER, Task.INCREMENTAL_REPACK)
        await driven.press("escape")
        assert isinstance(app.screen, RepositoryScreen)
        assert app.screen.shown_tab() == "findings"


@pytest.mark.safety
async def test_hostile_names_are_drawn_as_text_and_ascii_is_enough() -> None:
    async with plans_of(*HOSTILE_PLANS, options=Options(encoding="ascii"), size=(100, 120)) as driven:
        await driven.answer()
        while len(driven.screen.book.plans) < len(HOSTILE_PLANS):
            await driven.answer()
        await driven.press("enter")
        names = [driven.screen.name_of(path) for path in HOSTILE_PLANS]
        drawn = driven.text()
        assert all(sign.isprintable() for sign in drawn.replace("\n", ""))
        assert any(name in drawn for name in names)
        applied = [
            segment.text
            for strip in driven.app.screen._compositor.render_strips()
            for segment in strip.apply_filter(driven.app._line_filters[-1], driven.app.screen.background_colors[1])
        ]
        assert "".join(applied).isascii()


async def test_two_hundred_plans_that_arrive_at_once_do_not_hold_up_a_key() -> None:
    import time

    summaries = many_summaries(200)
    source = SourceDouble()
    app = Dashboard([ROOT], summaries, source, lambda: NOW_S)
    template = member_plan()
    async with app.run_test(size=(120, 40)) as pilot:
        driven = DrivenPlans(app, source, pilot)
        await driven.press("a", "m")
        paths = driven.screen.book.paths
        await driven.answer(*(msgspec.structs.replace(template, path=path) for path in paths))
        assert len(driven.screen.items.lines) > 200 * 8
        best_s = 1.0
        for _ in range(5):
            before_s = time.thread_time()
            driven.screen.action_toggle_task()
            best_s = min(best_s, time.thread_time() - before_s)
        assert best_s < 0.03
