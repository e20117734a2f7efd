"""Stands in for `gitdash.inspection.worker`: hangs at one repository, dies at another, and answers for the others."""

import os
import sys
import time

from gitdash.inspection import worker
from gitdash.inspection.messages import InspectionReply, InspectionRequest, NamespacesReply, NamespacesRequest


def misbehave(git_dir: bytes) -> None:
    name = os.path.basename(git_dir)
    if name == b"hang.git":
        time.sleep(3600)
    if name == b"die.git":
        os._exit(9)


def main() -> None:
    honest_answer, honest_count = worker.answer, worker.count

    def answer(request: InspectionRequest) -> InspectionReply:
        misbehave(request.git_dir)
        return honest_answer(request)

    def count(request: NamespacesRequest) -> NamespacesReply:
        misbehave(request.git_dir)
        return honest_count(request)

    worker.answer, worker.count = answer, count
    worker.serve(sys.stdin.fileno(), sys.stdout.fileno())


if __name__ == "__main__":
    main()
