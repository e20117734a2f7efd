"""Cancelling what git is asked of one repository, while the others go on."""

import threading

from gitdash.model.report import RepositoryReport
from gitdash.model.repository import Unreadable
from gitdash.model.sizes import Question, SizeMeasurement
from gitdash.survey.measure import SizingQueue
from tests.survey.test_sizing_queue import WAIT_S, Gate, report


def test_one_repository_is_cancelled_and_the_next_is_measured() -> None:
    gate = Gate()
    cancels: dict[bytes, threading.Event] = {}
    answers: list[tuple[bytes, Question, bool]] = []

    def begun(report: RepositoryReport, _: object, cancel: threading.Event) -> None:
        cancels[report.repository.path] = cancel

    def answered(report: RepositoryReport, question: Question, size: SizeMeasurement | Unreadable | None) -> None:
        answers.append((report.repository.path, question, size is None))

    with SizingQueue(gate, on_started=begun, on_measured=answered, thread_count=1) as queue:
        queue.submit(report("bad"), list(Question))
        queue.submit(report("good"), list(Question))
        assert gate.begun.acquire(timeout=WAIT_S)
        cancels[b"/fleet/bad"].set()
        gate.is_open.set()
        assert queue.wait_until_done(WAIT_S)
    assert answers == [
        (b"/fleet/bad", Question.REACHABLE, True),
        (b"/fleet/bad", Question.REACHABLE_OWN, True),
        (b"/fleet/good", Question.REACHABLE, False),
        (b"/fleet/good", Question.REACHABLE_OWN, False),
    ]
    assert gate.started == ["bad", "good", "good"]
