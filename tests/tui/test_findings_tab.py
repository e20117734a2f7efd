"""The Findings of a repository: what is said of each, and in which units."""

import msgspec
import pytest

from gitdash.assessment.rules import RULES
from gitdash.model.finding import Finding, Severity
from gitdash.model.report import RepositoryReport
from gitdash.survey.summarize import summarize
from gitdash.tui.drawing.cells import line_length
from gitdash.tui.repository.evidence import evidence_text
from gitdash.tui.repository.findings import finding_commands, findings_page
from gitdash.tui.repository.view import RepositoryView
from tests.tui.fixture_fleet import NOW_S, ROOT, fixed_reports, no_family

KEYS = {"rescan": "r", "copy_shown": "y"}
REPORTS = {entry.repository.path.removeprefix(ROOT + b"/"): entry for entry in fixed_reports()}
COMMAND = "git --git-dir=/srv/git/a.git repack --geometric=2 -d -l --write-midx"
OUTSIDE = Finding(
    rule="packs-outside-midx",
    severity=Severity.WARNING,
    summary="37 packs outside the multi-pack-index, 7 allowed at 56.0 MiB",
    remedy=f"`{COMMAND}`, when there is time",
    task="geometric-repack",
    formula="37 > max(2, ln(56) / ln(1.8)) = 6",
    evidence={"outside_midx_count": 37, "pack_bytes": 58_720_256, "keys": "a, b"},
)


def view_of(entry: RepositoryReport, **keys: str) -> RepositoryView:
    return RepositoryView(
        summary=summarize(entry), report=entry, now_s=NOW_S, family=no_family, repository_count=1, keys=KEYS | keys
    )


def with_findings(*findings: Finding) -> RepositoryView:
    return view_of(msgspec.structs.replace(REPORTS[b"team/web.git"], findings=findings))


def texts(view: RepositoryView, width: int = 100) -> list[str]:
    return ["".join(piece.text for piece in line).rstrip() for line in findings_page(view, width).lines]


def test_finding_tells_everything_that_is_known_of_it() -> None:
    lines = texts(with_findings(OUTSIDE))
    assert lines[0] == " 1 warning   y copies a command   r looks again afterwards"
    assert lines[2] == " ▲ warning  packs-outside-midx  packs outside the multi-pack-index"
    assert lines[3] == "   37 packs outside the multi-pack-index, 7 allowed at 56.0 MiB"
    labelled = {
        line.split()[0]: line.split(maxsplit=1)[1] for line in lines[4:] if not line[:3].strip() and line[3:4].strip()
    }
    assert labelled["why"].startswith("Every look-up of an object asks these packs")
    assert labelled["formula"] == "37 > max(2, ln(56) / ln(1.8)) = 6"
    assert labelled["evidence"] == "outside midx 37   pack 56.0 MiB   keys a, b"
    assert "packs_outside_midx_log_base" in labelled["policy"]
    assert "Gitaly ShouldRepackObjects" in labelled["source"]
    assert labelled["remedy"] == f"$ {COMMAND}"
    assert "task" not in labelled
    assert lines[-1].strip() == "when there is time"


def test_what_a_finding_lacks_has_no_line() -> None:
    bare = msgspec.structs.replace(OUTSIDE, formula=None, task=None, evidence={}, remedy="none is needed")
    text = "\n".join(texts(with_findings(bare)))
    assert all(label not in text for label in ("formula", "task", "evidence", "copies a command"))
    assert "none is needed" in text


def test_every_finding_is_an_item_at_its_head() -> None:
    view = view_of(REPORTS[b"infra/deploy.git"])
    page = findings_page(view, 100)
    heads = ["".join(piece.text for piece in page.lines[number]).split() for number in page.items]
    assert [head[1:3] for head in heads] == [
        ["critical", "stale-lock"],
        ["warning", "loose-objects"],
        ["notice", "no-bitmap"],
    ]
    assert len({head[0] for head in heads}) == 3


def test_commands_of_a_finding_are_those_between_backticks() -> None:
    view = view_of(REPORTS[b"infra/deploy.git"])
    assert finding_commands(view, 0) == ()
    assert finding_commands(view, 1) == ("git repack -d -l", "git repack --geometric=2 -d -l")
    assert finding_commands(view, 9) == ()


def test_blanks_in_a_path_are_shown_as_they_are() -> None:
    command = "git -C '/srv/two  blanks' fsck"
    assert f"              $ {command}" in [
        line.replace("remedy", "      ")
        for line in texts(with_findings(msgspec.structs.replace(OUTSIDE, remedy=f"`{command}`")))
    ]


def test_long_command_is_whole_over_several_lines() -> None:
    command = "rm -- " + " ".join(f"/srv/git/a.git/objects/pack/{number:040x}.keep" for number in range(6))
    lines = texts(with_findings(msgspec.structs.replace(OUTSIDE, remedy=f"`{command}`")), 60)
    start = next(number for number, line in enumerate(lines) if "$ rm" in line)
    shown = "".join(line[13:] for line in lines[start:]).replace(" ", "")
    assert command.replace(" ", "") in shown


def test_no_finding_is_a_calm_sentence() -> None:
    lines = texts(view_of(REPORTS[b"clones/gitdash"]))
    assert lines[0].strip() == "No findings."
    assert lines[1].strip() == f"{len(RULES)} rules have looked at what was read 45s ago: nothing needs to be done."
    assert lines[2].strip() == "r looks at it again."


def test_unreadable_repository_says_why() -> None:
    assert texts(view_of(REPORTS[b"lost.git"]))[0].strip() == "This repository could not be read: permission denied."


def test_rule_that_this_version_does_not_know_is_shown_all_the_same() -> None:
    lines = texts(with_findings(msgspec.structs.replace(OUTSIDE, rule="of-tomorrow")))
    assert lines[2] == " ▲ warning  of-tomorrow"
    assert not any("policy" in line for line in lines)


@pytest.mark.parametrize(
    ("name", "value", "label", "text"),
    [
        ("pack_bytes", 2048, "pack", "2.00 KiB"),
        ("outside_midx_count", 12_345, "outside midx", "12.3k"),
        ("oldest_age_s", 7_200.0, "oldest age", "2h"),
        ("elapsed_s", 0.5, "elapsed", "500 ms"),
        ("keys", "gc.auto", "keys", "gc.auto"),
        ("fill_ratio", 0.25, "fill ratio", "0.25"),
        ("gc_auto", 0, "gc auto", "0"),
    ],
)
def test_evidence_has_the_unit_of_its_name(name: str, value: float | str, label: str, text: str) -> None:
    assert evidence_text(name, value) == (label, text)


@pytest.mark.parametrize("width", [60, 79, 119, 199])
def test_no_line_is_wider_than_the_screen(width: int) -> None:
    for entry in REPORTS.values():
        assert all(line_length(line) <= width for line in findings_page(view_of(entry), width).lines)
