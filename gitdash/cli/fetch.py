"""`gitdash fetch`: timed fetches into the repositories that are named, side by side, and what came of each."""

from dataclasses import dataclass
from functools import partial

import msgspec

from gitdash.cli.acted_on import repositories
from gitdash.cli.acting import Run, RunWatch, acting, worst
from gitdash.cli.session import Session
from gitdash.config.settings import FetchSettings
from gitdash.errors import GitdashError
from gitdash.maintenance.fetching.options import AlternateRefs, FetchOptions, configured_options
from gitdash.model.job import FIRST_STEPS, JobKind


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchCommand:
    """What the command line says; None for what the configuration says."""

    paths: tuple[bytes, ...]
    where: str | None
    remotes: tuple[str, ...]
    group: str | None
    protocols: tuple[str, ...]
    alternate_refs: AlternateRefs | None
    prune: bool | None
    time_limit_s: float | None
    dry_run: bool
    output_format: str
    verbose: bool

    def options(self, settings: FetchSettings) -> FetchOptions:
        """Return how is fetched."""
        configured = configured_options(settings)
        return msgspec.structs.replace(
            configured,
            remotes=self.remotes,
            group=self.group,
            alternate_refs=self.alternate_refs or configured.alternate_refs,
            prune=self.prune,
            dry_run=self.dry_run,
            time_limit_s=self.time_limit_s or configured.time_limit_s,
            protocols=self.protocols or configured.protocols,
        )


def run_fetch(session: Session, command: FetchCommand) -> int:
    """Fetch into all repositories; one that fails stops no other."""
    options = command.options(session.settings.fetch)
    meant = repositories(session, command.paths, command.where)
    found = meant.repositories
    if not found:
        return meant.exit_code
    paths = [repository.path for repository in found]
    run = Run(paths, output_format=command.output_format, is_verbose=command.verbose)
    with acting(session) as actions, run.reported(actions):
        run_id = actions.new_run()
        for repository in found:
            try:
                report = actions.facts(repository)
                plan = actions.plan_fetch(report, options)
            except GitdashError as error:
                run.fail(repository.path, error)
                continue
            watch_of = partial(_watch, run, repository.path)
            run.follow(actions.fetch(report, plan, watch_of, run=run_id, is_named=repository.path in meant.named))
    return worst(run.finish(), meant.exit_code)


def _watch(run: Run, path: bytes, remote: str) -> RunWatch:
    return run.watch(path, f"fetch {remote}".rstrip(), first_step=FIRST_STEPS[JobKind.FETCH])
