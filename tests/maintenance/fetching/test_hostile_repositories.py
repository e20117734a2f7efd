"""Whatever a repository's files say, a fetch into it runs no program of theirs; plain git is seen to run it first."""

import os
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from gitdash.gitcmd.installed import find_git
from gitdash.maintenance.fetching.running import fetch
from gitdash.model.fetch import RemotePlan
from gitdash.model.ledger import Outcome
from gitdash.model.report import RepositoryReport
from tests.safety.hostile import (
    PROMISOR,
    Site,
    both,
    configure,
    drop_an_object,
    hook,
    legacy_branch,
    legacy_remote,
    make_site,
    make_template,
    many_loose_objects,
    set_keys,
)
from tests.support.fetching import fetched, planned
from tests.support.repositories import GIT, GitRepository, clean_environment, git_version
from tests.support.servers.http_backend import basic_authentication, git_speaks_http, http_server

pytestmark = pytest.mark.safety

NEEDS_HTTP = pytest.mark.skipif(not git_speaks_http(), reason="this git does not speak HTTP")


@dataclass(frozen=True)
class Trap:
    """A key or file of the repository, and the plain fetch that runs into it."""

    name: str
    plant: Callable[[Site], None]
    command: tuple[str, ...] = ("fetch", "origin")
    oldest_git: tuple[int, ...] = (2, 39)
    newest_git: tuple[int, ...] = (99,)
    """The last that runs into it."""


def included(section: str, key: str, value: str, *, by: str = "include.path") -> Callable[[Site], None]:
    def plant(site: Site) -> None:
        site.write("work/.git/more", f"[{section}]\n\t{key} = {value.replace('EVIL', site.evil)}\n")
        configure(site.git_dir / "config", by, "more")

    return plant


def in_worktree_config(site: Site) -> None:
    site.configure(core__repositoryformatversion="1", extensions__worktreeConfig="true")
    site.write("work/.git/config.worktree", f'[remote "origin"]\n\tuploadpack = {site.evil}\n')


def populated_submodule(site: Site) -> None:
    """A submodule that moved upstream: a plain fetch then fetches in it, on demand."""
    upstream = GitRepository(site.folder / "upstream.git")
    other = GitRepository.init(site.folder / "other.git")
    first = other.commit({"x": "1"})
    work = GitRepository(site.work)
    work.git("clone", "--quiet", "../other.git", "sub")
    work.git("add", "sub")
    work.git("config", "--file", ".gitmodules", "submodule.sub.path", "sub")
    work.git("config", "--file", ".gitmodules", "submodule.sub.url", "../other.git")
    work.git("add", ".gitmodules")
    work.git("config", "submodule.sub.url", "../other.git")
    work.git("config", "fetch.recurseSubmodules", "true")
    work.git("commit", "--quiet", "-m", "sub")
    second = other.commit({"x": "2"})
    assert first != second
    upstream.git("fetch", "--quiet", os.fspath(site.work), "+HEAD:refs/heads/with-sub")
    configure(site.work / "sub" / ".git" / "config", "remote.origin.uploadpack", site.evil)


def redirected(site: Site) -> None:
    configure(site.git_dir / "config", f"url.ext::{site.evil} .insteadOf", "../upstream")
    site.configure(protocol__ext__allow="always")


TRAPS = (
    Trap(
        "core.fsmonitor, by the maintenance that follows",
        both(
            set_keys(core__fsmonitor="EVIL", gc__auto="1", gc__autoDetach="false", maintenance__autoDetach="false"),
            many_loose_objects,
        ),
        newest_git=(2, 53),
    ),
    Trap("core.alternateRefsCommand", set_keys(core__alternateRefsCommand="EVIL")),
    Trap("hooks/reference-transaction", hook("reference-transaction")),
    Trap(
        "core.hooksPath",
        both(hook("reference-transaction", "hooks"), set_keys(core__hooksPath=os.fspath(Path("..") / "hooks"))),
    ),
    Trap(
        "hooks/pre-auto-gc",
        both(hook("pre-auto-gc"), set_keys(gc__auto="1", gc__autoDetach="false"), many_loose_objects),
        newest_git=(2, 53),
    ),
    Trap(
        "hook.<name>.command",
        set_keys(hook__evil__command="EVIL", hook__evil__event="reference-transaction"),
        oldest_git=(2, 54),
    ),
    Trap("core.sshCommand", set_keys(core__sshCommand="EVIL", remote__origin__url="ssh://127.0.0.1:1/x")),
    Trap("core.gitProxy", set_keys(core__gitProxy="EVIL", remote__origin__url="git://127.0.0.1:1/x")),
    Trap("remote.<name>.uploadpack", set_keys(remote__origin__uploadpack="EVIL")),
    Trap("remote.<name>.url=ext::", set_keys(remote__origin__url="ext::EVIL", protocol__ext__allow="always")),
    Trap(
        "remote.<name>.vcs",
        set_keys(remote__origin__url="EVIL", remote__origin__vcs="ext", protocol__ext__allow="always"),
    ),
    Trap("url.<base>.insteadOf", redirected),
    Trap("include.path", included('remote "origin"', "uploadpack", "EVIL")),
    Trap("includeIf", included('remote "origin"', "uploadpack", "EVIL", by="includeIf.gitdir:**.path")),
    Trap("config.worktree", in_worktree_config),
    Trap("submodule's own config", populated_submodule),
    Trap(
        "another promisor remote",
        both(
            set_keys(
                core__repositoryformatversion="1",
                extensions__partialClone="evil",
                remote__evil__promisor="true",
                remote__evil__url="../upstream.git",
                remote__evil__uploadpack="EVIL",
            ),
            drop_an_object,
        ),
        ("-c", "fetch.unpackLimit=1", "cat-file", "-p", "HEAD:c.txt"),
    ),
    Trap(
        "remote.<name>.uploadpack of a promisor",
        both(set_keys(remote__origin__uploadpack="EVIL", **PROMISOR), drop_an_object),
    ),
    Trap(
        "a second remote",
        set_keys(remote__evil__url="../upstream.git", remote__evil__uploadpack="EVIL"),
        ("fetch", "--all"),
    ),
    Trap("legacy remotes file", legacy_remote, ("fetch", "old"), newest_git=(2, 99)),
    Trap("legacy branches file", legacy_branch, ("fetch", "old"), newest_git=(2, 99)),
)


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("template") / "site"
    make_template(folder)
    return folder


@pytest.fixture(scope="module")
def proven() -> set[str]:
    """Names of the traps that plain git was seen to run into."""
    return set()


def prepared(template: Path, folder: Path, plant: Callable[[Site], None]) -> Site:
    """A copy of the site in which something new waits upstream, with the trap in it."""
    site = make_site(template, folder)
    upstream = GitRepository(site.folder / "upstream.git")
    upstream.clock_s += 5_000
    upstream.commit({"a.txt": "new\n"})
    plant(site)
    return site


def known_here() -> list[object]:
    return [
        pytest.param(
            trap,
            id=trap.name,
            marks=pytest.mark.skipif(
                git_version() < trap.oldest_git or git_version() > trap.newest_git, reason="not with this git"
            ),
        )
        for trap in TRAPS
    ]


@pytest.mark.parametrize(("choice", "dry_run"), [("auto", False), ("use", True)])
@pytest.mark.parametrize("trap", known_here())
def test_no_program_of_a_repository_is_run_by_a_fetch(
    trap: Trap, choice: str, dry_run: bool, template: Path, proven: set[str], tmp_path: Path
) -> None:
    if trap.name not in proven:
        proof = prepared(template, tmp_path / "proof", trap.plant)
        proof.plain_git(*trap.command)
        assert proof.marker.exists(), "plain git does not run it"
        proven.add(trap.name)
    site = prepared(template, tmp_path / "site", trap.plant)
    report, plan = planned(site.work, alternate_refs=choice, dry_run=dry_run, protocols=("file", "ssh", "git"))
    for remote in plan.remotes:
        run_planned(report, remote)
    assert not site.marker.exists()


@pytest.mark.oracle
def test_local_remote_that_is_a_partial_clone_runs_no_program_of_its_own(tmp_path: Path) -> None:
    """upload-pack would ask its own remote for a blob that is missing there, by the program that its config names."""
    source = GitRepository.init(tmp_path / "source.git")
    source.commit({"a": "1"})
    evil = GitRepository.init(tmp_path / "evil.git")
    evil.git("fetch", "--quiet", source.path, "+refs/*:refs/*")
    blob = source.git("rev-parse", "main:a")
    marker = tmp_path / "ran"
    program = tmp_path / "upload-pack"
    program.write_text(f'#!/bin/sh\n: >{marker}\nexec git-upload-pack "$@"\n')
    program.chmod(0o755)
    for key, value in {
        "core.repositoryFormatVersion": "1",
        "extensions.partialClone": "p",
        "remote.p.url": os.fspath(source.path),
        "remote.p.promisor": "true",
        "remote.p.partialCloneFilter": "blob:none",
        "remote.p.uploadpack": os.fspath(program),
    }.items():
        evil.git("config", key, value)
    (evil.git_dir / "objects" / blob[:2] / blob[2:]).unlink()
    victim = GitRepository.init(tmp_path / "victim.git")
    victim.git("remote", "add", "origin", os.fspath(evil.path))
    assert fetched(victim.path, protocols=("file",)).outcome is Outcome.FAILED
    assert not marker.exists()
    # the trap is one: who tells git that it may, runs it
    evil.git("cat-file", "-e", blob, GIT_NO_LAZY_FETCH="0")
    assert marker.exists()


def run_planned(report: RepositoryReport, remote: RemotePlan) -> None:
    fetch(report, remote, program=find_git(GIT), now_s=time.time())


@NEEDS_HTTP
@pytest.mark.parametrize("key", ["credential.helper", "credential.{url}.helper", "core.askPass"])
def test_no_program_of_a_repository_is_asked_for_a_password(key: str, template: Path, tmp_path: Path) -> None:
    with http_server(tmp_path, basic_authentication("user", "password")) as server:

        def plant(site: Site) -> None:
            site.configure(remote__origin__url=server.url("upstream.git"))
            configure(site.git_dir / "config", key.format(url=server.url("")), site.evil)

        proof = prepared(template, tmp_path / "proof", plant)
        proof.plain_git("fetch", "origin")
        assert proof.marker.exists(), "plain git does not run it"
        site = prepared(template, tmp_path / "site", plant)
        result = fetched(site.work, protocols=("http",))
    assert result.outcome is Outcome.FAILED
    assert not site.marker.exists()


@pytest.mark.parametrize(
    ("url", "rule"),
    [
        ("ext::sh -c 'touch x'", "url-runs-program"),
        ("--upload-pack=touch x", "url-is-option"),
        ("ssh://-oProxyCommand=x/y", "url-is-option"),
        ("-oProxyCommand=x:y", "url-is-option"),
        ("https://host/a\rb", "url-control-character"),
        ("fd::7", "url-runs-program"),
        ("git://host/x", "protocol"),
        ("http://host/x", "protocol"),
        ("ftp://host/x", "protocol"),
        ("/srv/x", "protocol"),
        ("file:///srv/x", "protocol"),
    ],
)
def test_address_that_could_run_a_program_or_go_elsewhere_is_refused(
    url: str, rule: str, template: Path, tmp_path: Path
) -> None:
    site = make_site(template, tmp_path / "site")
    config = site.git_dir / "config"
    text = config.read_text().replace("../upstream.git", '"' + url.replace("\r", "\\n") + '"')
    config.write_text(text)
    _, plan = planned(site.work, protocols=("https", "ssh"))
    assert [refusal.rule for refusal in plan.remotes[0].refusals] == [rule]
    assert plan.runnable == ()


def test_programs_are_refused_even_if_their_protocol_is_allowed(template: Path, tmp_path: Path) -> None:
    site = make_site(template, tmp_path / "site")
    site.configure(remote__origin__url=f"ext::{site.evil}", remote__other__url=site.evil, remote__other__vcs="ext")
    site.configure(remote__other__fetch="+refs/heads/*:refs/remotes/other/*")
    _, plan = planned(site.work, protocols=("ext", "file"))
    assert [[refusal.rule for refusal in remote.refusals] for remote in plan.remotes] == [["url-runs-program"]] * 2


@pytest.mark.parametrize("prune", [None, False])
@pytest.mark.parametrize("refspec", ["+refs/*:refs/*", "+refs/heads/*:refs/heads/*", "+refs/heads/main:refs/heads/x"])
def test_refspec_that_writes_local_branches_of_a_work_tree_is_refused(
    refspec: str, prune: bool | None, template: Path, tmp_path: Path
) -> None:
    site = make_site(template, tmp_path / "site")
    site.configure(remote__origin__fetch=refspec, fetch__prune="true", fetch__pruneTags="true")
    _, plan = planned(site.work, prune=prune)
    assert [refusal.rule for refusal in plan.remotes[0].refusals] == ["unsafe-refspec"]


def test_local_tags_and_branches_survive_a_config_that_prunes_them(template: Path, tmp_path: Path) -> None:
    def plant(site: Site) -> None:
        work = GitRepository(site.work)
        work.git("tag", "mine")
        work.git("branch", "mine")
        site.configure(fetch__prune="true", fetch__pruneTags="true", remote__origin__pruneTags="true")

    proof = prepared(template, tmp_path / "proof", plant)
    proof.plain_git("fetch", "origin")
    tags = subprocess.run([GIT, "tag"], cwd=proof.work, env=clean_environment(), capture_output=True, text=True).stdout
    assert "mine" not in tags.split(), "plain git keeps it"
    site = prepared(template, tmp_path / "site", plant)
    assert fetched(site.work).outcome is Outcome.DONE
    work = GitRepository(site.work)
    assert work.git("for-each-ref", "--format=%(refname)", "refs/tags/mine", "refs/heads/mine").splitlines() == [
        "refs/heads/mine",
        "refs/tags/mine",
    ]


def test_cookies_of_a_repository_are_written_nowhere(template: Path, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.write_text("mine")
    site = make_site(template, tmp_path / "site")
    site.configure(
        remote__origin__url="https://127.0.0.1:1/x", http__cookieFile=os.fspath(notes), http__saveCookies="true"
    )
    fetched(site.work, protocols=("https",))
    assert notes.read_text() == "mine"


@pytest.mark.parametrize("name", ["config", "packed-refs", "shallow", "objects/info/alternates"])
def test_file_that_never_ends_holds_no_fetch_up(name: str, template: Path, tmp_path: Path) -> None:
    site = make_site(template, tmp_path / "site")
    report, plan = planned(site.work)
    (site.git_dir / name).unlink(missing_ok=True)
    os.mkfifo(site.git_dir / name)
    run_planned(report, plan.remotes[0])
    _, again = planned(site.work)
    assert again.refusals or [fetched(site.work).outcome] == [Outcome.REFUSED]


def test_included_file_that_never_ends_holds_no_plan_up(template: Path, tmp_path: Path) -> None:
    site = make_site(template, tmp_path / "site")
    os.mkfifo(site.git_dir / "more")
    site.configure(include__path="more")
    _, plan = planned(site.work)
    assert [refusal.rule for refusal in plan.refusals] == ["config-unreadable"]
