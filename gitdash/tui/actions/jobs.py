"""What can be done on the screen of jobs."""

from typing import Final

from gitdash.tui.actions.action import ACT, LOOK, Action, Scope

JOBS: Final = (
    Action(
        name="open_job",
        command="open",
        keys=("enter",),
        title="Open the repository of this job",
        help="Show everything that is known of the repository; a double click does the same.",
        group=LOOK,
        scopes=(Scope.JOBS,),
        label="open",
    ),
    Action(
        name="unfold_job",
        command="unfold",
        keys=("plus", "space"),
        title="Show or hide the details of this job",
        help="Show or hide each git command of a fetch or of maintenance, the references that it changed, and the files"
        " that it removed.",
        group=LOOK,
        scopes=(Scope.JOBS,),
        label="details",
    ),
    Action(
        name="cancel_job",
        command="cancel",
        keys=("x",),
        title="Cancel this job",
        help="Cancel the job: what it runs is ended, and what it has found so far stays. Of one that failed you have "
        "taken note: it is counted no longer.",
        group=ACT,
        scopes=(Scope.JOBS,),
        label="cancel",
    ),
    Action(
        name="retry_job",
        command="retry",
        keys=("r",),
        title="Do this job again",
        help="Queue a job that has ended once more.",
        group=ACT,
        scopes=(Scope.JOBS,),
        label="retry",
    ),
)
