"""The queue with threads: events and barriers say when something happens, never the time that passes."""

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitdash.gitcmd.git_error import GitError, GitFailure
from gitdash.maintenance.claims import Claims
from gitdash.maintenance.queue import ActionQueue, Ticket
from gitdash.maintenance.schedule import QueueLimits
from gitdash.model.ledger import Outcome

LONG_S = 20.0
"""No test waits so long unless it fails."""


def claims(name: str, *others: str, writes: bool = True, host: str | None = None, volume: int | None = None) -> Claims:
    family = frozenset(one.encode() for one in (name, *others))
    return Claims(repository=name.encode(), family=family, writes=writes, host=host, volume=volume)


def queue(**limits: float) -> ActionQueue:
    return ActionQueue(QueueLimits(**({"host_pause_s": 0.0} | limits)))


class Gate:
    """Work that says when it began, and ends when it is told to, or cancelled."""

    def __init__(self) -> None:
        self.began = threading.Event()
        self.may_end = threading.Event()

    def __call__(self, cancelled: threading.Event) -> Outcome:
        self.began.set()
        while not self.may_end.wait(0.01):
            if cancelled.is_set():
                return Outcome.CANCELLED
        return Outcome.DONE


@pytest.fixture
def gates() -> Iterator[Callable[[], Gate]]:
    """Make gates that are open when the test ends, however it ends."""
    made: list[Gate] = []

    def make() -> Gate:
        made.append(Gate())
        return made[-1]

    yield make
    for gate in made:
        gate.may_end.set()


def done(_cancelled: threading.Event) -> Outcome:
    return Outcome.DONE


def test_outcome_of_the_work_is_that_of_the_ticket() -> None:
    actions = queue()
    tickets = [actions.add(claims("a"), one, lambda _, one=one: one) for one in (Outcome.DONE, Outcome.SKIPPED)]
    assert actions.wait(LONG_S)
    assert [ticket.outcome for ticket in tickets] == [Outcome.DONE, Outcome.SKIPPED]
    assert all(ticket.done.is_set() and ticket.error is None for ticket in tickets)


def test_work_that_raises_ends_its_own_ticket_only() -> None:
    actions = queue(jobs=1)
    errors = [RuntimeError("broken"), SystemExit(3), GitError("late", kind=GitFailure.TIMED_OUT)]

    def fail(error: BaseException) -> Outcome:
        raise error

    failing = [actions.add(claims("a"), error, lambda _, error=error: fail(error)) for error in errors]
    following = actions.add(claims("b"), "fetch", done)
    assert actions.wait(LONG_S)
    assert [ticket.error for ticket in failing] == errors
    assert [ticket.outcome for ticket in failing] == [Outcome.FAILED, Outcome.FAILED, Outcome.TIMED_OUT]
    assert (following.outcome, following.error) == (Outcome.DONE, None)


def test_same_request_is_answered_with_the_same_ticket_while_it_waits_or_runs(gates: Callable[[], Gate]) -> None:
    actions = queue(jobs=1)
    gate = gates()
    ended: list[str] = []
    running = actions.add(claims("a"), ("fetch", "origin"), gate, on_end=lambda _: ended.append("first"))
    waiting = actions.add(claims("a"), ("fetch", "other"), done)
    assert gate.began.wait(LONG_S)
    assert actions.add(claims("a"), ("fetch", "origin"), done, on_end=lambda _: ended.append("second")) is running
    assert actions.add(claims("a"), ("fetch", "other"), done) is waiting
    assert actions.add(claims("b"), ("fetch", "origin"), done) is not running
    gate.may_end.set()
    assert actions.wait(LONG_S)
    assert ended == ["first", "second"]
    assert actions.add(claims("a"), ("fetch", "origin"), done) is not running


def test_request_after_a_cancel_is_a_new_one_that_waits_for_the_old(gates: Callable[[], Gate]) -> None:
    actions = queue()
    release = threading.Event()
    began = threading.Event()

    def stubborn(_cancelled: threading.Event) -> Outcome:
        began.set()
        assert release.wait(LONG_S)
        return Outcome.CANCELLED

    old = actions.add(claims("a"), "fetch", stubborn)
    assert began.wait(LONG_S)
    old.cancel()
    new = actions.add(claims("a"), "fetch", lambda _: Outcome.DONE if old.done.is_set() else Outcome.FAILED)
    assert new is not old
    release.set()
    assert actions.wait(LONG_S)
    assert (old.outcome, new.outcome) == (Outcome.CANCELLED, Outcome.DONE)


def test_cancelled_ticket_that_waits_never_starts_and_says_so_at_once(gates: Callable[[], Gate]) -> None:
    actions = queue(jobs=1)
    gate = gates()
    running = actions.add(claims("a"), "fetch", gate)
    calls: list[str] = []
    waiting = actions.add(
        claims("b"),
        "fetch",
        lambda _: pytest.fail("it started"),
        on_start=lambda _: calls.append("start"),
        on_end=lambda _: calls.append("end"),
    )
    assert gate.began.wait(LONG_S)
    waiting.cancel()
    waiting.cancel()
    assert (waiting.outcome, waiting.done.is_set(), calls) == (Outcome.CANCELLED, True, ["end"])
    assert not running.cancelled.is_set()


def test_cancel_all_empties_the_queue_and_asks_all_that_runs_to_stop(gates: Callable[[], Gate]) -> None:
    actions = queue(jobs=4)
    running = [(gate := gates(), actions.add(claims(f"r{n}"), "fetch", gate)) for n in range(4)]
    waiting = [actions.add(claims(f"w{n}"), "fetch", done) for n in range(50)]
    assert all(gate.began.wait(LONG_S) for gate, _ in running)
    actions.cancel_all()
    assert all(ticket.outcome is Outcome.CANCELLED for ticket in waiting)
    assert all(ticket.cancelled.is_set() for _, ticket in running)
    assert actions.wait(LONG_S)
    assert all(ticket.outcome is Outcome.CANCELLED for _, ticket in running)
    later = actions.add(claims("later"), "fetch", done)
    assert actions.wait(LONG_S)
    assert later.outcome is Outcome.DONE


def test_cancel_of_what_is_over_changes_nothing() -> None:
    actions = queue()
    ticket = actions.add(claims("a"), "fetch", done)
    assert actions.wait(LONG_S)
    ticket.cancel()
    assert ticket.outcome is Outcome.DONE


def test_wait_ends_at_its_limit_while_something_runs(gates: Callable[[], Gate]) -> None:
    actions = queue()
    gate = gates()
    actions.add(claims("a"), "fetch", gate)
    assert not actions.wait(0.01)
    gate.may_end.set()
    assert actions.wait(LONG_S)
    assert queue().wait(0.0)


def test_blocked_action_holds_up_nothing_behind_it(gates: Callable[[], Gate]) -> None:
    actions = queue(jobs=2)
    gate = gates()
    actions.add(claims("m1", "pool"), "repack", gate)
    blocked = actions.add(claims("m2", "pool"), "repack", done)
    behind = actions.add(claims("other"), "repack", done)
    assert behind.done.wait(LONG_S)
    assert blocked.outcome is None
    gate.may_end.set()
    assert blocked.done.wait(LONG_S)


def test_listeners_are_told_of_start_and_end_in_that_order_and_may_fail() -> None:
    actions = queue()
    told: list[tuple[str, Outcome | None]] = []

    def note(word: str) -> Callable[[Ticket], None]:
        return lambda ticket: told.append((word, ticket.outcome))

    def break_(_ticket: Ticket) -> None:
        raise ValueError("a listener")

    actions.add(claims("a"), "fetch", done, on_start=note("start"), on_end=note("end"))
    assert actions.wait(LONG_S)
    assert told == [("start", Outcome.RUNNING), ("end", Outcome.DONE)]
    unstartable = actions.add(claims("a"), 1, lambda _: pytest.fail("it started"), on_start=break_)
    deaf = actions.add(claims("a"), 2, done, on_end=break_)
    assert actions.wait(LONG_S)
    assert (unstartable.outcome, str(unstartable.error)) == (Outcome.FAILED, "a listener")
    assert (deaf.outcome, str(deaf.error)) == (Outcome.DONE, "a listener")


def test_request_made_while_the_end_of_the_same_is_told_is_a_new_one() -> None:
    actions = queue()
    again: list[Ticket] = []
    first = actions.add(
        claims("a"), "fetch", done, on_end=lambda _: again.append(actions.add(claims("a"), "fetch", done))
    )
    assert actions.wait(LONG_S)
    assert again[0] is not first
    assert again[0].outcome is Outcome.DONE


def test_next_action_on_a_repository_starts_after_the_end_of_the_last_was_told() -> None:
    actions = queue(jobs=2)
    told: list[str] = []
    actions.add(claims("a"), 1, done, on_end=lambda _: told.append("first ended"))
    actions.add(claims("a"), 2, done, on_start=lambda _: told.append("second started"))
    assert actions.wait(LONG_S)
    assert told == ["first ended", "second started"]


def test_host_that_refuses_is_asked_later_and_others_are_not() -> None:
    now_s = [100.0]
    actions = ActionQueue(QueueLimits(jobs=2, host_pause_s=0.0), lambda: now_s[0])
    actions.host_refused("h")
    ticket = actions.add(claims("a", host="h"), "fetch", done)
    other = actions.add(claims("b", host="i"), "fetch", done)
    assert other.done.wait(LONG_S)
    assert ticket.outcome is None
    now_s[0] += 0.2
    assert ticket.done.wait(LONG_S)


def test_host_where_something_went_well_is_trusted_again_step_by_step() -> None:
    now_s = [100.0]
    actions = ActionQueue(QueueLimits(jobs=1, host_pause_s=0.0), lambda: now_s[0])
    for _ in range(3):
        actions.host_refused("h")
    # The pause is 0.8 s now; it holds after the first start, then half of it, then a quarter.
    for start_s in (101.0, 101.9, 102.4, 102.7):
        now_s[0] = start_s
        assert actions.add(claims("a", host="h"), start_s, done).done.wait(LONG_S)


def test_starts_on_one_host_are_a_pause_apart_by_the_clock() -> None:
    started_s: list[float] = []
    actions = queue(jobs=4, host_pause_s=0.03)
    for number in range(4):
        actions.add(claims(str(number), host="h"), "fetch", done, on_start=lambda _: started_s.append(time.monotonic()))
    assert actions.wait(LONG_S)
    # The queue notes the time before the thread that starts the work gets to run: the first gap may look shorter.
    assert started_s[3] - started_s[0] >= 2 * 0.03
    assert len(started_s) == 4


def test_threads_end_when_nothing_is_left_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gitdash.maintenance.queue._LINGER_S", 0.01)
    before = set(threading.enumerate())
    actions = queue()
    for number in range(20):
        actions.add(claims(str(number)), "fetch", done)
    assert actions.wait(LONG_S)
    mine = [thread for thread in threading.enumerate() if thread not in before and thread.name == "gitdash-action"]
    for thread in mine:
        thread.join(LONG_S)
        assert not thread.is_alive()
    assert actions.add(claims("a"), "fetch", done).done.wait(LONG_S)


def test_cost_of_an_action_does_not_grow_with_those_that_wait() -> None:
    # A queue that looks at all that wait whenever one ends takes eight times as long for each of eight times as many.
    few, many = 1_000, 8_000
    ratios = (_seconds_for_each(many) / _seconds_for_each(few) for _ in range(5))
    assert any(ratio < 4 for ratio in ratios)


def _seconds_for_each(count: int) -> float:
    """Run trivial actions on half as many repositories, and return what one costs in CPU time."""
    actions = queue()
    started_s = time.process_time()
    for number in range(count):
        actions.add(claims(str(number % (count // 2)), host=f"h{number % 8}", volume=1), number, done)
    assert actions.wait(60.0)
    return (time.process_time() - started_s) / count


FAMILIES = ("pool", "m1 pool", "m2 pool", "top m1 pool", "other", "both pool other", "alone")


class Observer:
    """Counts what runs at the same time, and remembers the most."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.running: list[Claims] = []
        self.broken: list[str] = []

    def work(self, mine: Claims) -> Callable[[threading.Event], Outcome]:
        def run(_cancelled: threading.Event) -> Outcome:
            with self.lock:
                self.running.append(mine)
                self.check()
            time.sleep(0)  # Lets other threads run, so that there is something to see.
            with self.lock:
                self.running.remove(mine)
            return Outcome.DONE

        return run

    def check(self) -> None:
        hosts = Counter(claims.host for claims in self.running if claims.host)
        volumes = Counter(claims.volume for claims in self.running if claims.volume)
        if len(self.running) > 4 or max(hosts.values(), default=0) > 2 or max(volumes.values(), default=0) > 2:
            self.broken.append(f"limits: {self.running}")
        latest = self.running[-1]
        for other in self.running[:-1]:
            if other.repository == latest.repository or (
                other.writes and latest.writes and other.family & latest.family
            ):
                self.broken.append(f"{other} and {latest}")


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(FAMILIES), st.booleans(), st.sampled_from([None, "h", "i"]), st.sampled_from([None, 1, 2])
        ),
        max_size=60,
    )
)
def test_no_two_writers_of_one_family_overlap_and_no_limit_is_exceeded(
    requests: list[tuple[str, bool, str | None, int | None]],
) -> None:
    actions = queue(jobs=4)
    observer = Observer()
    tickets = []
    for number, (family, writes, host, volume) in enumerate(requests):
        wanted = claims(*family.split(), writes=writes, host=host, volume=volume)
        tickets.append(actions.add(wanted, number, observer.work(wanted)))
    assert actions.wait(LONG_S)
    assert observer.broken == []
    assert all(ticket.outcome is Outcome.DONE and ticket.done.is_set() for ticket in tickets)


def test_actions_of_one_lane_start_in_the_order_of_arrival() -> None:
    actions = queue(jobs=4)
    order: list[int] = []
    for number in range(100):
        actions.add(claims("a"), number, done, on_start=lambda _, number=number: order.append(number))
    assert actions.wait(LONG_S)
    assert all(before < after for before, after in pairwise(order))
    assert len(order) == 100
