"""The lines of plans: everything that speaks against a task is there, at any width, whatever a repository is called."""

import shlex
import unicodedata
from collections.abc import Sequence

import pytest

from gitdash.maintenance.steps import CHECK_LENDERS, act_step, git_step
from gitdash.model.finding import Severity
from gitdash.model.plan import Plan, PlannedTask, Unmended
from gitdash.model.task import Task
from gitdash.tui.drawing.cells import Line, line_length
from gitdash.tui.drawing.items import Page
from gitdash.tui.plans.book import Counts
from gitdash.tui.plans.commands import shown_steps, whole_commands
from gitdash.tui.plans.lines import RepositoryPlan, repository_block
from gitdash.tui.plans.meanings import MEANINGS
from gitdash.tui.plans.page import PlansPage, head_lines, start_of, title_pieces, totals_line
from gitdash.tui.plans.task_list import tasks_page
from gitdash.units import printable_path
from tests.tui.fixture_plans import DEPLOY, EMPTY, HOSTILE_PLANS, LOST, MEMBER, PLANS, WEB

WIDTHS = (60, 79, 80, 100, 120, 200)


def shown(path: bytes, *, marked: bool = True, unfolded: bool = False, plan: Plan | None = None) -> RepositoryPlan:
    answer = plan or PLANS.get(path) or HOSTILE_PLANS[path]
    tasks = answer.tasks if isinstance(answer, Plan) else ()
    return RepositoryPlan(
        path=path,
        name=printable_path(path),
        plan=answer,
        marked=frozenset(task.task for task in tasks if marked and not task.refusals),
        unfolded=frozenset(task.task for task in tasks if unfolded),
    )


def text_of(lines: Sequence[Line]) -> str:
    return "\n".join("".join(piece.text for piece in line).rstrip() for line in lines)


def block_text(path: bytes, width: int = 200, *, marked: bool = True, unfolded: bool = False) -> str:
    return text_of(repository_block(shown(path, marked=marked, unfolded=unfolded), width).lines)


def words(text: str) -> str:
    """A text without the breaks of lines and what they are indented by."""
    return " ".join(text.split())


@pytest.mark.parametrize("width", WIDTHS)
def test_why_gain_space_notes_and_refusals_of_every_task_are_there(width: int) -> None:
    for plan in (PLANS[MEMBER], PLANS[WEB], PLANS[DEPLOY]):
        assert isinstance(plan, Plan)
        text = words(block_text(plan.path, width))
        for planned in plan.tasks:
            assert planned.task.value in text
            for said in (*planned.because, *planned.notes):
                assert said in text
            for refusal in planned.refusals:
                assert f"{refusal.reason} ({refusal.rule})" in text


def test_space_that_a_task_needs_stands_beside_its_gain() -> None:
    (line,) = (line for line in block_text(MEMBER).splitlines() if "incremental-repack" in line)
    assert line.split()[:3] == ["[x]", "▸", "incremental-repack"]
    assert "may join 36 of 55.1 MiB" in line
    assert line.endswith("needs 58.0 MiB free")
    assert not any("needs" in line for line in block_text(WEB).splitlines() if "pack-refs" in line)


def test_mark_says_in_ascii_whether_a_task_is_run_left_out_or_refused() -> None:
    assert "[x] ▸ bitmap" in block_text(WEB)
    assert "[ ] ▸ bitmap" in block_text(WEB, marked=False)
    assert "[-] ▸ bitmap" in block_text(DEPLOY)


def test_reason_that_holds_for_all_is_said_once_at_the_head() -> None:
    text = block_text(DEPLOY)
    assert text.count("another git is at work") == 1
    assert text.splitlines()[1].split()[0] == "refused"
    assert "0 of 2 marked, 2 refused" in text.splitlines()[0]


def test_repository_without_a_plan_says_why_and_one_without_tasks_that_too() -> None:
    assert "no plan" in block_text(LOST)
    assert "permission denied" in block_text(LOST)
    assert block_text(EMPTY).splitlines()[0].endswith("nothing to do")


@pytest.mark.parametrize("width", WIDTHS)
def test_what_no_task_mends_stands_below_with_what_to_do_by_hand(width: int) -> None:
    lost = Unmended(
        rule="missing-lender",
        severity=Severity.CRITICAL,
        summary="borrows from /srv/pool.git, which is gone",
        remedy="bring the lender back",
    )
    plan = Plan(path=b"/srv/x.git", tasks=(), unmended=(lost,))
    text = words(text_of(repository_block(shown(plan.path, plan=plan), width).lines))
    assert "nothing to do" not in text
    assert "no task helps" in text
    assert f"by hand {lost.summary} {lost.remedy}" in text


def test_commands_are_shown_when_a_task_is_unfolded() -> None:
    assert "$ git" not in block_text(WEB)
    text = block_text(WEB, unfolded=True)
    assert "[x] ▾ bitmap" in text
    assert "$ git repack -a -d -l --cruft --write-bitmap-index" in text
    assert "same everywhere, and --git-dir=/srv/git/team/web.git" in text


def test_what_gitdash_does_itself_is_said_to_be_so() -> None:
    text = words(block_text(MEMBER, unfolded=True))
    assert ", by gitdash itself" in text


def test_what_is_done_if_a_step_fails_stands_below_it() -> None:
    step = git_step("verify it", "multi-pack-index", "verify", recovery=(git_step("write it anew", "write"),))
    steps = list(shown_steps([step]))
    assert [(one.does, one.is_recovery) for one in steps] == [("verify it", False), ("write it anew", True)]
    planned = PlannedTask(task=Task.MULTI_PACK_INDEX, because=("x",), steps=(step,), gain="x")
    plan = Plan(path=b"/r", common_dir=b"/r", tasks=(planned,))
    text = text_of(repository_block(shown(b"/r", plan=plan, unfolded=True), 120).lines)
    assert "if that fails: write it anew" in text


def test_command_of_a_thousand_packs_is_cut_where_it_is_shown_and_whole_where_it_is_copied() -> None:
    names = tuple(f"{number:040x}.pack" for number in range(1_000))
    step = git_step("index them", "index-pack", *names)
    planned = PlannedTask(task=Task.INDEX_PACK, because=("x",), steps=(step,), gain="x")
    plan = Plan(path=b"/r", common_dir=b"/r", tasks=(planned,))
    lines = repository_block(shown(b"/r", plan=plan, unfolded=True), 120).lines
    assert len(lines) < 40
    assert "…" in text_of(lines)
    assert whole_commands([step], b"/r")[0].endswith(names[-1])


@pytest.mark.parametrize("unfolded", [False, True])
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.safety
def test_no_line_is_wider_than_the_terminal_and_none_has_a_control(width: int, unfolded: bool) -> None:
    for path in [*PLANS, *HOSTILE_PLANS]:
        for line in repository_block(shown(path, unfolded=unfolded), width).lines:
            assert line_length(line) <= width
            text = "".join(piece.text for piece in line)
            assert not [sign for sign in text if unicodedata.category(sign) in {"Cc", "Cf", "Cs", "Zl", "Zp"}]


@pytest.mark.safety
def test_copied_command_is_one_line_that_a_shell_reads_as_the_same_words() -> None:
    (path,) = (path for path in HOSTILE_PLANS if path.endswith(b"$(touch pwned)"))
    plan = HOSTILE_PLANS[path]
    step = git_step("x", "index-pack", (path + b"/objects/pack/a b.pack").decode())
    (command,) = whole_commands([step], plan.common_dir)
    assert command.isprintable()
    arguments = shlex.split(command)
    assert arguments[0] == "git"
    assert arguments[-2:] == ["index-pack", "/srv/git/strange/$(touch pwned)/objects/pack/a b.pack"]
    assert f"--git-dir={path.decode()}" in arguments
    pairs = [arguments[place + 1] for place, word in enumerate(arguments) if word == "-c"]
    assert {"core.hooksPath=/dev/null", "gc.pruneExpire=never"} <= {*pairs}
    for step in plan.tasks[0].steps:
        assert all(command.isprintable() for command in whole_commands([step], plan.common_dir))


def test_act_that_no_shell_should_do_has_no_command_to_copy() -> None:
    assert whole_commands([act_step(CHECK_LENDERS)], b"/r") == ()
    assert whole_commands([act_step(CHECK_LENDERS, by_shell="rm -f -- /r/x")], b"/r") == ("rm -f -- /r/x",)


def test_page_has_an_item_for_each_repository_and_each_task_and_what_is_to_do_comes_first() -> None:
    page = PlansPage().compose([shown(path) for path in (EMPTY, LOST, DEPLOY, WEB)], [], 120)
    assert page.names == [
        (DEPLOY, None),
        (DEPLOY, Task.SWEEP),
        (DEPLOY, Task.BITMAP),
        (WEB, None),
        (WEB, Task.BITMAP),
        (WEB, Task.PACK_REFS),
        (LOST, None),
        (EMPTY, None),
    ]
    heads = [text_of([page.lines[number]]).split()[0] for number in page.items]
    assert heads == [
        "/srv/git/infra/deploy.git",
        *("[-]", "[-]"),
        "/srv/git/team/web.git",
        *("[x]", "[x]"),
        "/srv/git/lost.git",
        "/srv/git/empty.git",
    ]


def test_page_composes_only_what_is_other_than_before() -> None:
    pages = PlansPage()
    first = pages.compose([shown(MEMBER), shown(WEB)], [], 120)
    second = pages.compose([shown(MEMBER), shown(WEB, marked=False)], [], 120)

    def block(page: Page, path: bytes) -> list[int]:
        start = page.items[page.names.index((path, None))]
        return [id(line) for line in page.lines[start : start + 3]]

    assert block(first, MEMBER) == block(second, MEMBER)
    assert block(first, WEB) != block(second, WEB)
    assert text_of(pages.compose([shown(WEB)], [], 60).lines) == block_text(WEB, 60)


def test_cursor_begins_on_what_is_wanted_else_on_the_first_task() -> None:
    names = [(EMPTY, None), (WEB, None), (WEB, Task.BITMAP), (WEB, Task.PACK_REFS)]
    assert start_of(names, None) == (WEB, Task.BITMAP)
    assert start_of(names, Task.PACK_REFS) == (WEB, Task.PACK_REFS)
    assert start_of(names, Task.VERIFY) == (WEB, Task.BITMAP)
    assert start_of(names[:1], None) == (EMPTY, None)
    assert start_of([], None) is None


@pytest.mark.parametrize("width", WIDTHS)
def test_lines_around_the_plans_fit(width: int) -> None:
    counts = Counts(marked_count=12_345, repository_count=6_789, refused_count=2_345, needed_bytes=3 << 40)
    for line in (totals_line(counts, width), title_pieces("x" * 300, 12_345, 1_234, width)):
        assert line_length(line) <= width
    for is_complete in (False, True):
        for count in (0, 1):
            for line in head_lines({"add_task": "t"}, width, count=count, has_any_task=False, is_complete=is_complete):
                assert line_length(line) <= width
    for is_alone in (True, False):
        page = tasks_page(list(MEANINGS), width, is_alone=is_alone)
        assert all(line_length(line) <= width for line in page.lines)


def test_totals_name_tasks_repositories_and_what_is_refused() -> None:
    text = text_of(
        [totals_line(Counts(marked_count=1, repository_count=1, refused_count=3, needed_bytes=58 << 20), 120)]
    )
    assert text == " 1 task in 1 repository marked · 3 refused · the largest needs 58.0 MiB free"
    counts = Counts(marked_count=0, repository_count=0, refused_count=0, needed_bytes=0)
    nothing = text_of([totals_line(counts, 120)])
    assert nothing == " 0 tasks in 0 repositories marked"


def test_title_says_how_far_the_making_is_until_all_are_made() -> None:
    assert text_of([title_pieces("12 repositories", 12, 3, 80)]).endswith("making plans 3 of 12")
    assert "making" not in text_of([title_pieces("12 repositories", 12, 12, 80)])


def test_every_task_has_a_meaning() -> None:
    assert {*MEANINGS} == {*Task}
    assert list(MEANINGS)[-1] is Task.RECLAIM
