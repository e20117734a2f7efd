"""Which plans are asked for and when, which tasks are marked, and what would be run or written."""

import pytest

from gitdash.model.plan import Plan, PlannedTask, Refusal
from gitdash.model.repository import Unreadable
from gitdash.model.task import Task
from gitdash.tui.plans.book import AT_ONCE, PlanBook, Request
from gitdash.tui.plans.task_list import addable_tasks
from tests.tui.fixture_plans import DEPLOY, EMPTY, LOST, MEMBER, PLANS, WEB, web_plan


def filled(*paths: bytes, is_read_only: bool = False) -> PlanBook:
    """A book all of whose plans are made."""
    book = PlanBook(paths, is_read_only=is_read_only)
    while requests := book.requests():
        for request in requests:
            for path in request.paths:
                assert book.take(path, PLANS[path])
    return book


def tasks_of(plans: list[Plan]) -> dict[bytes, list[Task]]:
    return {plan.path: [planned.task for planned in plan.tasks] for plan in plans}


def test_plans_are_asked_for_a_few_at_a_time_and_each_once() -> None:
    paths = [b"/%d" % number for number in range(3 * AT_ONCE - 1)]
    book = PlanBook([*paths, paths[0]])
    asked: list[bytes] = []
    while requests := book.requests():
        (request,) = requests
        assert request.tasks is None
        assert len(request.paths) <= AT_ONCE
        asked += request.paths
        assert book.requests() == []
        assert book.made_count == len(asked) - len(request.paths)
        for path in request.paths:
            book.take(path, Unreadable("no"))
    assert asked == paths
    assert book.is_complete
    assert book.made_count == len(paths)


def test_one_answer_makes_room_for_one_more_question() -> None:
    paths = [b"/%d" % number for number in range(AT_ONCE + 2)]
    book = PlanBook(paths)
    book.requests()
    book.take(paths[3], Unreadable("no"))
    assert book.requests() == [Request((paths[AT_ONCE],), None)]


def test_answer_about_another_repository_is_not_taken() -> None:
    book = PlanBook([WEB])
    assert not book.take(EMPTY, PLANS[EMPTY])
    assert book.plans == {}


def test_what_nothing_speaks_against_is_marked_at_first() -> None:
    book = filled(MEMBER, DEPLOY, WEB, LOST, EMPTY)
    assert tasks_of(book.marked_plans()) == {
        MEMBER: [Task.INCREMENTAL_REPACK],
        WEB: [Task.BITMAP, Task.PACK_REFS],
    }
    counts = book.counts()
    assert (counts.marked_count, counts.repository_count, counts.refused_count) == (3, 2, 3)
    assert counts.needed_bytes == 1310 << 20


def test_refused_task_is_never_marked() -> None:
    book = filled(DEPLOY)
    book.toggle(DEPLOY, Task.SWEEP)
    book.toggle_all(DEPLOY)
    assert book.marked_plans() == []


def test_unmarked_task_is_not_run_and_can_be_marked_again() -> None:
    book = filled(WEB)
    book.toggle(WEB, Task.BITMAP)
    assert tasks_of(book.marked_plans()) == {WEB: [Task.PACK_REFS]}
    book.toggle(WEB, Task.BITMAP)
    assert tasks_of(book.marked_plans()) == {WEB: [Task.BITMAP, Task.PACK_REFS]}


def test_all_of_a_repository_are_marked_before_all_are_unmarked() -> None:
    book = filled(WEB)
    book.toggle(WEB, Task.BITMAP)
    book.toggle_all(WEB)
    assert len(book.marked(WEB)) == 2
    book.toggle_all(WEB)
    assert book.marked(WEB) == ()


def test_script_has_what_is_marked_and_what_is_refused() -> None:
    book = filled(MEMBER, DEPLOY, WEB, EMPTY)
    book.toggle_all(WEB)
    assert tasks_of(book.script_plans()) == {
        MEMBER: [Task.DEDUPLICATE, Task.INCREMENTAL_REPACK],
        DEPLOY: [Task.SWEEP, Task.BITMAP],
    }


def test_added_task_is_asked_for_with_those_there_are_and_they_keep_their_reasons() -> None:
    book = filled(WEB)
    book.toggle(WEB, Task.PACK_REFS)
    assert book.add(WEB, Task.VERIFY)
    assert book.is_being_made(WEB)
    assert book.requests() == [Request((WEB,), (Task.BITMAP, Task.PACK_REFS, Task.VERIFY))]
    anew = web_plan(Task.VERIFY)
    bare = Plan(
        path=WEB,
        tasks=tuple(
            PlannedTask(task=one.task, because=("asked for",), steps=one.steps, gain=one.gain) for one in anew.tasks
        ),
    )
    assert book.take(WEB, bare)
    reasons = {planned.task: planned.because for planned in book.tasks_of(WEB)}
    assert reasons[Task.BITMAP] == ("no bitmap for 655k objects",)
    assert reasons[Task.VERIFY] == ("asked for",)
    assert [planned.task for planned in book.marked(WEB)] == [Task.BITMAP, Task.VERIFY]


def test_second_task_added_before_the_first_is_answered_is_asked_for_after_it() -> None:
    book = filled(WEB)
    book.add(WEB, Task.VERIFY)
    book.requests()
    assert book.add(WEB, Task.SWEEP)
    assert book.requests() == []
    book.take(WEB, web_plan(Task.VERIFY))
    assert book.requests() == [Request((WEB,), (Task.BITMAP, Task.PACK_REFS, Task.VERIFY, Task.SWEEP))]


@pytest.mark.parametrize(("path", "task"), [(WEB, Task.BITMAP), (LOST, Task.VERIFY), (b"/other", Task.VERIFY)])
def test_task_is_not_added_where_it_is_or_where_there_is_no_plan(path: bytes, task: Task) -> None:
    book = filled(WEB, LOST)
    assert not book.add(path, task)
    assert book.requests() == []


def test_plans_made_anew_keep_what_a_person_unmarked_and_drop_what_is_now_refused() -> None:
    book = filled(WEB)
    book.toggle(WEB, Task.PACK_REFS)
    book.again()
    assert not book.is_complete
    assert book.requests() == [Request((WEB,), None)]
    bitmap, pack_refs = web_plan().tasks
    refused = PlannedTask(
        task=bitmap.task,
        because=bitmap.because,
        steps=bitmap.steps,
        gain=bitmap.gain,
        refusals=(Refusal(rule="paused", reason="paused by a file"),),
    )
    book.take(WEB, Plan(path=WEB, tasks=(refused, pack_refs)))
    assert book.marked(WEB) == ()


def test_repository_that_is_gone_is_neither_asked_for_nor_waited_for() -> None:
    paths = [b"/%d" % number for number in range(AT_ONCE + 1)]
    book = PlanBook(paths)
    book.requests()
    assert book.forget([paths[0], paths[-1], b"/other"])
    assert not book.forget([b"/other"])
    for path in paths[1:-1]:
        book.take(path, Unreadable("no"))
    assert book.requests() == []
    assert book.is_complete
    assert len(book.plans) == AT_ONCE - 1


def test_read_only_plan_can_be_written_down_where_nothing_else_speaks_against_it() -> None:
    mode = Refusal(rule="read-only-mode", reason="gitdash runs in read-only mode")
    paused = Refusal(rule="paused", reason="paused by a file")
    free, held = (
        PlannedTask(task=task, because=("x",), steps=(), gain="x", refusals=refusals)
        for task, refusals in ((Task.VERIFY, (mode,)), (Task.SWEEP, (mode, paused)))
    )
    plan = Plan(path=WEB, tasks=(free, held), refusals=(mode,))
    book = PlanBook([WEB], is_read_only=True)
    book.requests()
    book.take(WEB, plan)
    assert [planned.task for planned in book.marked(WEB)] == [Task.VERIFY]
    assert [planned.refusals for planned in book.tasks_of(WEB)] == [(), (paused,)]
    strict = PlanBook([WEB])
    strict.requests()
    strict.take(WEB, plan)
    assert strict.marked(WEB) == ()


@pytest.mark.safety
def test_what_drops_objects_is_offered_for_one_repository_alone() -> None:
    assert Task.RECLAIM in addable_tasks([], is_alone=True)
    assert Task.RECLAIM not in addable_tasks([], is_alone=False)
    assert {*addable_tasks([], is_alone=True)} == {*Task}
    assert {*addable_tasks([Task.VERIFY], is_alone=False)} == {*Task} - {Task.RECLAIM, Task.VERIFY}
