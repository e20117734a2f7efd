"""The page of jobs: what runs, what waits, what ended, each job an item. Pure."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from gitdash.export.rate import byte_rate_text, left_text, rate_text
from gitdash.model.job import FIRST_STEPS, Job, JobKind, JobState
from gitdash.tui.drawing.cells import Line, Piece, Tone, cut_line, fit, line_length, shorten_middle
from gitdash.tui.drawing.items import Page
from gitdash.tui.drawing.wrap import flow, wrap_cells
from gitdash.tui.jobs.counts import job_counts
from gitdash.tui.jobs.differences import job_differences
from gitdash.tui.jobs.entries import KeptLines, run_lines, says_the_reason
from gitdash.tui.keymap import first_key
from gitdash.units import human_age, human_bytes, human_count, human_duration

_SHOWN: Final = 200
"""Jobs of one section: who has queued 10,000 needs no line for each."""
_BAR_LEAST: Final = 10
"""One of two is no percentage."""
_BAR_WIDTH: Final = 60
_NAME_LEAST: Final = 10
_NAME_MOST: Final = 24
"""Of a name that what goes on leaves room for; where it does not, it stands on a line of its own."""
_WHAT_MOST: Final = 24
_HOST_MOST: Final = 20
_NAMED: Final = (JobKind.FETCH, JobKind.BENCH)
"""What a running job is about is said of these, beside what it does."""
_COUNTED_BY_GIT: Final = frozenset({JobKind.FETCH, JobKind.MAINTAIN})
_WIDE: Final = 110
"""From this width on what is said of a job stands below its name."""
_NARROW_INDENT: Final = 5
_MOST_REASON_LINES: Final = 3
_STATE_TONES: Final = {
    JobState.DONE: Tone.OK,
    JobState.FAILED: Tone.CRITICAL,
    JobState.REFUSED: Tone.WARNING,
    JobState.SKIPPED: Tone.NOTICE,
    JobState.CANCELLED: Tone.NOTICE,
}
_STATE_WIDTH: Final = max(len(state) for state in _STATE_TONES)
_DONE: Final = {"inspecting": ("inspected", "repositories"), "measuring": ("asked for", "sizes")}
"""What a step of a survey has done when it is over, and to what. Which sizes git did not give stands among failures."""
_KIND_WIDTH: Final = max(len(kind) for kind in JobKind)


@dataclass(frozen=True, kw_only=True)
class JobsView:
    """All that the page shows."""

    jobs: Sequence[Job]
    """In the order of asking."""
    name_of: Callable[[Job], str]
    """What a job is about, for people. Printable."""
    shown_keys: Mapping[str, str]
    now_s: float
    forgotten_count: int = 0
    open_numbers: Collection[int] = ()
    """Of the jobs whose details are shown."""
    kept_lines: KeptLines = field(default_factory=KeptLines)
    """Those that were composed for the page before."""

    @cached_property
    def running(self) -> Sequence[Job]:
        """The jobs that run, listed once for all that wait."""
        return [job for job in self.jobs if job.state is JobState.RUNNING]


@dataclass(frozen=True, slots=True)
class _Section:
    title: str
    jobs: Sequence[Job]
    lines_of: Callable[[JobsView, Job, int], Iterable[Line]]
    has_ended: bool = False


def title_pieces(jobs: Iterable[Job]) -> list[Piece]:
    """Return the title of the screen with the counts."""
    counts = job_counts(jobs)
    pieces = [Piece(" Jobs", Tone.STRONG)]
    for count, word, tone in (
        (counts.running, "running", Tone.ACCENT),
        (counts.queued, "queued", Tone.PLAIN),
        (counts.failed, "failed", Tone.CRITICAL),
        (counts.refused, "refused", Tone.WARNING),
        (counts.skipped, "skipped", Tone.NOTICE),
    ):
        if count:
            pieces += [Piece("  ", Tone.PLAIN), Piece(f"{count:,} {word}", tone)]
    return pieces if len(pieces) > 1 else [*pieces, Piece("  nothing runs", Tone.DIM)]


def jobs_page(view: JobsView, width: int) -> tuple[Page, list[int]]:
    """Return the page, and the number of the job of each item."""
    lines: list[Line] = []
    heads: list[int] = []
    numbers: list[int] = []
    report = run_lines([job for job in view.jobs if not job.is_earlier], view.now_s, width)
    for section in _sections(view.jobs):
        if not section.jobs:
            continue
        if lines:
            lines.append([])
        if report and section.has_ended:
            lines += [[Piece(" What was started together", Tone.HEAD)], *report, []]
            report = []
        title = [Piece(f" {section.title}", Tone.HEAD), Piece(f" {human_count(len(section.jobs))}", Tone.DIM)]
        lines.append(title)
        for job in section.jobs[:_SHOWN]:
            heads.append(len(lines))
            numbers.append(job.number)
            lines.extend(section.lines_of(view, job, width))
        if (hidden := len(section.jobs) - _SHOWN) > 0:
            lines.append([Piece(f"   and {hidden:,} more", Tone.DIM)])
    if view.forgotten_count:
        lines += [[], [Piece(f" {view.forgotten_count:,} more ended, and are not kept.", Tone.DIM)]]
    return Page(lines or _why_empty(view, width), heads), numbers


def _sections(jobs: Sequence[Job]) -> Iterator[_Section]:
    all_ended = sorted(
        (job for job in jobs if job.ended_at_s is not None), key=lambda job: job.ended_at_s or 0, reverse=True
    )
    ended = [job for job in all_ended if not job.is_earlier]
    earlier = [job for job in all_ended if job.is_earlier]
    undone = [job for job in ended if job.is_unsettled]
    others = [job for job in ended if not job.is_unsettled]
    failed = [job for job in undone if job.state is JobState.FAILED]
    not_begun = [job for job in undone if job.state is not JobState.FAILED]
    yield _Section("Running", [job for job in jobs if job.state is JobState.RUNNING], _running_lines)
    yield _Section("Queued", [job for job in jobs if job.state is JobState.QUEUED], _queued_lines)
    cut_off = [job for job in earlier if job.is_unsettled]
    yield _Section("Cut off, in an earlier gitdash", cut_off, _ended_lines)
    # what fails in every survey stands below what came of a person's own work
    for ending, which in (("", _is_own), (", for a survey", _is_part)):
        for title, alike in (("Failed", failed), ("Refused or skipped", not_begun)):
            yield _Section(f"{title}{ending}", list(filter(which, alike)), _ended_lines, has_ended=True)
        yield _Section(f"Ended{ending}", list(filter(which, others)), _ended_lines, has_ended=True)
        if which is _is_own:
            yield _Section("Earlier, in another gitdash", [job for job in earlier if job not in cut_off], _ended_lines)


def _is_own(job: Job) -> bool:
    return job.part_of is None


def _is_part(job: Job) -> bool:
    return job.part_of is not None


def _why_empty(view: JobsView, width: int) -> list[Line]:
    texts = [
        f"{what} ({key})" if (key := first_key(view.shown_keys, name)) else what
        for what, name in (
            ("A survey", "rescan_all"),
            ("another look at a repository", "rescan"),
            ("a measurement", "measure"),
            ("a fetch", "fetch"),
        )
    ]
    text = f"No jobs yet. {', '.join(texts)} and maintenance are jobs, and stand here."
    return [[], *([Piece(f" {part}", Tone.PLAIN)] for part in wrap_cells(text, width - 2))]


def _head(left: Sequence[Piece], name: str, right: Sequence[Piece], width: int) -> Line:
    """One line: what it is at the left, the name as far as there is room, the rest at the right."""
    room = width - line_length(left) - line_length(right) - 3
    name = shorten_middle(name, max(room, _NAME_LEAST))
    gap = max(width - line_length(left) - line_length([Piece(name, Tone.STRONG)]) - line_length(right) - 1, 1)
    return [*left, Piece(name, Tone.STRONG), Piece(" " * gap, Tone.PLAIN), *right]


def _kind_pieces(job: Job) -> list[Piece]:
    mark = "   " if job.part_of is None else "     "
    return [Piece(mark, Tone.DIM), Piece(fit(job.kind.value, _KIND_WIDTH + 2), Tone.PLAIN)]


def _running_lines(view: JobsView, job: Job, width: int) -> Iterator[Line]:
    clock = Piece(f"  {_whole_seconds(_since(job.started_at_s, view.now_s)):>8}", Tone.PLAIN)
    what = [Piece(f"{_cut(job.what)}: ", Tone.PLAIN)] if job.kind in _NAMED and job.what else []
    doing = job.step or FIRST_STEPS.get(job.kind, "")
    step = [*what, Piece(doing, Tone.ACCENT), Piece(_how_far(job, view.now_s), Tone.DIM)]
    left, name = _kind_pieces(job), view.name_of(job)
    right = [*step, clock]
    room = width - line_length(left) - min(line_length([Piece(name, Tone.PLAIN)]), _NAME_MOST) - line_length(right) - 3
    if room > 0:
        yield _head(left, name, right, width)
    else:
        yield _head(left, name, [clock], width)
        yield cut_line([Piece(" " * _NARROW_INDENT, Tone.PLAIN), *step], width)
    if job.known_count is not None and job.known_count >= _BAR_LEAST and not job.may_grow:
        yield _bar(job.done_count / job.known_count, min(width - 10, _BAR_WIDTH))


def _how_far(job: Job, now_s: float) -> str:
    if job.kind in _COUNTED_BY_GIT:
        return _how_far_git_is(job, now_s)
    if job.known_count is None:
        return ""
    texts = [f" {_how_many(job, job.known_count)}{' sizes' if job.step == 'measuring' else ''}"]
    if job.kind is JobKind.SURVEY:
        elapsed_s = _since(job.step_started_at_s, now_s)
        texts.append(rate_text(job.done_count, elapsed_s) or "")
        # what is left of measuring nobody can tell: one size takes a thousand times as long as another
        if job.step == "inspecting" and not job.may_grow:
            texts.append(left_text(job.done_count, job.known_count, elapsed_s) or "")
    return " · ".join(text for text in texts if text)


def _how_far_git_is(job: Job, now_s: float) -> str:
    if not job.done_count:
        return ""
    elapsed_s = _since(job.step_started_at_s, now_s)
    if job.received_bytes is None:
        texts = [_how_many(job, job.known_count), rate_text(job.done_count, elapsed_s)]
    else:
        rate = byte_rate_text(job.received_bytes, elapsed_s)
        texts = [_how_many(job, job.known_count), human_bytes(job.received_bytes), rate]
    if job.known_count is not None:
        texts.append(left_text(job.done_count, job.known_count, elapsed_s))
    return f", {' · '.join(text for text in texts if text)}"


def _how_many(job: Job, known_count: int | None) -> str:
    if known_count is None:
        return f"{job.done_count:,}"
    return f"{job.done_count:,} of {known_count:,}{'+' if job.may_grow else ''}"


def _bar(ratio: float, width: int) -> Line:
    filled = int(ratio * width)
    return [
        Piece("   ", Tone.PLAIN),
        Piece("█" * filled, Tone.ACCENT),
        Piece("·" * (width - filled), Tone.DIM),
        Piece(f" {int(ratio * 100):>3}%", Tone.PLAIN),
    ]


def _queued_lines(view: JobsView, job: Job, width: int) -> Iterator[Line]:
    right = [*_what_pieces(job), *_ahead(view, job), Piece(f"asked {_ago(view.now_s - job.asked_at_s)}", Tone.DIM)]
    yield _head(_kind_pieces(job), view.name_of(job), right, width)


def _ahead(view: JobsView, job: Job) -> list[Piece]:
    """Return what runs that a queued job may have to wait for, as far as jobs tell: the same host, or repository."""
    if any(other.path == job.path and other.part_of is None for other in view.running):
        return [Piece("behind another job here  ", Tone.DIM)]
    count = sum(other.host == job.host for other in view.running) if job.host is not None else 0
    return [Piece(f"behind {count} from {shorten_middle(job.host or '', _HOST_MOST)}  ", Tone.DIM)] if count else []


def _what_pieces(job: Job) -> list[Piece]:
    """Return the remote, or the tasks, of a job of which no more is known."""
    return [Piece(f"{_cut(job.what)}  ", Tone.PLAIN)] if job.what else []


def _cut(what: str) -> str:
    return shorten_middle(what, _WHAT_MOST)


def _ended_lines(view: JobsView, job: Job, width: int) -> Iterator[Line]:
    ended_at_s = job.ended_at_s or 0.0
    elapsed_s = _elapsed_s(job)
    duration = "" if elapsed_s is None else human_duration(elapsed_s)
    left = [
        Piece("   ", Tone.PLAIN),
        Piece(fit(job.state.value, _STATE_WIDTH + 2), Tone.DIM if job.is_settled else _STATE_TONES[job.state]),
        Piece(fit(job.kind.value, _KIND_WIDTH + 2), Tone.PLAIN),
    ]
    right = [Piece(f"{duration:>9}", Tone.PLAIN), Piece(f"{_ago(view.now_s - ended_at_s):>9}", Tone.DIM)]
    groups = _what_became(job)
    if not job.entries:
        right = [*_what_pieces(job), *right]
    if job.part_of is not None and job.state is JobState.DONE:
        # there are many of these, and little is to be said of each
        room = width - line_length(left) - line_length(right) - _NAME_LEAST - 3
        right, groups = [*_as_fit(groups, room), *right], []
    yield _head(left, view.name_of(job), right, width)
    indent = " " * line_length(left)
    if job.entries:
        is_open = job.number in view.open_numbers
        entry_indent = len(indent) if width >= _WIDE else _NARROW_INDENT
        yield from view.kept_lines.of(job, width, entry_indent, is_open=is_open)
    if job.reason is not None and not says_the_reason(job):
        for text in wrap_cells(job.reason, max(width - len(indent) - 1, 20))[:_MOST_REASON_LINES]:
            yield [Piece(indent, Tone.PLAIN), Piece(text, Tone.WARNING)]
    for line in flow(groups, width - len(indent) + 1):
        # the margin of a whole line is not wanted here
        yield [Piece(indent, Tone.PLAIN), *line[1:]]


def _elapsed_s(job: Job) -> float | None:
    """Return how long it took; of a single action what the ledger says, for it is shown in other places, too."""
    if len(job.entries) == 1 and job.entries[0].elapsed_s is not None:
        return job.entries[0].elapsed_s
    if job.started_at_s is None or job.ended_at_s is None:
        return None
    return max(job.ended_at_s - job.started_at_s, 0.0)


def _as_fit(groups: Sequence[Line], room: int) -> list[Piece]:
    """Return the first groups, as many as there is room for."""
    pieces: list[Piece] = []
    for group in groups:
        if line_length([*pieces, *group]) > room:
            break
        pieces += group
    return pieces


def _what_became(job: Job) -> list[Line]:
    if job.entries:
        return []
    if job.kind is not JobKind.SURVEY:
        return job_differences(job.before, job.after)
    if job.known_count is None or job.step not in _DONE:
        return []
    verb, noun = _DONE[job.step]
    return [[Piece(f"{verb} {_how_many(job, job.known_count)} {noun}", Tone.DIM)]]


def _since(started_at_s: float | None, now_s: float) -> float:
    return 0.0 if started_at_s is None else max(now_s - started_at_s, 0.0)


def _whole_seconds(elapsed_s: float) -> str:
    """A clock that is drawn each second shows no more."""
    return f"{elapsed_s:.0f} s" if elapsed_s < 60 else human_duration(elapsed_s)


def _ago(age_s: float) -> str:
    return "now" if age_s < 1 else f"{human_age(age_s)} ago"
