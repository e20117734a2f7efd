"""The screens of the lab under every key: what they ask of the source, what they show, and what they say."""

import dataclasses
import shlex
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from gitdash.model.experiment import ExperimentKind
from gitdash.model.job import Job, JobKind, JobState
from gitdash.model.repository import Unreadable
from gitdash.tui.confirmation import CONFIRM_S
from gitdash.tui.dashboard import Dashboard
from gitdash.tui.experiments import ExperimentChoice, LabAnswer
from gitdash.tui.lab.choosing import Choosing
from gitdash.tui.lab.experiment_screen import ExperimentScreen
from gitdash.tui.lab.screen import LabScreen
from gitdash.tui.options import Options
from tests.support.idle import until
from tests.tui.driven import Driven
from tests.tui.fixture_fleet import NOW_S, ROOT, fixed_reports, fixed_summaries
from tests.tui.fixture_lab import EVERYTHING, WEB, WITHOUT_LENDER, answer, size_result, under_way
from tests.tui.source_double import SourceDouble

SIZE = ExperimentKind.SIZE


class DrivenLab(Driven):
    """A dashboard whose lab is open."""

    @property
    def page(self) -> str:
        """All lines of the screen, scrolled off ones included."""
        screen = self.app.screen
        assert isinstance(screen, LabScreen | ExperimentScreen)
        return "\n".join("".join(piece.text for piece in line).rstrip() for line in screen.items.lines)

    async def settle(self) -> None:
        for _ in range(3):
            await self.pilot.pause()
            self.app.flush()
        await self.pilot.pause()

    async def tell(self, told: LabAnswer | Unreadable | None = None) -> None:
        self.source.happen().experiments[WEB] = told or answer()
        await self.settle()

    async def run(self, state: JobState, *, with_result: bool = False, problem: str | None = None) -> None:
        """Have the experiment stand so."""
        now = under_way(choice=ExperimentChoice(question=EVERYTHING))
        now = dataclasses.replace(now, result=size_result(13, age_s=0) if with_result else None, problem=problem)
        if state is JobState.QUEUED:
            now = dataclasses.replace(now, variants=(), step="")
        self.source.happen().experiment_runs[WEB, SIZE] = now
        self.source.happen().jobs[1] = Job(
            number=1,
            kind=JobKind.BENCH,
            path=WEB,
            what="size",
            state=state,
            step=now.step,
            asked_at_s=NOW_S - 20,
            started_at_s=None if state is JobState.QUEUED else NOW_S - 18,
            ended_at_s=NOW_S if state.has_ended else None,
            reason=problem,
        )
        await self.settle()

    async def to(self, what: str, name: str) -> None:
        """Put the cursor on an item."""
        screen = self.app.screen
        assert isinstance(screen, ExperimentScreen)
        screen.items.select(screen.items._names.index((what, name)))
        await self.settle()


@asynccontextmanager
async def lab_of(*, size: tuple[int, int] = (120, 40), read_only: bool = False) -> AsyncIterator[DrivenLab]:
    source = SourceDouble(fixed_reports())
    app = Dashboard([ROOT], fixed_summaries(), source, lambda: NOW_S, Options(read_only=read_only))
    async with app.run_test(size=size) as pilot:
        await until(lambda: source.started, "the survey begins")
        driven = DrivenLab(app, source, pilot)
        app.fleet_screen.go_to(WEB)
        await driven.settle()
        await driven.press("b")
        yield driven


@asynccontextmanager
async def experiment_of(*, read_only: bool = False, size: tuple[int, int] = (120, 40)) -> AsyncIterator[DrivenLab]:
    async with lab_of(read_only=read_only, size=size) as driven:
        await driven.tell()
        await driven.press("enter")
        await driven.tell()
        yield driven


async def test_key_opens_the_lab_of_the_row_and_runs_nothing() -> None:
    async with lab_of() as driven:
        assert isinstance(driven.app.screen, LabScreen)
        assert driven.source.experiments_asked == [WEB]
        assert "Looking at what can be compared here" in driven.page
        await driven.tell()
        assert "by question: everything: 2 of 3; without the lender: 2 of 2." in driven.page
        assert "It has no remote." in driven.page
        assert "1m ago" in driven.page
        assert driven.source.experiments_started == []
        await driven.press("escape")
        assert driven.app.screen is driven.app.fleet_screen


async def test_key_opens_the_lab_from_a_repository_and_from_lenders() -> None:
    async with lab_of() as driven:
        await driven.press("q", "enter", "b")
        assert isinstance(driven.app.screen, LabScreen)
        assert driven.app.screen.path == WEB
        await driven.press("q", "q", "p", "b")
        assert isinstance(driven.app.screen, LabScreen)
        assert driven.app.screen.path != WEB


async def test_repository_that_cannot_be_read_says_why_on_both_screens() -> None:
    async with lab_of() as driven:
        await driven.tell(Unreadable("HEAD: Permission denied"))
        assert "HEAD: Permission denied" in driven.page
        await driven.press("enter", "x", "e")
        assert isinstance(driven.app.screen, LabScreen)
        driven.app.open_experiment(WEB, SIZE)
        await driven.settle()
        await driven.press("R", "space", "y", "a", "right", "enter", "e")
        assert driven.toasts()[-1] == "What can be compared here is not known yet."
        await driven.tell(Unreadable("HEAD: Permission denied"))
        assert "HEAD: Permission denied" in driven.page


async def test_explanation_has_what_was_published() -> None:
    async with lab_of() as driven:
        await driven.tell()
        assert "13.3 s" not in driven.page
        await driven.press("e")
        assert "13.3 s" in driven.page
        assert "28.5 s" in driven.page
        await driven.press("e")
        assert "13.3 s" not in driven.page


async def test_experiment_shows_the_last_runs_and_what_came_before_here_and_elsewhere() -> None:
    async with experiment_of() as driven:
        assert isinstance(driven.app.screen, ExperimentScreen)
        lines = driven.page.splitlines()
        (bitmap,) = [line for line in lines if line.startswith("  [x]  bitmap ")]
        assert "12.1 ms  11.8 ms to 12.5 ms" in bitmap
        assert "┃" in bitmap
        assert "  [-]  pseudo-merges   not here: needs git 2.46, this is 2.39.5" in lines
        assert "     bitmap 16.9 ms   walk 59.5 ms" in lines
        (other,) = [line for line in lines if "infra/deploy.git" in line]
        assert other.startswith("   #7 2d ago")


async def test_run_says_first_what_it_takes_and_runs_when_asked_again() -> None:
    async with experiment_of() as driven:
        await driven.press("R")
        assert driven.source.experiments_started == []
        assert "R once more, now, runs 2 of 3 variants for up to 1 m 00 s" in driven.page
        assert "not written to" in driven.page
        await driven.press("R")
        assert "R, pressed twice, runs 2 of 3 variants for up to 1 m 00 s" in driven.page
        assert driven.source.experiments_started == [(WEB, SIZE, ExperimentChoice(question=EVERYTHING))]


async def test_question_back_is_seen_from_the_end_of_the_page_and_holds_for_what_was_chosen_then() -> None:
    async with experiment_of(size=(80, 24)) as driven:
        await driven.press("end")
        assert driven.app.screen.items.scroll_offset.y > 0
        await driven.press("R")
        assert driven.app.screen.items.scroll_offset.y == 0
        await driven.to("variant", "walk")
        await driven.press("space")
        assert "once more" not in driven.page
        await driven.press("R")
        assert driven.source.experiments_started == []
        assert "R once more, now, runs 1 of 3 variants" in driven.page


async def test_question_back_goes_when_it_is_not_waited_for_any_more() -> None:
    async with experiment_of() as driven:
        seconds = [1.0]
        driven.app.context.monotonic = lambda: seconds[0]
        await driven.press("R")
        assert "once more" in driven.page
        seconds[0] += CONFIRM_S + 0.1
        driven.app.screen.items.renew()
        assert "once more" not in driven.page
        await driven.press("R")
        assert driven.source.experiments_started == []


async def test_server_that_runs_ask_is_named_before_they_do() -> None:
    async with experiment_of() as driven:
        told = answer()
        (size, *others) = told.offers
        asking = dataclasses.replace(size.questions[0], contacts="origin, ssh://host.example/x.git")
        size = dataclasses.replace(size, questions=(asking, *size.questions[1:]))
        await driven.tell(dataclasses.replace(told, offers=(size, *others)))
        await driven.press("R")
        assert "Each run fetches from origin, ssh://host.example/x.git." in driven.page
        assert driven.source.experiments_started == []


async def test_experiment_runs_in_read_only_mode_for_it_changes_nothing() -> None:
    async with experiment_of(read_only=True) as driven:
        await driven.press("R", "R")
        assert [kind for _, kind, _ in driven.source.experiments_started] == [SIZE]


async def test_unmarked_variant_is_not_run() -> None:
    async with experiment_of() as driven:
        await driven.to("variant", "walk")
        await driven.press("space", "R", "R")
        ((_, _, choice),) = driven.source.experiments_started
        assert choice.variants == ("bitmap",)


async def test_variant_that_cannot_run_is_not_marked_and_says_why() -> None:
    async with experiment_of() as driven:
        await driven.to("variant", "pseudo-merges")
        await driven.press("space")
        assert driven.toasts() == ["pseudo-merges cannot run here: needs git 2.46, this is 2.39.5."]
        assert "[-]  pseudo-merges" in driven.page


async def test_nothing_is_run_while_nothing_is_marked() -> None:
    async with experiment_of() as driven:
        await driven.press("a")
        assert "No variant is marked." in driven.page
        await driven.press("R", "R")
        assert driven.source.experiments_started == []
        await driven.press("a", "R", "R")
        assert len(driven.source.experiments_started) == 1


async def test_options_turn_both_ways() -> None:
    async with experiment_of() as driven:
        await driven.press("right")
        assert f"< {WITHOUT_LENDER} >" in driven.page
        assert "union-minus-lender" in driven.page
        await driven.press("left")
        await driven.to("option", "runs")
        await driven.press("l", "l", "h")
        await driven.to("option", "time")
        await driven.press("space")
        await driven.to("option", "cache")
        await driven.press("enter")
        await driven.press("R", "R")
        ((_, _, choice),) = driven.source.experiments_started
        assert choice == ExperimentChoice(question=EVERYTHING, runs=5, budget_s=300.0, is_cold=True)


async def test_curve_is_an_option_of_look_ups_alone() -> None:
    async with lab_of() as driven:
        await driven.tell()
        await driven.press("end", "enter")
        await driven.tell()
        await driven.to("option", "curve")
        await driven.press("space", "R", "R")
        ((_, kind, choice),) = driven.source.experiments_started
        assert (kind, choice.has_curve) == (ExperimentKind.LOOKUP, True)


async def test_experiment_that_cannot_be_made_says_so() -> None:
    async with lab_of() as driven:
        await driven.tell()
        await driven.press("down", "enter")
        await driven.tell()
        assert "It cannot be made here: it has no remote." in driven.page
        await driven.press("R")
        assert driven.toasts() == ["None of the variants can run here."]


async def test_runs_are_drawn_as_they_arrive_and_the_verdict_at_the_end() -> None:
    async with experiment_of() as driven:
        await driven.run(JobState.QUEUED)
        assert "Waits for its turn" in driven.page
        await driven.run(JobState.RUNNING)
        assert "Running for 18.0 s, 5 runs so far: run 5: bitmap." in driven.page
        (walk,) = [line for line in driven.page.splitlines() if line.startswith("  [x]  walk ")]
        assert walk.split()[2:4] == ["2", "43.0"]
        assert "best" not in driven.page
        await driven.press("R")
        assert driven.toasts()[-1] == "The experiment size runs here already."
        await driven.run(JobState.DONE, with_result=True)
        assert "now: with bitmap is the fastest" in driven.page
        assert "Running" not in driven.page


async def test_experiment_that_came_to_nothing_says_why() -> None:
    async with experiment_of() as driven:
        await driven.run(JobState.FAILED, problem="a copy would need 2.00 GiB in /srv/git, where 1.00 GiB are free")
        assert "It came to nothing: a copy would need 2.00 GiB" in driven.page
        await driven.press("q")
        assert "It came to nothing: a copy would need 2.00 GiB" in driven.page


async def test_cancel_reaches_the_job_from_both_screens() -> None:
    async with experiment_of() as driven:
        await driven.press("x")
        assert driven.toasts()[-1] == "No experiment size runs here."
        assert driven.source.cancelled == []
        await driven.run(JobState.QUEUED)
        await driven.press("x")
        assert driven.toasts()[-1] == "The experiment size will not begin."
        await driven.run(JobState.RUNNING)
        await driven.press("q", "x")
        assert driven.source.cancelled == [1, 1]
        assert "what was measured so far is kept" in driven.toasts()[-1]


async def test_experiment_stands_among_the_jobs() -> None:
    async with experiment_of() as driven:
        await driven.run(JobState.RUNNING)
        await driven.press("J")
        strips = driven.app.screen._compositor.render_strips()
        (line,) = [strip.text for strip in strips if "bench" in strip.text]
        assert "size: run 5: bitmap" in line
        await driven.press("x")
        assert driven.source.cancelled == [1]
        assert driven.toasts()[-1].startswith("Cancelling the experiment of team/web.git")


async def test_running_experiment_is_shown_again_when_its_screen_is_opened_again() -> None:
    async with experiment_of() as driven:
        await driven.run(JobState.RUNNING)
        await driven.press("q", "enter")
        await driven.tell()
        assert "Running for" in driven.page


async def test_explanation_says_what_each_variant_does_and_details_one_of_them() -> None:
    async with experiment_of() as driven:
        await driven.to("variant", "walk")
        await driven.press("enter")
        assert "Opens every commit and every tree." in driven.page
        assert "answer: 58,358,935" in driven.page
        assert "Reads from the bitmap" not in driven.page
        await driven.press("enter", "e")
        assert "Reads from the bitmap" in driven.page
        assert "68 s with a bitmap against 6.8 s" in driven.page


async def test_boxes_are_drawn_and_taken_away_by_a_key() -> None:
    async with experiment_of() as driven:
        assert "Boxes hold" not in driven.page
        await driven.press("p")
        assert "Boxes hold the middle half of the runs" in driven.page
        await driven.press("p")
        assert "Boxes hold" not in driven.page


async def test_earlier_result_unfolds_to_its_runs() -> None:
    async with experiment_of() as driven:
        await driven.press("end", "enter")
        assert "2 processors, file system ext4" in driven.page
        await driven.press("space")
        assert "file system ext4" not in driven.page


async def test_copy_takes_the_command_that_was_timed_else_that_of_the_experiment() -> None:
    async with experiment_of() as driven:
        await driven.press("y")
        assert driven.app.clipboard == f"gitdash bench size {WEB.decode()}"
        await driven.to("variant", "walk")
        await driven.press("y")
        assert shlex.split(driven.app.clipboard)[-1] == "--note=it's walk"
        await driven.to("variant", "pseudo-merges")
        await driven.press("y")
        assert driven.toasts()[-1] == "Its command is known once it has run, if it is one."


async def test_choice_survives_a_new_answer() -> None:
    async with experiment_of() as driven:
        await driven.to("variant", "walk")
        await driven.press("space")
        await driven.tell(answer(earlier=[size_result(14)]))
        assert "[ ]  walk" in driven.page
        assert "#14" in driven.page


async def test_variant_that_the_next_answer_does_not_have_is_not_marked() -> None:
    async with experiment_of() as driven:
        await driven.to("variant", "walk")
        screen = driven.app.screen
        assert isinstance(screen, ExperimentScreen)
        assert screen._choosing is not None
        without_walk(screen._choosing)
        screen.action_choose()
        await driven.settle()
        assert driven.toasts() == ["This variant cannot be compared here any more."]


def without_walk(choosing: Choosing) -> None:
    """Take a variant out of the offer under the cursor, before the page is drawn."""
    choosing.offer = dataclasses.replace(
        choosing.offer,
        questions=tuple(
            dataclasses.replace(
                question, variants=tuple(variant for variant in question.variants if variant.name != "walk")
            )
            for question in choosing.offer.questions
        ),
    )
