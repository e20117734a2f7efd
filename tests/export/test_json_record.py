"""The JSON of the outside face: every name that others script against, null, and unreadable."""

import json
from typing import Any

import msgspec
import pytest

from gitdash.export.json_record import FACT_NAMES, document, record
from gitdash.export.json_values import json_line, json_text
from gitdash.export.size_record import size_record
from gitdash.model.finding import Finding, Severity
from gitdash.model.report import Lender, RepositoryReport, State, Totals
from gitdash.model.repository import Role, Unreadable
from gitdash.model.sizes import ExclusiveSizes, Question, SizeMeasurement, Sizes, Strategy
from gitdash.units import utc_text
from tests.assessment.subjects import (
    NOW_S,
    REPOSITORY,
    alternates,
    bitmap,
    commit_graph,
    config_facts,
    inspection,
    lender,
    lock,
    multi_pack_index,
)

REACHABLE = SizeMeasurement(
    question=Question.REACHABLE,
    bytes=217,
    strategy=Strategy.BITMAP,
    exact=True,
    elapsed_s=0.2500000123,
    measured_at_s=NOW_S,
    argv=("git", "rev-list"),
    git_version="2.39.5",
)
SIZES = Sizes(
    exclusive=ExclusiveSizes(
        exclusive_bytes=58_358_935,
        exclusive_count=9,
        duplicate_bytes=451_288,
        duplicate_count=504,
        elapsed_s=0.1100004999,
        measured_at_s=NOW_S,
    ),
    reachable=REACHABLE,
    reachable_own=Unreadable("a lender is missing"),
)
FINDING = Finding(
    rule="packs-outside-midx",
    severity=Severity.WARNING,
    summary="37 packs",
    remedy="repack",
    evidence={"pack_count": 37},
)
TOTALS = Totals(
    repository_count=1,
    object_store_count=1,
    disk_bytes=5000,
    exclusive_bytes=4,
    duplicate_bytes=3,
    unreadable_count=0,
    notice_count=0,
    warning_count=1,
    critical_count=0,
)


def report(**changes: Any) -> RepositoryReport:
    full = RepositoryReport(
        repository=REPOSITORY,
        roles=(Role.MEMBER,),
        borrowers=(b"/srv/git/b\xff.git",),
        inspection=inspection(
            bitmaps=(bitmap(),),
            multi_pack_index=multi_pack_index(),
            commit_graph=commit_graph(),
            alternates=alternates(lender()),
            locks=(lock("packed-refs.lock", 7200.9),),
        ),
        sizes=SIZES,
        findings=(FINDING,),
        state=State.WARNING,
    )
    return msgspec.structs.replace(full, **changes)


DESIGN: dict[str, Any] = {
    "schema_version": 1,
    "gitdash_version": "0.1",
    "git_version": "2.39.5",
    "generated_at": "2023-11-14T22:13:20Z",
    "repositories": [
        {
            "path": "/srv/git/a.git",
            "kind": "bare",
            "role": ["member"],
            "state": "warning",
            "object_format": "sha1",
            "reference_backend": "files",
            "partial": False,
            "shallow": False,
            "alternates": [{"path": "/srv/git/pool.git/objects", "exists": True, "depth": 1}],
            "borrowers": ["/srv/git/b\\xff.git"],
            "packs": {
                "count": 1,
                "bytes": 1000,
                "kept_count": 0,
                "cruft_count": 0,
                "promisor_count": 0,
                "outside_midx_count": 1,
                "orphan_index_count": 0,
                "garbage_count": 0,
                "garbage_bytes": 0,
            },
            "loose": {"count": 0, "bytes": 0, "stale_count": 0, "garbage_count": 0},
            "bitmap": {
                "location": "local",
                "source": "pack",
                "version": 1,
                "hash_cache": True,
                "lookup_table": False,
                "pseudo_merges": False,
                "commit_count": 12,
            },
            "multi_pack_index": {
                "version": 1,
                "pack_count": 8,
                "object_count": 50,
                "layer_count": 1,
                "missing_pack_count": 0,
            },
            "commit_graph": {
                "chain_length": 2,
                "commit_count": 2000,
                "bloom_filters": True,
                "generation_data": True,
            },
            "references": {"loose_count": 1, "packed_count": 10, "packed_bytes": 700},
            "locks": [{"path": "packed-refs.lock", "age_s": 7200, "holder_pid": None}],
            "sizes": {
                "disk": {"bytes": 5000, "allocated_bytes": 8192},
                "objects": {"bytes": 1000},
                "exclusive": {"bytes": 58_358_935, "elapsed_s": 0.11},
                "duplicate": {"bytes": 451_288, "count": 504},
                "reachable": {
                    "bytes": 217,
                    "strategy": "bitmap",
                    "exact": True,
                    "bound": "exact",
                    "elapsed_s": 0.25,
                    "measured_at": "2023-11-14T22:13:20Z",
                    "argv": ["git", "rev-list"],
                },
                "reachable_own": {"unreadable": "a lender is missing"},
            },
            "findings": [
                {"rule": "packs-outside-midx", "severity": "warning", "summary": "37 packs", "remedy": "repack"}
            ],
        }
    ],
    "totals": {
        "repository_count": 1,
        "object_store_count": 1,
        "disk_bytes": 5000,
        "duplicate_bytes": 3,
        "saved_bytes": None,
        "saved_bound": "exact",
        "saved_unknown_count": 0,
    },
}
"""The document of the README, with the values of the report above; names may be added to it, none may go."""


def assert_holds(answer: Any, promised: Any, where: str = "$") -> None:
    """Every name and value that is promised is in the answer."""
    if isinstance(promised, dict):
        for name, value in promised.items():
            assert name in answer, f"{where}.{name}"
            assert_holds(answer[name], value, f"{where}.{name}")
    elif isinstance(promised, list):
        assert len(answer) == len(promised), where
        for number, value in enumerate(promised):
            assert_holds(answer[number], value, f"{where}[{number}]")
    else:
        assert answer == promised, where


def test_document_has_every_name_of_the_design() -> None:
    whole = document([report()], TOTALS, gitdash_version="0.1", git_version="2.39.5", now_s=NOW_S)
    assert_holds(json.loads(json_text(whole)), DESIGN)


def test_top_level_names_are_these_and_no_others() -> None:
    whole = document([], TOTALS, gitdash_version="0.1", git_version=None, now_s=NOW_S)
    assert list(whole) == list(DESIGN)
    assert whole["git_version"] is None
    assert whole["repositories"] == []


def test_alternate_names_the_repository_that_lends_if_that_is_known() -> None:
    facts = alternates(lender(), lender(b"/out/objects"), lender(b"/odd/objects"))
    names = [(b"/srv/git/pool.git", True), (b"/out/objects", False), (b"/srv/\xff.git", True)]
    lenders = tuple(Lender(path=path, depth=1, exists=True, is_known=is_known) for path, is_known in names)
    entries = record(report(inspection=inspection(alternates=facts), lenders=lenders), NOW_S)["alternates"]
    assert [entry["repository"] for entry in entries] == ["/srv/git/pool.git", None, "/srv/\\xff.git"]
    assert entries[2]["repository_bytes_base64"] == "L3Nydi//LmdpdA=="
    assert record(report(), NOW_S)["alternates"][0]["repository"] is None


def test_absent_parts_are_null() -> None:
    bare = record(report(inspection=inspection(), sizes=Sizes(), findings=(), borrowers=()), NOW_S)
    for name in ("alternates", "bitmap", "multi_pack_index", "commit_graph"):
        assert bare[name] is None, name
    for name in ("exclusive", "duplicate", "reachable", "reachable_own"):
        assert bare["sizes"][name] is None, name
    assert bare["locks"] == bare["findings"] == bare["borrowers"] == []
    assert bare["packs"]["kept_count"] == 0


@pytest.mark.parametrize(
    "part", ["packs", "loose", "multi_pack_index", "commit_graph", "references", "alternates", "config", "head"]
)
def test_unreadable_part_says_so(part: str) -> None:
    answer = record(report(inspection=inspection(**{part: Unreadable("permission denied")})), NOW_S)
    assert answer[part] == {"unreadable": "permission denied"}


def test_unreadable_config_leaves_open_whether_it_is_partial() -> None:
    answer = record(report(inspection=inspection(config=Unreadable("line 3"))), NOW_S)
    assert answer["partial"] == {"unreadable": "line 3"}
    partial = record(report(inspection=inspection(config=config_facts(partial_clone=True))), NOW_S)
    assert partial["partial"] is True


def test_unreadable_packs_or_loose_objects_make_the_sum_unreadable() -> None:
    for part in ("packs", "loose"):
        answer = record(report(inspection=inspection(**{part: Unreadable("cut")})), NOW_S)
        assert answer["sizes"]["objects"] == {"unreadable": "cut"}
    answer = record(report(inspection=inspection(disk=Unreadable("cut"))), NOW_S)
    assert answer["sizes"]["disk"] == {"unreadable": "cut"}


def test_unreadable_repository_has_every_name_and_claims_nothing() -> None:
    unreadable = record(report(inspection=Unreadable("permission denied"), state=State.UNREADABLE), NOW_S)
    assert list(unreadable) == list(record(report(), NOW_S))
    reason = {"unreadable": "permission denied"}
    for name in FACT_NAMES:
        assert unreadable[name] == (["/srv/git/b\\xff.git"] if name == "borrowers" else reason)
    assert unreadable["sizes"]["disk"] == unreadable["sizes"]["objects"] == reason


def test_fact_names_are_those_of_a_readable_record() -> None:
    names = [name for name in record(report(), NOW_S) if name in FACT_NAMES]
    assert names == list(FACT_NAMES)


def test_bitmap_of_a_lender_says_where_it_is() -> None:
    answer = record(report(inspection=inspection(), lender_bitmap=bitmap()), NOW_S)
    assert answer["bitmap"]["location"] == "lender"
    local = record(report(lender_bitmap=bitmap()), NOW_S)
    assert local["bitmap"]["location"] == "local"


def test_age_of_a_lock_from_the_future_is_zero() -> None:
    answer = record(report(inspection=inspection(locks=(lock("HEAD.lock", -500),))), NOW_S)
    assert answer["locks"][0]["age_s"] == 0


def test_size_command_answers_with_the_promised_names() -> None:
    assert size_record(b"/srv/git/a.git", REACHABLE) == {
        "path": "/srv/git/a.git",
        "question": "reachable",
        "bytes": 217,
        "strategy": "bitmap",
        "exact": True,
        "bound": "exact",
        "elapsed_s": 0.25,
        "measured_at": "2023-11-14T22:13:20Z",
        "argv": ["git", "rev-list"],
        "git_version": "2.39.5",
        "from_history": False,
        "excluded_references": [],
        "notes": [],
    }


@pytest.mark.parametrize(
    ("path", "shown", "encoded"),
    [
        (b"/srv/caf\xe9.git", "/srv/caf\\xe9.git", "L3Nydi9jYWbpLmdpdA=="),
        (b"/srv/a\nb", "/srv/a\\x0ab", "L3Nydi9hCmI="),
        ("/srv/日本.git".encode(), "/srv/日本.git", None),
        (b"/srv/a\\nb", "/srv/a\\nb", None),
    ],
)
def test_a_path_that_text_does_not_say_has_its_bytes_beside_it(path: bytes, shown: str, encoded: str | None) -> None:
    repository = msgspec.structs.replace(REPOSITORY, path=path, root=path)
    said = record(report(repository=repository), NOW_S)
    for answer, name in ((said, "path"), (said, "root"), (size_record(path, REACHABLE), "path")):
        assert answer[name] == shown
        assert answer.get(f"{name}_bytes_base64") == encoded
        assert (f"{name}_bytes_base64" in answer) is (encoded is not None)
    assert "git_dir_bytes_base64" not in said


def test_json_is_ascii_safe_utf8_with_one_newline_at_the_end() -> None:
    hostile = report(repository=msgspec.structs.replace(REPOSITORY, path=b"/srv/\x1b[31m\xe9\n\xe2\x80\xae.git"))
    line = json_line(record(hostile, NOW_S))
    assert line.count("\n") == 1
    assert line.endswith("}\n")
    assert json.loads(line)["path"] == "/srv/\\x1b[31m\\xe9\\x0a\\u202e.git"
    text = json_text(record(hostile, NOW_S))
    assert json.loads(text) == json.loads(line)
    assert text.startswith('{\n  "path": ')


@pytest.mark.parametrize(
    ("moment_s", "text"),
    [
        (0, "1970-01-01T00:00:00Z"),
        (1_700_000_000.999, "2023-11-14T22:13:20Z"),
        (-5, "1970-01-01T00:00:00Z"),
        (1e300, "9999-12-31T23:59:59Z"),
    ],
)
def test_time_is_rfc_3339_utc(moment_s: float, text: str) -> None:
    assert utc_text(moment_s) == text
