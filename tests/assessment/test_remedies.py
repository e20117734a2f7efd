"""What the remedy of a finding says, done to the letter by a shell, ends the finding and loses no object."""

import os
import re
import subprocess
import time
from pathlib import Path

import pytest

from gitdash.assessment.rules import assess
from gitdash.assessment.subject import Subject, lender_facts
from gitdash.inspection.repository import inspect_repository
from gitdash.measurement.exclusive import LenderIds
from gitdash.model.finding import Finding
from gitdash.model.inspection import AlternatesFacts, Inspection
from gitdash.model.policy import Policy
from gitdash.model.repository import Repository, RepositoryKind, Role
from gitdash.model.sizes import Sizes
from gitdash.survey.exclusive import exclusive_of
from tests.support.repositories import GIT, GitRepository, clean_environment

pytestmark = pytest.mark.oracle

DAY_S = 86_400.0
POLICY = Policy(duplicate_notice_bytes=0)


def inspected(repository: GitRepository, now_s: float) -> Inspection:
    git_dir = os.fsencode(repository.git_dir)
    return inspect_repository(git_dir, git_dir, now_s=now_s, loose_stale_age_s=10 * DAY_S)


def findings(
    repository: GitRepository,
    lenders: tuple[GitRepository, ...] = (),
    borrowers: tuple[bytes, ...] = (),
    *,
    later_s: float = 0.0,
    foreign_owner_uid: int | None = None,
) -> dict[str, Finding]:
    """What gitdash finds `later_s` seconds from now, by rule."""
    return {finding.rule: finding for finding in assess_all(repository, later_s, lenders, borrowers, foreign_owner_uid)}


def assess_all(
    repository: GitRepository,
    later_s: float,
    lenders: tuple[GitRepository, ...] = (),
    borrowers: tuple[bytes, ...] = (),
    foreign_owner_uid: int | None = None,
) -> tuple[Finding, ...]:
    now_s = time.time() + later_s
    inspection = inspected(repository, now_s)
    git_dir = os.fsencode(repository.git_dir)
    is_bare = repository.git_dir == repository.path
    roles = (Role.MEMBER,) * isinstance(inspection.alternates, AlternatesFacts) + (Role.POOL,) * bool(borrowers)
    subject = Subject(
        repository=Repository(
            path=os.fsencode(repository.path),
            git_dir=git_dir,
            common_dir=git_dir,
            kind=RepositoryKind.BARE if is_bare else RepositoryKind.WORKTREE,
            root=os.fsencode(repository.path.parent),
            foreign_owner_uid=foreign_owner_uid,
        ),
        roles=roles or (Role.PLAIN,),
        inspection=inspection,
        borrowers=borrowers,
        sizes=Sizes(exclusive=exclusive_of(git_dir, inspection, LenderIds(), now_s=now_s)),
        lenders=tuple(
            lender_facts(os.fsencode(lender.git_dir / "objects"), inspected(lender, now_s)) for lender in lenders
        ),
    )
    return assess(subject, POLICY, now_s)


def obey(finding: Finding, *, but_not: str | None = None) -> None:
    """Run every command of a remedy, in order, but those with a word that may fail."""
    for command in re.findall(r"`([^`]+)`", finding.remedy):
        if but_not is not None and but_not in command:
            continue
        script = f'git() {{ "$GIT_UNDER_TEST" "$@"; }}; {command}'
        environment = clean_environment(GIT_UNDER_TEST=GIT)
        done = subprocess.run(["bash", "-c", script], env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, (command, done.stderr)


def all_objects(repository: GitRepository) -> set[str]:
    listing = repository.git("cat-file", "--batch-all-objects", "--batch-check=%(objectname)")
    return {*listing.splitlines()}


@pytest.fixture(params=["a.git", "it's a space.git"])
def repository(tmp_path: Path, request: pytest.FixtureRequest) -> GitRepository:
    made = GitRepository.init(tmp_path / request.param)
    for number in range(3):
        made.commit({"a": f"{number}" * 200, "b/c": "same"}, message=f"commit {number}")
    made.repack()
    return made


def test_pack_without_index_gets_one(repository: GitRepository) -> None:
    before = all_objects(repository)
    (pack,) = repository.packs()
    pack.with_suffix(".idx").unlink()
    assert all_objects(repository) == set()
    assert "pack-without-index" not in findings(repository)
    found = findings(repository, later_s=900)["pack-without-index"]
    assert found.severity == "critical"
    assert pack.stem in found.summary
    obey(found)
    assert "pack-without-index" not in findings(repository, later_s=900)
    assert all_objects(repository) == before


def test_pack_of_a_stopped_repack_is_no_pack_without_index(repository: GitRepository) -> None:
    (pack,) = repository.packs()
    (pack.parent / ".tmp-4711-pack-0123.pack").write_bytes(pack.read_bytes())
    assert {*findings(repository, later_s=2 * DAY_S)} == {"temporary-files"}


@pytest.mark.safety
@pytest.mark.skipif(os.geteuid() != 0, reason="gives files away")
def test_remedy_in_a_repository_of_another_user_runs_nothing_of_it(repository: GitRepository) -> None:
    tip = repository.git("rev-parse", "main")
    repository.git("update-ref", "--stdin", stdin="".join(f"create refs/x/{n} {tip}\n" for n in range(20)).encode())
    marker = repository.path / "marker"
    hook = repository.git_dir / "hooks" / "reference-transaction"
    hook.parent.mkdir()
    hook.write_text('#!/bin/sh\ntouch "$(dirname "$0")/../marker"\n')
    hook.chmod(0o755)
    for path in (repository.path, *repository.path.rglob("*")):
        os.chown(path, 12345, 12345)
    found = findings(repository, foreign_owner_uid=12345)["loose-references"]
    assert found.remedy.startswith("as its owner: `git -C ")
    with pytest.raises(AssertionError, match=r"safe\.directory"):
        obey(found)
    assert not marker.exists()
    repository.git("--git-dir", repository.git_dir, "pack-refs", "--all")
    assert marker.exists()


def three_packs(repository: GitRepository) -> list[Path]:
    for number in range(2):
        repository.commit({"c": f"{number}"}, message=f"more {number}")
        repository.git("repack", "-d", "-q")
    repository.git("multi-pack-index", "write")
    return repository.packs()


def remove_pack(pack: Path) -> None:
    for path in pack.parent.glob(f"{pack.stem}.*"):
        path.unlink()


def test_midx_that_names_an_absent_pack_is_written_anew(repository: GitRepository) -> None:
    _, lost, _ = by_size = sorted(three_packs(repository), key=lambda pack: pack.stat().st_size)
    remove_pack(lost)
    obey(findings(repository)["midx-names-absent-packs"], but_not="fsck")
    assert findings(repository) == {}
    assert {*repository.packs()} == {*by_size} - {lost}
    repository.git("multi-pack-index", "verify")


def test_midx_without_any_pack_is_removed(repository: GitRepository) -> None:
    for pack in three_packs(repository):
        remove_pack(pack)
    found = findings(repository)
    obey(found["midx-names-absent-packs"])
    assert {*findings(repository)} == {*found} - {"midx-names-absent-packs"} == {"objects-gone"}


def test_packs_outside_midx_are_covered(repository: GitRepository) -> None:
    three_packs(repository)
    (repository.git_dir / "objects" / "pack" / "multi-pack-index").unlink()
    before = all_objects(repository)
    obey(findings(repository)["packs-outside-midx"])
    assert findings(repository) == {}
    assert all_objects(repository) == before


EVIL = "/nonexistent/it's evil"


@pytest.mark.parametrize(
    ("rule", "settings"),
    [
        ("config-runs-program", {"core.fsmonitor": EVIL, "filter.it's.clean": EVIL, "alias.x": f"!{EVIL}"}),
        ("config-redirects-url", {"url.https://b.example/.insteadOf": "https://a.example/", "http.proxy": "p:1"}),
        ("config-overwrites-file", {"http.saveCookies": "true"}),
        ("config-reads-outside", {"core.attributesFile": EVIL, "mailmap.file": EVIL}),
        ("config-drops-objects", {"gc.pruneExpire": "now", "gc.refs/x.reflogExpire": "now"}),
        ("config-stops-git", {"core.compression": "lots", "core.fileMode": "maybe"}),
        ("config-stops-maintenance", {"gc.auto": "many", "pack.threads": "x"}),
    ],
)
def test_keys_of_the_config_are_taken_away(repository: GitRepository, rule: str, settings: dict[str, str]) -> None:
    config = repository.git_dir / "config"
    for key, value in settings.items():
        for _ in range(2):
            repository.git("-C", "/", "config", "--file", config, "--add", key, value)
    obey(findings(repository)[rule])
    assert findings(repository) == {}
    assert repository.git("config", "core.repositoryFormatVersion")


def test_hooks_and_old_remotes_are_files_to_be_removed(repository: GitRepository) -> None:
    repository.git("config", "core.fsmonitor", EVIL)
    for folder, name in (("hooks", "pre-receive"), ("remotes", "old")):
        (repository.git_dir / folder).mkdir(exist_ok=True)
        (repository.git_dir / folder / name).touch()
        (repository.git_dir / folder / name).chmod(0o755)
    found = findings(repository)
    assert found["config-runs-program"].summary == (f"config runs a program: core.fsmonitor={EVIL}, hooks/pre-receive")
    assert found["config-redirects-url"].summary == "config redirects a URL: remotes/old"
    for rule in ("config-runs-program", "config-redirects-url"):
        obey(found[rule])
    assert findings(repository) == {}


@pytest.mark.parametrize("settings", [{"gc.pruneExpire": "now"}, {"gc.reflogExpire": "now"}, {}])
def test_lender_is_made_to_keep_everything(repository: GitRepository, settings: dict[str, str]) -> None:
    for key, value in settings.items():
        repository.git("config", "--add", key, value)
        repository.git("config", "--add", key, value)
    (found,) = findings(repository, borrowers=(b"/srv/b",)).values()
    assert found.rule == ("pool-drops-objects" if settings else "pool-automatic-gc")
    obey(found)
    assert findings(repository, borrowers=(b"/srv/b",)) == {}
    unreachable = repository.blob(b"what a borrower needs")
    path = repository.git_dir / "objects" / unreachable[:2] / unreachable[2:]
    repository.age(path, 400 * DAY_S, time.time())
    repository.git("gc", "-q")
    assert repository.git("cat-file", "-t", unreachable) == "blob"


def test_grafts_become_replace_references(repository: GitRepository) -> None:
    tip, root = repository.git("rev-parse", "main", "main~2").split()
    (repository.git_dir / "info").mkdir(exist_ok=True)
    (repository.git_dir / "info" / "grafts").write_text(f"{tip} {root}\n")
    obey(findings(repository)["grafts"])
    assert "grafts" not in findings(repository)
    assert repository.git("rev-list", "--count", "main") == "2"


def member_of(lender: GitRepository, path: Path) -> GitRepository:
    """A full copy of the lender's objects that borrows from it."""
    member = GitRepository.init(path)
    member.git("fetch", "-q", "--no-tags", str(lender.path), "refs/heads/*:refs/heads/*")
    member.git("repack", "-a", "-d", "-q", "--write-bitmap-index")
    member.borrow_from(lender)
    return member


@pytest.mark.parametrize("lender_is_loose", [False, True])
def test_copies_of_the_lender_s_objects_go(repository: GitRepository, tmp_path: Path, lender_is_loose: bool) -> None:
    if lender_is_loose:
        (pack,) = repository.packs()
        content = pack.read_bytes()
        remove_pack(pack)
        repository.git("unpack-objects", "-q", stdin=content)
    member = member_of(repository, tmp_path / "it's a member.git")
    unreachable = member.blob(b"only here")
    found = findings(member, (repository,))
    before = all_objects(member)
    obey(found["duplicate-objects"])
    left = findings(member, (repository,))
    assert not {"duplicate-objects", "alternates-newer-than-repack"} & {*left}
    assert all_objects(member) == before
    repository.git("fsck", "--strict")
    assert member.git("cat-file", "-t", unreachable) == "blob"
    assert found["alternates-newer-than-repack"].remedy == found["duplicate-objects"].remedy


def test_bitmap_of_a_member_goes_where_the_lender_has_one(repository: GitRepository, tmp_path: Path) -> None:
    repository.repack("--write-bitmap-index")
    member = member_of(repository, tmp_path / "it's a member.git")
    obey(findings(member, (repository,))["several-bitmaps"])
    assert "several-bitmaps" not in findings(member, (repository,))
    counted = member.git("rev-list", "--use-bitmap-index", "--test-bitmap", "main", check=False)
    assert counted == member.git("rev-list", "--use-bitmap-index", "--test-bitmap", "main")


def bitmaps(repository: GitRepository) -> list[str]:
    return sorted(path.name for path in (repository.git_dir / "objects" / "pack").glob("*.bitmap"))


def test_one_of_two_bitmaps_of_packs_stays(repository: GitRepository) -> None:
    repository.repack("--write-bitmap-index")
    (first,) = bitmaps(repository)
    pack_folder = repository.git_dir / "objects" / "pack"
    (pack_folder / first.replace(".bitmap", ".keep")).touch()
    repository.commit({"d": "d"}, message="after the first bitmap")
    repository.repack("--write-bitmap-index", "--pack-kept-objects")
    assert len(bitmaps(repository)) == 2
    (pack_folder / first.replace(".bitmap", ".keep")).unlink()
    obey(findings(repository)["several-bitmaps"])
    assert len(bitmaps(repository)) == 1
    assert findings(repository) == {}


def test_bitmap_of_the_multi_pack_index_stays_before_that_of_a_pack(repository: GitRepository) -> None:
    repository.repack("--write-bitmap-index")
    repository.git("multi-pack-index", "write", "--bitmap")
    assert len(bitmaps(repository)) == 2
    obey(findings(repository)["several-bitmaps"])
    (left,) = bitmaps(repository)
    assert left.startswith("multi-pack-index-")
    assert findings(repository) == {}


LEFT_OVER = {
    "stale-lock": ["config.lock", "refs/heads/it's.lock", "packed-refs.lock"],
    "maintenance-lock": ["objects/maintenance.lock"],
    "gc-pid": ["gc.pid"],
    "gc-log": ["gc.log"],
    "stale-keep": ["objects/pack/PACK.keep"],
    "temporary-files": [
        "objects/pack/tmp_pack_aB3dE6",
        "objects/17/tmp_obj_aB3dE6",
        "objects/tmp_objdir-incoming-aB3dE6/pack/tmp_pack_aB3dE6",
    ],
    "orphan-index": ["objects/pack/pack-gone.idx"],
    "empty-references": ["refs/heads/it's"],
}
CONTENT = {"gc.pid": "999999999 elsewhere", "gc.log": "error: no", "objects/pack/PACK.keep": "fetch-pack 1 on host"}


@pytest.mark.safety
@pytest.mark.parametrize("rule", LEFT_OVER)
def test_what_is_left_over_is_removed_and_nothing_else(repository: GitRepository, rule: str) -> None:
    (pack,) = repository.packs()
    files = {path for path in repository.git_dir.rglob("*") if path.is_file()}
    for name in LEFT_OVER[rule]:
        path = repository.git_dir / name.replace("PACK", pack.stem)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(CONTENT.get(name, ""))
    later_s = 30 * DAY_S
    several = [one for one in assess_all(repository, later_s) if one.rule == rule]
    assert several
    for finding in several:
        obey(finding, but_not="reflog")
    assert rule not in findings(repository, later_s=later_s)
    assert {path for path in repository.git_dir.rglob("*") if path.is_file()} == files
