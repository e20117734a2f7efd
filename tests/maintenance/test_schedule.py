"""Which action may start: by hand, and by sequences of Hypothesis against the rules themselves."""

from collections import Counter

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from gitdash.maintenance.claims import Claims
from gitdash.maintenance.schedule import OVERTAKEN_LIMIT, QueueLimits, Schedule, Turn


def writer(repository: str, *others: str, host: str | None = None, volume: int | None = None) -> Claims:
    family = frozenset(name.encode() for name in (repository, *others))
    return Claims(repository=repository.encode(), family=family, writes=True, host=host, volume=volume)


def reader(repository: str, *others: str, host: str | None = None, volume: int | None = None) -> Claims:
    claims = writer(repository, *others, host=host, volume=volume)
    return Claims(
        repository=claims.repository, family=claims.family, writes=False, host=claims.host, volume=claims.volume
    )


def schedule(**limits: float) -> Schedule:
    return Schedule(QueueLimits(**({"jobs": 10, "per_host": 10, "per_volume": 10, "host_pause_s": 0.0} | limits)))


def started(plan: Schedule, now_s: float = 0.0) -> list[Turn]:
    turns = []
    while (turn := plan.start_next(now_s)) is not None:
        turns.append(turn)
    return turns


def names(turns: list[Turn]) -> list[str]:
    return [turn.claims.repository.decode() for turn in turns]


def test_actions_start_in_the_order_of_arrival_up_to_the_limit() -> None:
    plan = schedule(jobs=3)
    for name in "abcde":
        plan.add(writer(name))
    running = started(plan)
    assert names(running) == ["a", "b", "c"]
    plan.end(running[1])
    assert names(started(plan)) == ["d"]


def test_writers_whose_families_meet_wait_for_each_other_and_nothing_else_waits() -> None:
    plan = schedule()
    for claims in (writer("a", "pool"), writer("b", "pool"), writer("c"), reader("d", "pool")):
        plan.add(claims)
    running = started(plan)
    assert names(running) == ["a", "c", "d"]
    plan.end(running[0])
    assert names(started(plan)) == ["b"]


def test_one_repository_is_acted_on_once_at_a_time_by_readers_too() -> None:
    plan = schedule()
    for claims in (reader("a"), reader("a"), writer("a"), writer("b", "a")):
        plan.add(claims)
    running = started(plan)
    assert names(running) == ["a", "b"]
    plan.end(running[0])
    again = started(plan)
    assert [turn.claims.writes for turn in again] == [False]
    plan.end(running[1])
    plan.end(again[0])
    assert [turn.claims.writes for turn in started(plan)] == [True]


def test_reader_in_one_member_holds_up_no_other_member() -> None:
    plan = schedule()
    family = ("m1", "m2", "pool")
    plan.add(reader("m1", *family))
    plan.add(writer("m1", *family))
    plan.add(writer("m2", *family))
    assert names(started(plan)) == ["m1", "m2"]


def test_busy_host_and_busy_volume_hold_up_only_what_needs_them() -> None:
    plan = schedule(per_host=1, per_volume=2)
    for claims in (
        writer("a", host="h", volume=1),
        writer("b", host="h", volume=2),
        writer("c", host="i", volume=1),
        writer("d", volume=1),
        writer("e", volume=2),
    ):
        plan.add(claims)
    running = started(plan)
    assert names(running) == ["a", "c", "e"]
    plan.end(running[0])
    assert names(started(plan)) == ["b", "d"]


def test_starts_on_one_host_are_a_pause_apart() -> None:
    plan = schedule(host_pause_s=0.5)
    for name in "abc":
        plan.add(writer(name, host="h"))
    plan.add(writer("d", host="i"))
    assert names(started(plan, 10.0)) == ["a", "d"]
    assert plan.delay_s(10.25) == 0.25
    assert names(started(plan, 10.25)) == []
    assert names(started(plan, 10.5)) == ["b"]
    assert names(started(plan, 11.0)) == ["c"]
    assert plan.delay_s(11.0) is None


def test_host_that_refuses_is_left_alone_twice_as_long() -> None:
    plan = schedule(host_pause_s=0.5)
    plan.add(writer("a", host="h"))
    started(plan, 10.0)
    plan.pace("h").refused(10.0)
    plan.add(writer("b", host="h"))
    assert names(started(plan, 10.9)) == []
    assert names(started(plan, 11.0)) == ["b"]


def test_nothing_is_said_to_wait_for_time_when_it_waits_for_others() -> None:
    plan = schedule(jobs=1, host_pause_s=5.0)
    plan.add(writer("a", host="h"))
    plan.add(writer("b", host="h"))
    started(plan, 0.0)
    assert plan.delay_s(0.0) is None


def test_dropped_action_never_starts_and_what_waited_for_its_like_does() -> None:
    plan = schedule(jobs=1)
    first, second, third = (plan.add(writer("a")) for _ in range(3))
    assert started(plan) == [first]
    plan.drop(second)
    assert plan.waiting_count == 1
    plan.end(first)
    assert started(plan) == [third]


def test_lane_that_is_empty_is_forgotten_once_though_two_things_held_it_up() -> None:
    plan = schedule()
    family = ("m1", "m2", "pool")
    readers = [plan.add(reader(name, *family)) for name in ("m1", "m2")]
    assert started(plan) == readers
    writers = [plan.add(writer(name, *family)) for name in ("m1", "m2")]
    assert started(plan) == []
    plan.end(readers[0])
    assert started(plan) == [writers[0]]
    plan.drop(writers[1])
    plan.end(writers[0])
    plan.end(readers[1])
    assert started(plan) == []
    assert plan.waiting_count == 0


def test_older_action_goes_first_when_both_could_start() -> None:
    plan = schedule(jobs=1)
    running = plan.add(writer("a", "x"))
    started(plan)
    older = plan.add(writer("b", "x", host="h", volume=1))
    plan.add(reader("c", host="i", volume=2))
    plan.end(running)
    assert started(plan) == [older]


def test_writer_between_two_busy_families_gets_its_turn_after_some_were_let_before_it() -> None:
    plan = schedule(jobs=3)
    running = {side: plan.add(writer(f"{side}0", side)) for side in "xy"}
    assert len(started(plan)) == 2
    between = plan.add(writer("z", "x", "y"))
    overtaken = 0
    for number in range(100):
        side = "xy"[number % 2]
        following = plan.add(writer(f"{side}{number + 1}", side))
        plan.end(running.pop(side))
        if started(plan) != [following]:
            break
        running[side] = following
        overtaken += 1
    assert OVERTAKEN_LIMIT <= overtaken <= OVERTAKEN_LIMIT + 1
    (last,) = running.values()
    plan.end(last)
    assert started(plan) == [between]


def test_later_writers_start_when_the_one_that_held_them_back_is_taken_out() -> None:
    plan = schedule(jobs=3)
    running = {side: plan.add(writer(f"{side}0", side)) for side in "xy"}
    started(plan)
    between = plan.add(writer("z", "x", "y"))
    for number in range(OVERTAKEN_LIMIT + 2):
        side = "xy"[number % 2]
        following = plan.add(writer(f"{side}{number + 1}", side))
        plan.end(running.pop(side))
        if started(plan) == [following]:
            running[side] = following
        else:
            break
    plan.drop(between)
    assert started(plan) == [following]


REPOSITORIES = {  # A pool with two members, a chain on it, another pool, and one that borrows from both pools.
    "pool": ("pool",),
    "m1": ("m1", "pool"),
    "m2": ("m2", "pool"),
    "top": ("top", "m1", "pool"),
    "other": ("other",),
    "both": ("both", "pool", "other"),
    "alone": ("alone",),
}
HOSTS = st.sampled_from([None, "h", "i"])
VOLUMES = st.sampled_from([None, 1, 2])


def may_not_run_together(one: Claims, other: Claims) -> bool:
    if one.repository == other.repository:
        return True
    return one.writes and other.writes and bool(one.family & other.family)


class ScheduleMachine(RuleBasedStateMachine):
    """What runs obeys every limit; what could start, starts; everything comes to an end."""

    limits = QueueLimits(jobs=4, per_host=2, per_volume=2, host_pause_s=1.0)

    def __init__(self) -> None:
        super().__init__()
        self.plan = Schedule(self.limits)
        self.now_s = 0.0
        self.waiting: list[Turn] = []
        self.running: list[Turn] = []
        self.last_start_s: dict[str, float] = {}

    @rule(name=st.sampled_from(sorted(REPOSITORIES)), writes=st.booleans(), host=HOSTS, volume=VOLUMES)
    def add(self, name: str, writes: bool, host: str | None, volume: int | None) -> None:
        make = writer if writes else reader
        self.waiting.append(self.plan.add(make(name, *REPOSITORIES[name], host=host, volume=volume)))
        self.start()

    @precondition(lambda self: self.running)
    @rule(data=st.data())
    def end(self, data: st.DataObject) -> None:
        turn = data.draw(st.sampled_from(self.running))
        self.running.remove(turn)
        self.plan.end(turn)
        self.start()

    @precondition(lambda self: self.waiting)
    @rule(data=st.data())
    def drop(self, data: st.DataObject) -> None:
        turn = data.draw(st.sampled_from(self.waiting))
        self.waiting.remove(turn)
        self.plan.drop(turn)
        self.start()

    @rule(after_s=st.sampled_from([0.5, 1.0, 3.0]))
    def time_passes(self, after_s: float) -> None:
        self.now_s += after_s
        self.start()

    def start(self) -> None:
        while (turn := self.plan.start_next(self.now_s)) is not None:
            self.waiting.remove(turn)
            self.running.append(turn)
            host = turn.claims.host
            if host is not None:
                assert self.now_s - self.last_start_s.get(host, -10.0) >= self.limits.host_pause_s
                self.last_start_s[host] = self.now_s

    @invariant()
    def limits_hold(self) -> None:
        claims = [turn.claims for turn in self.running]
        assert len(claims) <= self.limits.jobs
        assert max(Counter(c.host for c in claims if c.host).values(), default=0) <= self.limits.per_host
        assert max(Counter(c.volume for c in claims if c.volume).values(), default=0) <= self.limits.per_volume
        assert self.plan.waiting_count == len(self.waiting)

    @invariant()
    def nothing_overlaps(self) -> None:
        claims = [turn.claims for turn in self.running]
        assert not any(may_not_run_together(a, b) for i, a in enumerate(claims) for b in claims[:i])

    @invariant()
    def nothing_waits_needlessly(self) -> None:
        if len(self.running) >= self.limits.jobs:
            return
        claims = [turn.claims for turn in self.running]
        free = [turn for turn in self.waiting if self.resources_are_free(turn.claims, claims)]
        # One that was overtaken too often may hold back later ones of its family: then an older one is blocked by them.
        for turn in free:
            assert any(
                older.number < turn.number and older.claims.writes and may_not_run_together(older.claims, turn.claims)
                for older in self.waiting
            ), "an action waits although nothing is in its way"

    def resources_are_free(self, wanted: Claims, running: list[Claims]) -> bool:
        if any(may_not_run_together(wanted, other) for other in running):
            return False
        if wanted.volume and sum(c.volume == wanted.volume for c in running) >= self.limits.per_volume:
            return False
        if wanted.host is None:
            return True
        since_s = self.now_s - self.last_start_s.get(wanted.host, -10.0)
        return sum(c.host == wanted.host for c in running) < self.limits.per_host and since_s >= 1.0

    def teardown(self) -> None:
        while self.running or self.waiting:
            any_waits = bool(self.waiting)
            for turn in self.running:
                self.plan.end(turn)
            self.running.clear()
            self.now_s += 1.0
            self.start()
            assert self.running or not any_waits, "what waits is never started"
        assert self.plan.delay_s(self.now_s) is None


TestSchedule = ScheduleMachine.TestCase
TestSchedule.settings = settings(max_examples=150, stateful_step_count=40, deadline=None)
