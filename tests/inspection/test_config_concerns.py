"""Keys of a repository's config that could harm its keeper, each with what gitdash does about it."""

import pytest

from gitdash.inspection.config_concerns import CONCERN_RULES
from gitdash.inspection.config_values import parse_bool, parse_integer
from gitdash.model.config_facts import ConfigConcern, ConfigEffect, ConfigFacts
from tests.inspection.conftest import Inspect
from tests.support.repositories import GitRepository

RUNS = ConfigEffect.RUNS_PROGRAM
REDIRECTS = ConfigEffect.REDIRECTS_URL
DROPS = ConfigEffect.DROPS_OBJECTS
OVERWRITES = ConfigEffect.OVERWRITES_FILE
HIDES = ConfigEffect.HIDES_ALTERNATE_REFS
READS = ConfigEffect.READS_OUTSIDE

HARMFUL = [
    ("core.fsmonitor", "/x", {RUNS}),
    ("core.alternateRefsCommand", "/x", {RUNS, HIDES}),
    ("core.alternateRefsCommand", "exit 0 #", {RUNS, HIDES}),
    ("core.alternateRefsCommand", "", {HIDES}),
    ("core.alternateRefsPrefixes", "refs/heads", {HIDES}),
    ("core.hooksPath", "/x", {RUNS}),
    ("hook.evil.command", "/x", {RUNS}),
    ("core.sshCommand", "/x", {RUNS}),
    ("core.gitProxy", "/x", {RUNS}),
    ("credential.helper", "!x", {RUNS}),
    ("credential.https://example.com.helper", "!x", {RUNS}),
    ("core.askPass", "/x", {RUNS}),
    ("remote.origin.uploadpack", "/x", {RUNS}),
    ("remote.origin.receivepack", "/x", {RUNS}),
    ("remote.origin.url", "ext::sh -c x", {RUNS}),
    ("remote.origin.vcs", "ext", {RUNS}),
    ("protocol.ext.allow", "always", {RUNS}),
    ("protocol.allow", "user", {RUNS}),
    ("branch.main.remote", "ext::x", {RUNS}),
    ("filter.f.clean", "x", {RUNS}),
    ("filter.f.process", "x", {RUNS}),
    ("diff.d.textconv", "x", {RUNS}),
    ("diff.d.command", "x", {RUNS}),
    ("diff.external", "x", {RUNS}),
    ("gc.recentObjectsHook", "x", {RUNS}),
    ("maintenance.prefetch.enabled", "true", {RUNS}),
    ("alias.st", "!x", {RUNS}),
    ("core.editor", "x", {RUNS}),
    ("core.pager", "x", {RUNS}),
    ("pager.log", "x", {RUNS}),
    ("gpg.program", "x", {RUNS}),
    ("gpg.ssh.program", "x", {RUNS}),
    ("gpg.ssh.defaultKeyCommand", "x", {RUNS}),
    ("submodule.s.update", "!x", {RUNS}),
    ("trailer.t.command", "x", {RUNS}),
    ("merge.m.driver", "x", {RUNS}),
    ("tar.t.command", "x", {RUNS}),
    ("sendemail.smtpServer", "/x", {RUNS}),
    ("uploadpack.packObjectsHook", "x", {RUNS}),
    ("http.saveCookies", "true", {OVERWRITES}),
    ("http.https://example.com.saveCookies", "1", {OVERWRITES}),
    ("http.cookieFile", "/x", {READS}),
    ("url.https://evil/.insteadOf", "https://good/", {REDIRECTS}),
    ("url.https://evil/.pushInsteadOf", "https://good/", {REDIRECTS}),
    ("http.proxy", "http://evil", {REDIRECTS}),
    ("remote.origin.proxy", "http://evil", {REDIRECTS}),
    ("http.sslVerify", "false", {REDIRECTS}),
    ("remote.origin.fetch", "+refs/*:refs/*", {DROPS}),
    ("fetch.pruneTags", "true", {DROPS}),
    ("remote.origin.pruneTags", "true", {DROPS}),
    ("gc.pruneExpire", "now", {DROPS}),
    ("gc.reflogExpire", "now", {DROPS}),
    ("gc.reflogExpireUnreachable", "now", {DROPS}),
    ("gc.refs/heads/*.reflogExpire", "now", {DROPS}),
    ("gc.worktreePruneExpire", "now", {DROPS}),
    ("gc.repackFilter", "blob:none", {DROPS}),
    ("gc.repackFilterTo", "/x", {DROPS}),
    ("core.attributesFile", "/x", {READS}),
    ("core.excludesFile", "/x", {READS}),
    ("fsck.skipList", "/x", {READS}),
    ("mailmap.file", "/x", {READS}),
    ("core.worktree", "/other", {READS}),
    ("include.path", "/x", {READS}),
    ("includeIf.gitdir:/a.path", "/x", {READS}),
]

HARMLESS = [
    ("core.fsmonitor", "true"),
    ("core.fsmonitor", "false"),
    ("alias.st", "status"),
    ("submodule.s.update", "rebase"),
    ("submodule.s.update", "none"),
    ("remote.origin.url", "https://example.com/x.git"),
    ("remote.origin.url", "git@example.com:x.git"),
    ("remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*"),
    ("remote.origin.fetch", "+refs/tags/*:refs/tags/*"),
    ("remote.origin.prune", "true"),
    ("fetch.prune", "true"),
    ("protocol.file.allow", "never"),
    ("gc.pruneExpire", "never"),
    ("http.saveCookies", "false"),
    ("http.sslVerify", "true"),
    ("maintenance.prefetch.enabled", "false"),
    ("maintenance.gc.enabled", "true"),
    ("gpg.openpgp.defaultKeyCommand", "x"),
    ("pager.log", "false"),
    ("user.name", "x"),
    ("color.ui", "always"),
]


def concerns_of(inspect: Inspect, repository: GitRepository) -> tuple[ConfigConcern, ...]:
    config = inspect(repository).config
    assert isinstance(config, ConfigFacts)
    return config.concerns


@pytest.mark.safety
def test_every_harmful_key_is_named_with_its_effect_and_an_answer(
    sha1_repository: GitRepository, inspect: Inspect
) -> None:
    path = sha1_repository.git_dir / "config"
    plain = path.read_text()
    for key, value, effects in HARMFUL:
        path.write_text(plain)
        sha1_repository.git("config", "--file", path, key, value)
        concerns = concerns_of(inspect, sha1_repository)
        assert {concern.effect for concern in concerns} == effects, key
        for concern in concerns:
            assert (concern.key.lower(), concern.value, concern.source) == (key.lower(), value, "config")
            assert concern.answer


def test_harmless_values_are_no_concern(sha1_repository: GitRepository, inspect: Inspect) -> None:
    path = sha1_repository.git_dir / "config"
    plain = path.read_text()
    for key, value in HARMLESS:
        path.write_text(plain)
        sha1_repository.git("config", "--file", path, key, value)
        assert concerns_of(inspect, sha1_repository) == (), key


def test_pruning_is_a_concern_beside_a_refspec_that_writes_local_references(
    sha1_repository: GitRepository, inspect: Inspect
) -> None:
    with (sha1_repository.git_dir / "config").open("a") as file:
        file.write('[remote "origin"]\nfetch=+refs/*:refs/*\nprune=true\n[fetch]\nprune=true\n')
    assert {concern.key for concern in concerns_of(inspect, sha1_repository)} == {
        "remote.origin.fetch",
        "remote.origin.prune",
        "fetch.prune",
    }


@pytest.mark.safety
def test_values_are_masked_before_they_are_cut(sha1_repository: GitRepository, inspect: Inspect) -> None:
    token = "glpat-" + "a" * 20
    with (sha1_repository.git_dir / "config").open("a") as file:
        file.write(f'[core]\nsshCommand="{"x" * 185} {token}"\n')
        file.write('[url "https://u:S3CRET@evil/"]\ninsteadOf=https://good/\n')
    shown = repr(concerns_of(inspect, sha1_repository))
    assert "glpat-" not in shown
    assert "S3CRET" not in shown
    assert all(len(concern.value) <= 200 for concern in concerns_of(inspect, sha1_repository))


@pytest.mark.safety
def test_values_print(sha1_repository: GitRepository, inspect: Inspect) -> None:
    with (sha1_repository.git_dir / "config").open("ab") as file:
        file.write(b'[core]\nsshCommand="\x1b]52;c;x\x07\xff"\n[filter "\xe2\x80\xae\x9b"]\nclean=x\n')
    for concern in concerns_of(inspect, sha1_repository):
        assert concern.key.isprintable()
        assert concern.value.isprintable()


def test_hooks_and_remotes_of_the_old_form_are_concerns(sha1_repository: GitRepository, inspect: Inspect) -> None:
    git_dir = sha1_repository.git_dir
    for folder in ("hooks", "remotes", "branches"):
        (git_dir / folder).mkdir(exist_ok=True)
    (git_dir / "hooks" / "post-receive").write_text("#!/bin/sh\n")
    (git_dir / "hooks" / "post-receive").chmod(0o755)
    (git_dir / "hooks" / "not-executable").write_text("#!/bin/sh\n")
    (git_dir / "hooks" / "update.sample").write_text("#!/bin/sh\n")
    (git_dir / "hooks" / "update.sample").chmod(0o755)
    (git_dir / "hooks" / "linked").symlink_to("/nonexistent")
    (git_dir / "remotes" / "old").write_text("URL: ext::x\n")
    (git_dir / "branches" / "older").write_text("ext::x\n")
    assert [(concern.key, concern.effect) for concern in concerns_of(inspect, sha1_repository)] == [
        ("hooks/linked", RUNS),
        ("hooks/post-receive", RUNS),
        ("remotes/old", REDIRECTS),
        ("branches/older", REDIRECTS),
    ]


def test_the_worktree_of_a_submodule_is_no_concern(tmp_path, inspect: Inspect) -> None:
    repository = GitRepository.init(tmp_path / ".git" / "modules" / "sub")
    with (repository.git_dir / "config").open("a") as file:
        file.write("[core]\nworktree=../../../sub\n")
    assert concerns_of(inspect, repository) == ()


def test_each_rule_is_declared_once() -> None:
    declared = [(rule.key.lower(), rule.effect) for rule in CONCERN_RULES]
    assert len(declared) == len(set(declared))


@pytest.mark.oracle
@pytest.mark.parametrize(
    "value", ["true", "yes", "On", "1", "-3", "false", "no", "OFF", "0", "", "1k", "maybe", "0x1", "2 k", " 1"]
)
def test_booleans_are_what_git_makes_of_them(sha1_repository: GitRepository, value: str) -> None:
    sha1_repository.git("config", "--file", "c", "a.b", value)
    by_git = sha1_repository.git("config", "--file", "c", "--type=bool", "a.b", check=False)
    assert parse_bool(value.encode()) == {"true": True, "false": False, "": None}[by_git]


@pytest.mark.oracle
@pytest.mark.parametrize(
    "value", ["0", "6700", "1k", "2M", "3g", "-1", "+5", "010", "0x1f", "08", "x", "1kk", "", "1.5"]
)
def test_numbers_are_what_git_makes_of_them(sha1_repository: GitRepository, value: str) -> None:
    sha1_repository.git("config", "--file", "c", "a.b", value)
    by_git = sha1_repository.git("config", "--file", "c", "--type=int", "a.b", check=False)
    assert parse_integer(value.encode()) == (int(by_git) if by_git else None)
