"""Config, format, ownership, and what could not be read."""

import shlex
import subprocess

import msgspec
import pytest

from gitdash.assessment.sentences import shell_word
from gitdash.model.config_facts import ConfigEffect
from gitdash.model.disk_facts import DiskFacts
from gitdash.model.inspection import Problem
from gitdash.model.repository import Unreadable
from gitdash.model.sizes import Question, SizeMeasurement, Sizes, Strategy
from tests.assessment.subjects import (
    NOW_S,
    REPOSITORY,
    WORKING_CLONE,
    alternates,
    concern,
    config_facts,
    finding_of,
    found,
    judge,
    lender,
    pack,
    pack_facts,
    subject,
)


@pytest.mark.parametrize(
    ("effect", "rule", "severity", "working_clone_severity"),
    [
        (ConfigEffect.RUNS_PROGRAM, "config-runs-program", "warning", "notice"),
        (ConfigEffect.REDIRECTS_URL, "config-redirects-url", "warning", "warning"),
        (ConfigEffect.OVERWRITES_FILE, "config-overwrites-file", "warning", "warning"),
        (ConfigEffect.DROPS_OBJECTS, "config-drops-objects", "notice", "notice"),
        (ConfigEffect.READS_OUTSIDE, "config-reads-outside", "notice", "notice"),
    ],
)
def test_each_effect_of_the_config_is_a_finding(
    effect: ConfigEffect, rule: str, severity: str, working_clone_severity: str
) -> None:
    config = config_facts(concerns=(concern("section.key", effect),))
    assert found(subject(config=config)) == {rule: severity}
    assert found(subject(WORKING_CLONE, config=config)) == {rule: working_clone_severity}


def test_finding_on_config_names_each_key_and_the_command_for_it() -> None:
    keys = ["core.fsmonitor", "core.sshcommand", "filter.x.clean", "filter.x.smudge", "remote.o.vcs"]
    config = config_facts(concerns=tuple(concern(key, ConfigEffect.RUNS_PROGRAM, "/bin/x") for key in keys))
    finding = finding_of("config-runs-program", subject(config=config))
    assert "core.fsmonitor=/bin/x" in finding.summary
    assert finding.summary.endswith("and 1 more")
    assert finding.evidence == {"key_count": 5, "keys": ", ".join(keys)}
    start = "`git --git-dir=/srv/git/a.git config --unset-all"
    assert finding.remedy.startswith(f"look at each value; {start} core.fsmonitor` and {start} core.sshcommand` and ")
    assert finding.remedy.count(start) == 5
    assert "gitdash" not in finding.remedy


def test_key_that_is_not_shown_as_it_stands_is_left_to_an_editor() -> None:
    shown = ["url.https://***@host/.insteadof", "filter.a\\x1b.clean", "filter." + "x" * 199 + "….clean"]
    concerns = [concern(key, ConfigEffect.REDIRECTS_URL) for key in shown]
    included = msgspec.structs.replace(concern("core.pager", ConfigEffect.REDIRECTS_URL), source="../more")
    finding = finding_of("config-redirects-url", subject(config=config_facts(concerns=(*concerns, included))))
    assert "`" not in finding.remedy
    assert "an editor for url.https://***@host/.insteadof, " in finding.remedy


def test_unknown_extension_is_a_warning() -> None:
    judged = subject(config=config_facts(unknown_extensions=("repositoryformatversion=99", "future")))
    assert found(judged) == {"unknown-extension": "warning"}
    assert "repositoryformatversion=99, future" in finding_of("unknown-extension", judged).summary


def test_facts_to_know_are_notices() -> None:
    assert found(subject(config=config_facts(partial_clone=True))) == {"partial-clone": "notice"}
    assert found(subject(packs=pack_facts(promisor_count=1))) == {"partial-clone": "notice"}
    assert found(subject(shallow=True, shallow_count=3)) == {"shallow": "notice"}
    assert found(subject(config=config_facts(precious_objects=True))) == {"precious-objects": "notice"}


def test_foreign_repository_gets_the_line_for_its_path_alone() -> None:
    foreign = msgspec.structs.replace(
        REPOSITORY, path=b"/srv/it's here", foreign_owner_uid=1234, foreign_path=b"/srv/it's here/.git"
    )
    finding = finding_of("foreign-owner", subject(foreign))
    assert finding.severity == "notice"
    assert finding.summary == "user 1234 owns /srv/it's here/.git, so git refuses to work here"
    line = finding.remedy.partition("`")[2].rpartition("`")[0]
    assert shlex.split(line) == ["git", "config", "--global", "--add", "safe.directory", "/srv/it's here"]
    assert "*" not in line


def test_foreign_repository_that_the_config_vouches_for_is_no_finding() -> None:
    trusted = msgspec.structs.replace(REPOSITORY, foreign_owner_uid=1234, trusted_by_config=True)
    assert found(subject(trusted)) == {}


@pytest.mark.safety
@pytest.mark.parametrize(
    "path",
    [
        b"/plain",
        b"/with space",
        b"/$(touch x)`id`;rm",
        b'/it\'s "quoted"',
        b"/back\\slash",
        b"/new\nline",
        b"/esc\x1b[31m",
        b"/latin\xe9abc",
        "/bidi\u202e\\'".encode(),
        b"-rf",
    ],
)
def test_path_is_one_exact_and_printable_word_for_a_shell(path: bytes) -> None:
    word = shell_word(path)
    assert word.isprintable()
    echoed = subprocess.run(["bash", "-c", f"printf %s {word}"], capture_output=True, check=True)
    assert echoed.stdout == path


def test_unreadable_parts_are_one_warning_with_reasons() -> None:
    judged = subject(
        packs=Unreadable("permission denied"),
        head=Unreadable("it is no reference"),
        problems=(Problem(path="packed-refs", reason="line 3 is cut"),),
    )
    finding = finding_of("unreadable-parts", judged)
    assert finding.severity == "warning"
    assert finding.summary == (
        "3 parts cannot be read: head (it is no reference), packs (permission denied), packed-refs (line 3 is cut)"
    )
    assert finding.task is None


def test_files_beyond_those_that_are_named_count_each() -> None:
    named = tuple(Problem(path=f"objects/pack/pack-{number}.idx", reason="cut") for number in range(50))
    rest = Problem(path="", reason="110 more files could not be read", file_count=110)
    finding = finding_of("unreadable-parts", subject(problems=(*named, rest)))
    assert finding.summary.startswith("160 parts cannot be read: objects/pack/pack-0.idx (cut), ")
    assert finding.summary.endswith(" and 157 more")
    assert finding.evidence["unreadable_count"] == 160


@pytest.mark.parametrize("part", ["multi_pack_index", "commit_graph"])
def test_derived_part_that_cannot_be_read_names_the_task_that_writes_it_again(part: str) -> None:
    judged = subject(**{part: Unreadable("bad signature"), "loose": Unreadable("permission denied")})
    by_task = {finding.task: finding for finding in judge(judged) if finding.rule == "unreadable-parts"}
    task = part.replace("_", "-")
    assert by_task.keys() == {task, None}
    assert by_task[task].summary == f"1 part cannot be read: {task} (bad signature)"
    assert "loose" in by_task[None].summary


def test_disk_that_could_not_be_searched_whole_is_a_lower_bound() -> None:
    disk = DiskFacts(bytes=2048, allocated_bytes=4096, file_count=3, objects_bytes=0, incomplete=True)
    finding = finding_of("disk-incomplete", subject(disk=disk))
    assert finding.severity == "notice"
    assert "at least 2.00 KiB in 3 files" in finding.summary


def test_size_with_a_reservation_says_it_once() -> None:
    size = SizeMeasurement(
        question=Question.REACHABLE,
        bytes=1,
        strategy=Strategy.WALK,
        exact=True,
        elapsed_s=0.1,
        measured_at_s=NOW_S,
        argv=("git",),
        git_version="2.39.5",
        notes=("2 broken references left out",),
    )
    own = msgspec.structs.replace(size, question=Question.REACHABLE_OWN)
    judged = subject(sizes=Sizes(reachable=size, reachable_own=own))
    assert finding_of("measurement-notes", judged).summary == "sizes: 2 broken references left out"
    assert found(judged) == {"measurement-notes": "notice"}
    assert found(subject(sizes=Sizes(reachable=msgspec.structs.replace(size, notes=())))) == {}
    damaged = msgspec.structs.replace(size, notes=("a", "b"), warnings=("b",))
    judged = subject(sizes=Sizes(reachable=size, reachable_own=damaged))
    assert found(judged) == {"measurement-notes": "warning"}
    # the sign of damage stands first, whatever is cut off behind it
    finding = finding_of("measurement-notes", judged)
    assert finding.summary == "sizes: b; 2 broken references left out; and 1 more note"
    assert finding.remedy == "`gitdash size --explain /srv/git/a.git` tells more"


@pytest.mark.parametrize(
    ("reason", "severity"),
    [
        ("git rev-list failed: fatal: bad object", "warning"),
        ("no reference can be followed: 2 references point to missing objects and are left out: HEAD", "critical"),
        ("objects/x.idx: its content does not match its checksum", "warning"),
        ("git rev-list did not end within 600 s", "notice"),
        ("its reftable needs git 2.45 or newer, this is 2.39.5", "notice"),
    ],
)
def test_a_size_that_cannot_be_told_is_a_finding(reason: str, severity: str) -> None:
    judged = subject(sizes=Sizes(reachable=Unreadable(reason), reachable_own=Unreadable(reason)))
    assert found(judged) == {"size-unreadable": severity}
    assert finding_of("size-unreadable", judged).summary == f"sizes cannot be told: {reason}"
    mixed = subject(sizes=Sizes(reachable=Unreadable(reason), exclusive=Unreadable("object ids are not sorted")))
    assert found(mixed) == {"size-unreadable": "critical" if severity == "critical" else "warning"}


def test_indexes_are_asked_for_by_their_own_finding_alone() -> None:
    sizes = Sizes(reachable=Unreadable("git rev-list failed: fatal: bad object"))
    packs = pack_facts(packs=(pack("pack-x", object_count=None, has_index=False),))
    remedy = finding_of("size-unreadable", subject(packs=packs, sizes=sizes)).remedy
    assert "index-pack" not in remedy
    assert "`pack-without-index`" in remedy
    assert "index-pack" in finding_of("size-unreadable", subject(sizes=sizes)).remedy


def test_what_is_said_already_is_not_said_of_sizes_again() -> None:
    sizes = Sizes(exclusive=Unreadable("closed"), reachable=Unreadable("closed"))
    assert found(subject(packs=Unreadable("closed"), sizes=sizes)) == {"unreadable-parts": "warning"}
    lost = alternates(lender(exists=False, problem="missing"))
    assert "size-unreadable" not in found(subject(alternates=lost, sizes=sizes))


@pytest.mark.parametrize(
    ("effect", "expected"),
    [
        (ConfigEffect.STOPS_GIT, {"config-stops-git": "critical"}),
        (ConfigEffect.STOPS_MAINTENANCE, {"config-stops-maintenance": "warning"}),
        (ConfigEffect.CHANGES_HISTORY, {"grafts": "warning"}),
    ],
)
def test_what_stops_or_misleads_git_is_a_finding(effect: ConfigEffect, expected: dict[str, str]) -> None:
    assert found(subject(config=config_facts(concerns=(concern("core.bare", effect, "maybe"),)))) == expected


@pytest.mark.parametrize(("reachable_bytes", "is_hidden"), [(1200, False), (799, True), (801, False)])
def test_a_shallow_file_that_hides_what_is_stored_is_a_warning(reachable_bytes: int, is_hidden: bool) -> None:
    size = SizeMeasurement(
        question=Question.REACHABLE,
        bytes=reachable_bytes,
        strategy=Strategy.WALK,
        exact=True,
        elapsed_s=0.1,
        measured_at_s=NOW_S,
        argv=("git",),
        git_version="2.39.5",
    )
    packs = pack_facts(bytes=1500, cruft_bytes=300)
    judged = subject(shallow=True, shallow_count=1, packs=packs, sizes=Sizes(reachable=size))
    assert ("shallow-hides-objects" in found(judged)) == is_hidden
    assert "shallow-hides-objects" not in found(subject(packs=packs, sizes=Sizes(reachable=size)))
