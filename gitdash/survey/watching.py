"""Who looks on while git works out sizes, and may cancel what is asked of one repository."""

import threading
from collections.abc import Sequence

from gitdash.model.report import RepositoryReport
from gitdash.model.repository import Unreadable
from gitdash.model.sizes import Question, SizeMeasurement


class SizeWatch:
    """Is told of each repository; this one does not care. Called from measuring threads."""

    def begun(self, report: RepositoryReport, questions: Sequence[Question], cancel: threading.Event) -> None:
        """Git is asked these questions now; `cancel` ends that, and nothing else."""

    def answered(self, report: RepositoryReport, question: Question, size: SizeMeasurement | Unreadable | None) -> None:
        """One of the questions has an answer; None if it was cancelled. If all are cancelled, no more is said."""
