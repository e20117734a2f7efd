"""Rules on what transfers and stopped commands leave behind.

Sources: Gitaly's stale data rules for kinds and ages; git removes `tmp_pack_*` only in a gc with expiry, and
`.tmp-*-pack-*` never. A person's `.keep` is never judged.
"""

from collections.abc import Iterator

from gitdash.assessment.case import Case
from gitdash.assessment.commands import file_command
from gitdash.assessment.figures import compared_ages
from gitdash.assessment.rule import Judge, Rule
from gitdash.assessment.sentences import listed
from gitdash.model.finding import Finding, Severity
from gitdash.model.inspection import TemporaryFile
from gitdash.units import counted, human_age, human_bytes, sum_bytes

STALE_KEEP = Rule(
    id="stale-keep",
    severities=(Severity.WARNING,),
    title="forgotten .keep of a transfer",
    meaning="A fetch or push marked its pack with .keep and died before it took the mark away: repacks leave that pack"
    " alone for ever.",
    source="seconds since the .keep changed, 7 days, text of receive-pack or fetch-pack; Gitaly stale data rules",
    remedy="remove the .keep file; the pack stays",
    task="sweep",
    policy_keys=("keep_age_s",),
)
TEMPORARY_FILES = Rule(
    id="temporary-files",
    severities=(Severity.NOTICE, Severity.WARNING),
    title="temporary files of stopped commands",
    meaning="Every stopped fetch or repack leaves what it had written, and hardly anything ever removes it. A warning"
    " from policy temporary_warning_bytes.",
    source="seconds since the file changed, more than 1 day, directories 3 days; Gitaly stale data rules",
    remedy="see that no process has them open, then remove them; no object of the repository is in them",
    task="sweep",
    policy_keys=("temporary_file_age_s", "temporary_directory_age_s", "temporary_warning_bytes"),
)


def stale_keep(case: Case) -> Iterator[Finding]:
    """Yield a finding if transfers have left `.keep` files."""
    if case.packs is None:
        return
    stale = [
        keep
        for keep in case.packs.keep_files
        if keep.by_transfer and case.age_s(keep.mtime_s) >= case.policy.keep_age_s
    ]
    if not stale:
        return
    oldest_age_s = max(case.age_s(keep.mtime_s) for keep in stale)
    yield STALE_KEEP.finding(
        case,
        Severity.WARNING,
        f"{counted(len(stale), '.keep file')} of transfers, the oldest {human_age(oldest_age_s)} old:"
        f" {listed([keep.name for keep in stale])}",
        {"keep_count": len(stale), "oldest_age_s": oldest_age_s},
        remedy=f"{file_command('rm --', case.pack_folder, [keep.name for keep in stale])}; the packs stay",
        formula=compared_ages(oldest_age_s, ">=", case.policy.keep_age_s, of="oldest"),
    )


def temporary_files(case: Case) -> Iterator[Finding]:
    """Yield a finding if temporary files are older than any command takes."""
    found = (case.packs.temporary_files if case.packs else ()) + (case.loose.temporary_files if case.loose else ())
    abandoned = [file for file in found if _is_abandoned(case, file)]
    if not abandoned:
        return
    size_bytes = sum_bytes(file.bytes for file in abandoned)
    is_large = size_bytes >= case.policy.temporary_warning_bytes
    oldest = max(abandoned, key=lambda file: case.age_s(file.mtime_s))
    oldest_age_s = case.age_s(oldest.mtime_s)
    yield TEMPORARY_FILES.finding(
        case,
        Severity.WARNING if is_large else Severity.NOTICE,
        f"{counted(len(abandoned), 'temporary file')} of {human_bytes(size_bytes)},"
        f" the oldest {human_age(oldest_age_s)} old: {listed([file.path for file in abandoned], 2)}",
        {"temporary_count": len(abandoned), "temporary_bytes": size_bytes, "oldest_age_s": oldest_age_s},
        remedy=_remove(case, abandoned),
        formula=compared_ages(oldest_age_s, ">", _limit_s(case, oldest), of="oldest")
        + (f"; {size_bytes:,} >= {case.policy.temporary_warning_bytes:,} bytes" if is_large else ""),
    )


def _remove(case: Case, files: list[TemporaryFile]) -> str:
    command = "rm -r --" if any(file.is_directory for file in files) else "rm --"
    removal = file_command(command, case.subject.repository.common_dir, [file.path for file in files])
    return f"see that no process has them open, then {removal}; no object of the repository is in them"


def _is_abandoned(case: Case, file: TemporaryFile) -> bool:
    return case.age_s(file.mtime_s) > _limit_s(case, file)


def _limit_s(case: Case, file: TemporaryFile) -> float:
    return case.policy.temporary_directory_age_s if file.is_directory else case.policy.temporary_file_age_s


JUDGES: tuple[tuple[Rule, Judge], ...] = (
    (STALE_KEEP, stale_keep),
    (TEMPORARY_FILES, temporary_files),
)
