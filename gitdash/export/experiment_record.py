"""Experiments as data: JSON with every field, and CSV with a line for each run.

Source: the README's section on JSON, and RFC 4180. A fingerprint is written as hexadecimal digits.
"""

import csv
from collections.abc import Iterable
from typing import Final

import msgspec

from gitdash.export.experiment_commands import whole_command
from gitdash.export.json_values import SCHEMA_VERSION, Record, rounded
from gitdash.export.struct_record import struct_record
from gitdash.export.tables import CsvLines, safe_in_spreadsheet
from gitdash.model.experiment import ExperimentResult, ExperimentRun, VariantResult
from gitdash.units import printable_path, utc_text

_OF_RUN: Final = (
    "wall_s",
    "user_s",
    "system_s",
    "peak_memory_bytes",
    "read_bytes",
    "answer",
    "load_1m",
)
_HEAD: Final = (
    "experiment",
    "kind",
    "question",
    "path",
    "fingerprint",
    "cache",
    "git_version",
    "host",
    "variant",
    "exact",
    "skipped",
    "argv",
    "stdin",
    "run",
    "started_at",
    *_OF_RUN,
    "phases",
    "counts",
)


def experiments_document(results: Iterable[ExperimentResult], *, gitdash_version: str, now_s: float) -> Record:
    """Return the whole answer of `bench ... --format json`."""
    return {
        "schema_version": SCHEMA_VERSION,
        "gitdash_version": gitdash_version,
        "generated_at": utc_text(now_s),
        "experiments": [experiment_record(result) for result in results],
    }


def experiment_record(result: ExperimentResult) -> Record:
    """Return one experiment with everything in it."""
    record = struct_record(msgspec.structs.replace(result, fingerprint=b""))
    if result.comparison is not None:
        record["comparison"] |= {"regret": rounded(result.comparison.regret)}
    return record | {"fingerprint": result.fingerprint.hex()}


def experiments_csv(results: Iterable[ExperimentResult]) -> str:
    """Return a line for each run that counts, and one for each variant without runs.

    Text that a spreadsheet would run as a formula gets an apostrophe in front.
    """
    lines = CsvLines()
    writer = csv.writer(lines)
    writer.writerow(_HEAD)
    for result in results:
        for variant in result.variants:
            for run in variant.runs or (None,):
                writer.writerow(map(_cell, _values(result, variant, run)))
    return "".join(lines)


def _values(result: ExperimentResult, variant: VariantResult, run: ExperimentRun | None) -> tuple[object, ...]:
    return (
        result.number or None,
        result.kind.value,
        result.question,
        printable_path(result.path),
        result.fingerprint.hex(),
        result.cache.value,
        result.git_version,
        result.host,
        variant.name,
        variant.exact,
        variant.skipped,
        whole_command(variant),
        variant.stdin,
        None if run is None else run.number,
        None if run is None else utc_text(run.started_at_s),
        *(None if run is None else getattr(run, name) for name in _OF_RUN),
        "" if run is None else " ".join(f"{phase.name}={phase.elapsed_s:.6f}" for phase in run.phases),
        "" if run is None else " ".join(f"{name}={count}" for name, count in run.counts.items()),
    )


def _cell(value: object) -> str:
    match value:
        case None:
            return ""
        case bool():
            return str(value)
        case float():
            return f"{value:.6f}"
        case str():
            return safe_in_spreadsheet(value)
        case _:
            return str(value)
