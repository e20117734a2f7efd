"""The JSON that others script against: one record for each repository, and the document around them.

Source: the README's section on JSON. Raw numbers with the unit in the key; null for absent, `{"unreadable": reason}`
for a part that could not be read; times are RFC 3339 UTC. Names may be added; a name keeps its meaning. It makes
dictionaries; text is made of them in `json_values`.
"""

from collections.abc import Iterable
from itertools import zip_longest

from gitdash.export.json_values import SCHEMA_VERSION, Record, part_value, path_record
from gitdash.export.size_record import sizes_record
from gitdash.model.config_facts import ConfigFacts
from gitdash.model.finding import Finding
from gitdash.model.inspection import (
    AlternatesFacts,
    BitmapFacts,
    CommitGraphFacts,
    LockFile,
    LooseFacts,
    MultiPackIndexFacts,
    PackFacts,
    Problem,
    ReferenceFacts,
)
from gitdash.model.report import Lender, RepositoryReport, Totals
from gitdash.model.repository import Repository, Unreadable
from gitdash.units import printable_path, utc_text


def document(
    reports: Iterable[RepositoryReport], totals: Totals, *, gitdash_version: str, git_version: str | None, now_s: float
) -> Record:
    """Return the whole answer of `scan --format json`; `git_version` is None if no git was found."""
    return {
        "schema_version": SCHEMA_VERSION,
        "gitdash_version": gitdash_version,
        "git_version": git_version,
        "generated_at": utc_text(now_s),
        "repositories": [record(report, now_s) for report in reports],
        "totals": totals_record(totals),
    }


def totals_record(totals: Totals) -> Record:
    """Return the sums over a survey; each object store counts once."""
    return {name: getattr(totals, name) for name in Totals.__struct_fields__}


def record(report: RepositoryReport, now_s: float) -> Record:
    """Return everything known of one repository; ages are counted up to `now_s`."""
    return {
        **_identity(report.repository),
        "role": [role.value for role in report.roles],
        "state": report.state.value,
        **_facts(report, now_s),
        "sizes": sizes_record(report.sizes, report.inspection),
        "findings": [finding_record(finding) for finding in report.findings],
        "counts_store": report.counts_store,
    }


def _identity(repository: Repository) -> Record:
    return {
        **path_record("path", repository.path),
        **path_record("git_dir", repository.git_dir),
        **path_record("common_dir", repository.common_dir),
        **path_record("root", repository.root),
        "kind": repository.kind.value,
        "layout": repository.layout.value,
        "foreign_owner_uid": repository.foreign_owner_uid,
    }


def _facts(report: RepositoryReport, now_s: float) -> Record:
    inspection = report.inspection
    borrower_paths = [printable_path(path) for path in report.borrowers]
    if isinstance(inspection, Unreadable):
        reason = {"unreadable": inspection.reason}
        return {name: borrower_paths if name == "borrowers" else reason for name in FACT_NAMES}
    return {
        "object_format": inspection.object_format.value,
        "reference_backend": inspection.reference_backend.value,
        "head": part_value(inspection.head, str),
        "partial": part_value(inspection.config, lambda config: config.partial_clone),
        "shallow": inspection.shallow,
        "alternates": part_value(inspection.alternates, lambda facts: _alternates(facts, report.lenders)),
        "borrowers": borrower_paths,
        "packs": part_value(inspection.packs, _packs),
        "loose": part_value(inspection.loose, _loose),
        "bitmap": _bitmap(inspection.bitmaps, report.lender_bitmap),
        "multi_pack_index": part_value(inspection.multi_pack_index, _multi_pack_index),
        "commit_graph": part_value(inspection.commit_graph, _commit_graph),
        "references": part_value(inspection.references, _references),
        "locks": [_lock(lock, now_s) for lock in inspection.locks],
        "problems": [_problem(problem) for problem in inspection.problems],
        "config": part_value(inspection.config, _config),
        "filesystem_type": inspection.filesystem_type,
        "inspected_at": utc_text(inspection.inspected_at_s),
    }


FACT_NAMES = (
    "object_format",
    "reference_backend",
    "head",
    "partial",
    "shallow",
    "alternates",
    "borrowers",
    "packs",
    "loose",
    "bitmap",
    "multi_pack_index",
    "commit_graph",
    "references",
    "locks",
    "problems",
    "config",
    "filesystem_type",
    "inspected_at",
)
"""Keys of a record that come from inspection; each is `{"unreadable": reason}` if the repository could not be read."""


def _alternates(facts: AlternatesFacts, lenders: tuple[Lender, ...]) -> list[Record]:
    return [
        {
            **path_record("path", alternate.path),
            **(path_record("repository", lender.path) if lender and lender.is_known else {"repository": None}),
            "exists": alternate.exists,
            "depth": alternate.depth,
            "problem": alternate.problem,
        }
        for alternate, lender in zip_longest(facts.alternates, lenders)
    ]


def _packs(facts: PackFacts) -> Record:
    return {
        "count": facts.count,
        "bytes": facts.bytes,
        "kept_count": facts.kept_count,
        "kept_bytes": facts.kept_bytes,
        "cruft_count": facts.cruft_count,
        "cruft_bytes": facts.cruft_bytes,
        "promisor_count": facts.promisor_count,
        "outside_midx_count": facts.outside_midx_count,
        "orphan_index_count": len(facts.orphan_index_names),
        "missing_index_count": len(facts.missing_index_names),
        "garbage_count": facts.garbage_count,
        "garbage_bytes": facts.garbage_bytes,
    }


def _loose(facts: LooseFacts) -> Record:
    return {
        "count": facts.count,
        "bytes": facts.bytes,
        "stale_count": facts.stale_count,
        "stale_bytes": facts.stale_bytes,
        "garbage_count": facts.garbage_count,
        "garbage_bytes": facts.garbage_bytes,
    }


def _bitmap(local: tuple[BitmapFacts, ...], lender: BitmapFacts | None) -> Record | None:
    facts = local[0] if local else lender
    if facts is None:
        return None
    return {
        "location": "local" if local else "lender",
        "source": facts.source.value,
        "version": facts.version,
        "hash_cache": facts.hash_cache,
        "lookup_table": facts.lookup_table,
        "pseudo_merges": facts.pseudo_merges,
        "commit_count": facts.commit_count,
        "bytes": facts.bytes,
    }


def _multi_pack_index(facts: MultiPackIndexFacts) -> Record:
    return {
        "version": facts.version,
        "pack_count": facts.pack_count,
        "object_count": facts.object_count,
        "layer_count": facts.layer_count,
        "missing_pack_count": facts.missing_pack_count,
    }


def _commit_graph(facts: CommitGraphFacts) -> Record:
    return {
        "chain_length": facts.chain_length,
        "commit_count": facts.commit_count,
        "bloom_filters": facts.bloom_filters,
        "generation_data": facts.generation_data,
        "missing_layer_count": facts.missing_layer_count,
    }


def _references(facts: ReferenceFacts) -> Record:
    return {
        "count": facts.count,
        "loose_count": facts.loose_count,
        "packed_count": facts.packed_count,
        "packed_bytes": facts.packed_bytes,
        "reftable_bytes": list(facts.reftable_bytes),
    }


def _lock(lock: LockFile, now_s: float) -> Record:
    return {
        "path": lock.path,
        "age_s": max(0, int(now_s - lock.mtime_s)),
        "holder_pid": lock.holder_pid,
        "holder_host": lock.holder_host,
    }


def _problem(problem: Problem) -> Record:
    return {"path": problem.path, "reason": problem.reason}


def _config(facts: ConfigFacts) -> Record:
    return {
        "unknown_extensions": list(facts.unknown_extensions),
        "precious_objects": facts.precious_objects,
        "gc_auto": facts.gc_auto,
        "concerns": [
            {"key": concern.key, "effect": concern.effect.value, "answer": concern.answer} for concern in facts.concerns
        ],
    }


def finding_record(finding: Finding) -> Record:
    """Return one finding."""
    return {
        "rule": finding.rule,
        "severity": finding.severity.value,
        "summary": finding.summary,
        "remedy": finding.remedy,
        "task": finding.task,
        "formula": finding.formula,
        "evidence": dict(finding.evidence),
    }
