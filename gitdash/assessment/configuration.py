"""Rules on a repository's own config: keys that act on whoever runs git there.

Source: git-config(1), gitrepository-layout(5) for grafts. Which key has which effect, and what gitdash does about it,
inspection says for each key. Keys that hide the lenders' references are judged in `alternates.py`, and a lender that
drops objects in `pools.py` as well.
"""

from collections.abc import Iterator, Sequence

from gitdash.assessment.case import Case
from gitdash.assessment.commands import unset_command
from gitdash.assessment.rule import Judge, Rule
from gitdash.assessment.sentences import listed
from gitdash.model.config_facts import ConfigConcern, ConfigEffect
from gitdash.model.finding import Finding, Severity

_UNSET = "`{git} config --unset-all <key>`"
_UNSET_IN_FILE = "`git -C / config --file <config> --unset-all <key>`"
_LOOK = f"look at each value; {_UNSET} takes one away"

CONFIG_RUNS_PROGRAM = Rule(
    id="config-runs-program",
    severities=(Severity.NOTICE, Severity.WARNING),
    title="config runs a program",
    meaning="Plain git, run in this repository, starts what the repository says. A notice in a working clone, where"
    " hooks and filters are daily bread; a warning in a repository that is served.",
    source="keys of the repository's config",
    remedy=_LOOK,
)
CONFIG_REDIRECTS_URL = Rule(
    id="config-redirects-url",
    severities=(Severity.WARNING,),
    title="config redirects a URL",
    meaning="A URL that you trust leads elsewhere, and credentials that your own config sends go along.",
    source="keys of the repository's config",
    remedy=_LOOK,
)
CONFIG_DROPS_OBJECTS = Rule(
    id="config-drops-objects",
    severities=(Severity.NOTICE,),
    title="config drops objects or references",
    meaning="gc takes away at once what git otherwise keeps for weeks, or a fetch overwrites local branches. What a"
    " mirror fetches is not judged: following its remote is what it is for.",
    source="keys of the repository's config",
    remedy=f"{_UNSET} brings git's own rule back",
)
CONFIG_OVERWRITES_FILE = Rule(
    id="config-overwrites-file",
    severities=(Severity.WARNING,),
    title="config overwrites a file",
    meaning="git writes to a path that the repository chose, outside the repository.",
    source="keys of the repository's config",
    remedy=_LOOK,
)
CONFIG_READS_OUTSIDE = Rule(
    id="config-reads-outside",
    severities=(Severity.NOTICE,),
    title="config reads files outside",
    meaning="git reads a path that the repository chose; a pipe or a device there hangs it.",
    source="keys of the repository's config",
    remedy=_LOOK,
)
CONFIG_STOPS_GIT = Rule(
    id="config-stops-git",
    severities=(Severity.CRITICAL,),
    title="git dies of the config",
    meaning="A value that git refuses as soon as it reads the config: every command here ends with an error, and nobody"
    " can fetch.",
    source="values of keys of which git 2.39 to 2.55 dies in rev-list; git-config(1)",
    remedy=f"{_UNSET_IN_FILE} brings git's own rule back",
)
CONFIG_STOPS_MAINTENANCE = Rule(
    id="config-stops-maintenance",
    severities=(Severity.WARNING,),
    title="gc or repack die of the config",
    meaning="A value that git refuses when it packs: the repository is never tidied up, while reading works.",
    source="values of keys of which git 2.39 to 2.55 dies in gc or repack; git-config(1)",
    remedy=f"{_UNSET_IN_FILE} brings git's own rule back",
)
GRAFTS = Rule(
    id="grafts",
    severities=(Severity.WARNING,),
    title="grafts change the history",
    meaning="Plain git takes other parents for commits than the commits name: history and sizes look different here,"
    " a clone gets what the commits really say, and gc may drop what the grafts hide.",
    source="info/grafts is not empty; gitrepository-layout(5)",
    remedy="`{git} replace --convert-graft-file` makes replace references of them, which git takes along",
)


def _keys_finding(case: Case, rule: Rule, severity: Severity, concerns: Sequence[ConfigConcern]) -> Iterator[Finding]:
    if not concerns:
        return
    repository = case.subject.repository
    settings = [concern.key if concern.is_file else f"{concern.key}={concern.value}" for concern in concerns]
    yield rule.finding(
        case,
        severity,
        f"{rule.title}: {listed(settings, 4)}",
        {"key_count": len(concerns), "keys": ", ".join(concern.key for concern in concerns)},
        remedy=rule.remedy.replace(_UNSET, unset_command(concerns, repository)).replace(
            _UNSET_IN_FILE, unset_command(concerns, repository, is_refused=True)
        ),
    )


def config_runs_program(case: Case) -> Iterator[Finding]:
    """Yield a finding if the config names programs that git would run."""
    severity = Severity.WARNING if case.is_served else Severity.NOTICE
    yield from _keys_finding(case, CONFIG_RUNS_PROGRAM, severity, case.concerns(ConfigEffect.RUNS_PROGRAM))


def config_redirects_url(case: Case) -> Iterator[Finding]:
    """Yield a finding if the config rewrites URLs."""
    yield from _keys_finding(case, CONFIG_REDIRECTS_URL, Severity.WARNING, case.concerns(ConfigEffect.REDIRECTS_URL))


def config_drops_objects(case: Case) -> Iterator[Finding]:
    """Yield a finding if the config of a repository that does not lend drops more than git would by itself."""
    if case.is_lender or case.config is None:
        return
    is_mirror = any(remote.mirror for remote in case.config.remotes)
    concerns = [
        concern
        for concern in case.concerns(ConfigEffect.DROPS_OBJECTS)
        if concern.key.startswith("gc.") or not is_mirror
    ]
    yield from _keys_finding(case, CONFIG_DROPS_OBJECTS, Severity.NOTICE, concerns)


def config_overwrites_file(case: Case) -> Iterator[Finding]:
    """Yield a finding if the config makes git write to a file of its choice."""
    concerns = case.concerns(ConfigEffect.OVERWRITES_FILE)
    yield from _keys_finding(case, CONFIG_OVERWRITES_FILE, Severity.WARNING, concerns)


def config_reads_outside(case: Case) -> Iterator[Finding]:
    """Yield a finding if the config makes git read a file of its choice."""
    yield from _keys_finding(case, CONFIG_READS_OUTSIDE, Severity.NOTICE, case.concerns(ConfigEffect.READS_OUTSIDE))


def config_stops_git(case: Case) -> Iterator[Finding]:
    """Yield a finding if the config has values of which every command dies."""
    yield from _keys_finding(case, CONFIG_STOPS_GIT, Severity.CRITICAL, case.concerns(ConfigEffect.STOPS_GIT))


def config_stops_maintenance(case: Case) -> Iterator[Finding]:
    """Yield a finding if the config has values of which gc or repack die."""
    concerns = case.concerns(ConfigEffect.STOPS_MAINTENANCE)
    yield from _keys_finding(case, CONFIG_STOPS_MAINTENANCE, Severity.WARNING, concerns)


def grafts(case: Case) -> Iterator[Finding]:
    """Yield a finding if a grafts file changes what git takes for history."""
    yield from _keys_finding(case, GRAFTS, Severity.WARNING, case.concerns(ConfigEffect.CHANGES_HISTORY))


JUDGES: tuple[tuple[Rule, Judge], ...] = (
    (CONFIG_STOPS_GIT, config_stops_git),
    (CONFIG_STOPS_MAINTENANCE, config_stops_maintenance),
    (GRAFTS, grafts),
    (CONFIG_RUNS_PROGRAM, config_runs_program),
    (CONFIG_REDIRECTS_URL, config_redirects_url),
    (CONFIG_OVERWRITES_FILE, config_overwrites_file),
    (CONFIG_DROPS_OBJECTS, config_drops_objects),
    (CONFIG_READS_OUTSIDE, config_reads_outside),
)
