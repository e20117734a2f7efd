import os
from dataclasses import replace
from pathlib import Path

import pytest

from gitdash.lab.experiments import EXPERIMENTS
from gitdash.lab.fetch_sources import HELD_TIP, NEW_COMMIT, REAL_REMOTE
from gitdash.lab.request import ExperimentError
from gitdash.model.experiment import ExperimentKind, ExperimentResult, ExperimentRun
from tests.support.experiments import by_name, made, request_for, state_of
from tests.support.repositories import GIT, GitRepository

FETCH = ExperimentKind.FETCH
SUPPRESSING = "core.alternateRefsCommand=exit 0 #"


@pytest.fixture
def lender(tmp_path: Path) -> GitRepository:
    lender = GitRepository.init(tmp_path / "lender.git")
    for number in range(8):
        tip = lender.commit({"file": f"{number}\n"})
        lender.git("update-ref", f"refs/keep/{number}", tip)
    lender.repack("--write-bitmap-index")
    return lender


@pytest.fixture
def member(lender: GitRepository, tmp_path: Path) -> GitRepository:
    """Five commits behind its lender, with a commit of its own in a pack, and one that is loose."""
    member = GitRepository.init(tmp_path / "member.git")
    member.borrow_from(lender)
    member.clock_s = lender.clock_s
    member.git("update-ref", "refs/heads/main", lender.git("rev-parse", "main~5"))
    member.commit({"own": "packed\n"})
    member.repack("-l")
    member.commit({"own": "loose\n"})
    return member


def counts(result: ExperimentResult) -> dict[str, tuple[int, int]]:
    """Objects that came and references that changed, by variant."""
    return {
        variant.name: (variant.runs[-1].counts["received-objects"], variant.runs[-1].counts["references"])
        for variant in result.variants
        if variant.runs
    }


@pytest.mark.parametrize("new_commits", [1, 4])
def test_new_commits_come_into_a_copy_and_the_original_stays(
    member: GitRepository, lender: GitRepository, new_commits: int
) -> None:
    before = state_of(member.path, lender.path)
    result = made(FETCH, member.path, runs=2, new_commits=new_commits)
    assert state_of(member.path, lender.path) == before
    assert result.question == NEW_COMMIT
    # of each commit itself, its tree and its file
    assert counts(result) == {"as-configured": (3 * new_commits, 1), "suppressed": (3 * new_commits, 1)}
    assert all(len(variant.runs) == 2 for variant in result.variants)


def test_a_tip_that_the_lender_holds_is_not_sent(member: GitRepository, lender: GitRepository) -> None:
    before = state_of(member.path, lender.path)
    result = made(FETCH, member.path, question=HELD_TIP)
    assert state_of(member.path, lender.path) == before
    assert counts(result) == {"as-configured": (0, 1), "suppressed": (0, 1)}
    assert result.notes == (
        "By its rule gitdash would fetch this offering the lender's references: the lender has 1 of 1 wanted tip.",
    )


def test_phases_are_parts_of_the_total(member: GitRepository) -> None:
    for variant in made(FETCH, member.path).variants:
        (run,) = variant.runs
        assert {"connect", "negotiation", "receive", "connectivity check"} <= {phase.name for phase in run.phases}
        assert sum(phase.elapsed_s for phase in run.phases) == pytest.approx(run.wall_s)
        assert run.user_s is not None
        assert run.peak_memory_bytes is not None
        # git itself has 3 MB and more, and Python, from which it was forked, 30 and more
        assert 1024**2 < run.peak_memory_bytes < 25 * 1024**2


@pytest.mark.oracle
def test_what_comes_is_what_git_itself_would_find_there(member: GitRepository, lender: GitRepository) -> None:
    newest = lender.git("rev-list", "--max-count=1", "--all")
    seen = []

    def look(_: ExperimentRun) -> None:
        registry = Path(os.fsdecode(request.registry_dir))
        (server,) = [GitRepository(path / "copy") for path in registry.iterdir() if path.is_dir()]
        seen.append(server.git("rev-parse", "refs/heads/gitdash-lab"))

    request = request_for(member.path, question=HELD_TIP, on_run=look)
    EXPERIMENTS[FETCH].run(request)
    assert set(seen) == {newest}


def test_git_asks_the_lender_for_its_references_only_where_it_is_said(
    member: GitRepository, lender: GitRepository, tmp_path: Path
) -> None:
    log, spy = tmp_path / "log", tmp_path / "spy"
    # what git starts for the references of the lender is traced as its child
    spy.write_text(f'#!/bin/sh\nexport GIT_TRACE={log}\nexec {GIT} "$@"\n')
    spy.chmod(0o700)
    asked = {}
    for name in ("as-configured", "suppressed"):
        request = request_for(member.path, chosen=(name,))
        request = replace(request, program=replace(request.program, path=os.fspath(spy)))
        variant = by_name(EXPERIMENTS[FETCH].run(request))[name]
        asked[name] = f"--git-dir={lender.path}" in log.read_text()
        assert (SUPPRESSING in variant.argv) == (name == "suppressed")
        assert variant.argv[-2:] == ("gitdash-lab", "+refs/heads/gitdash-lab:refs/remotes/gitdash-lab/new")
        assert "fetch" in variant.argv
        log.unlink()
    assert asked == {"as-configured": True, "suppressed": False}


def test_without_a_lender_there_is_nothing_to_choose(lender: GitRepository) -> None:
    result = made(FETCH, lender.path)
    assert {variant.skipped for variant in result.variants} == {
        "it borrows from no other repository, so there are no references of a lender"
    }
    assert (result.winner, result.notes) == (None, ())


def test_a_member_that_has_all_that_its_lender_names_is_not_behind(
    member: GitRepository, lender: GitRepository
) -> None:
    member.git("update-ref", "refs/heads/other", lender.git("rev-parse", "main"))
    result = made(FETCH, member.path, question=HELD_TIP)
    assert {variant.skipped for variant in result.variants} == {
        "all that the lender's references name is reachable here already"
    }


def test_a_member_without_a_branch_has_nothing_to_build_on(lender: GitRepository, tmp_path: Path) -> None:
    member = GitRepository.init(tmp_path / "empty.git")
    member.borrow_from(lender)
    result = made(FETCH, member.path)
    assert {variant.skipped for variant in result.variants} == {
        "it has no branch that can be read, so there is nothing to build on"
    }


@pytest.fixture
def remote(member: GitRepository, tmp_path: Path) -> GitRepository:
    """A remote with two commits that neither the member nor its lender has."""
    remote = GitRepository.init(tmp_path / "remote.git")
    remote.commit({"new": "1\n"})
    remote.commit({"new": "2\n"})
    member.git("remote", "add", "origin", os.fspath(remote.path))
    return remote


def test_the_real_remote_is_fetched_from_and_the_original_stays(member: GitRepository, remote: GitRepository) -> None:
    before = state_of(member.path, remote.path)
    result = made(FETCH, member.path, real_remote=True, protocols=("file",))
    assert state_of(member.path, remote.path) == before
    assert result.question == REAL_REMOTE
    assert counts(result) == {"as-configured": (6, 1), "suppressed": (6, 1)}


def test_a_remote_that_gitdash_would_not_fetch_from_is_not_fetched_from(
    member: GitRepository, remote: GitRepository
) -> None:
    result = made(FETCH, member.path, real_remote=True)
    assert all(not variant.runs for variant in result.variants)
    assert all("gitdash would not fetch from it: " in variant.note for variant in result.variants)


def test_a_remote_that_is_unknown_or_absent_is_said(member: GitRepository, remote: GitRepository) -> None:
    result = made(FETCH, member.path, real_remote=True, remote="upstream")
    assert {variant.skipped for variant in result.variants} == {"its config has no remote upstream; it has origin"}
    member.git("remote", "remove", "origin")
    result = made(FETCH, member.path, real_remote=True)
    assert {variant.skipped for variant in result.variants} == {"its config has no remote"}


def test_a_fetch_that_fails_ends_its_variant(member: GitRepository, remote: GitRepository) -> None:
    os.rename(remote.path, remote.path.with_name("elsewhere.git"))
    result = made(FETCH, member.path, real_remote=True, protocols=("file",))
    assert all(not variant.runs and variant.note for variant in result.variants)


def test_a_push_while_it_runs_throws_the_runs_before_it_away(member: GitRepository) -> None:
    pushed = []

    def push(run: ExperimentRun) -> None:
        if run.number == 2 and not pushed:
            pushed.append(run)
            member.commit({"own": "pushed\n"})

    result = made(FETCH, member.path, runs=2, on_run=push)
    assert result.discarded_count == 3
    assert all(len(variant.runs) == 2 for variant in result.variants)


def test_a_lender_that_is_missing_is_said(member: GitRepository, lender: GitRepository) -> None:
    os.rename(lender.path, lender.path.with_name("elsewhere.git"))
    with pytest.raises(ExperimentError, match="a lender is missing"):
        made(FETCH, member.path)
