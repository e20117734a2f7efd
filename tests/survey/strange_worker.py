"""Stands in for `gitdash.inspection.worker`: hangs at one repository, dies at another, and answers for the others."""

import os
import sys
import time

from gitdash.inspection import worker
from gitdash.inspection.messages import InspectionReply, InspectionRequest


def main() -> None:
    honest = worker.answer

    def answer(request: InspectionRequest) -> InspectionReply:
        name = os.path.basename(request.git_dir)
        if name == b"hang.git":
            time.sleep(3600)
        if name == b"die.git":
            os._exit(9)
        return honest(request)

    worker.answer = answer
    worker.serve(sys.stdin.fileno(), sys.stdout.fileno())


if __name__ == "__main__":
    main()
