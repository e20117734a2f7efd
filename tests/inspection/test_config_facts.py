"""What the repository's own config says."""

import os
import subprocess
from pathlib import Path

import msgspec
import pytest

from gitdash.model.config_facts import ConfigFacts
from gitdash.model.inspection import CommitGraphFacts, ObjectFormat
from gitdash.model.repository import Unreadable
from tests.inspection.conftest import Inspect
from tests.support.repositories import GIT, GitRepository, clean_environment


def facts_of(inspect: Inspect, repository: GitRepository) -> ConfigFacts:
    config = inspect(repository).config
    assert isinstance(config, ConfigFacts)
    return config


def append(repository: GitRepository, text: str) -> None:
    with (repository.git_dir / "config").open("a") as file:
        file.write(text)


def test_a_new_repository_has_plain_facts(sha1_repository: GitRepository, inspect: Inspect) -> None:
    facts = facts_of(inspect, sha1_repository)
    assert (facts.repository_format_version, facts.unknown_extensions, facts.remotes, facts.concerns) == (0, (), (), ())
    assert (facts.precious_objects, facts.partial_clone, facts.scalar_enlistment) == (False, False, False)
    assert (facts.gc_auto, facts.gc_prune_expire, facts.maintenance_auto) == (None, None, None)


@pytest.mark.oracle
def test_the_hash_function_is_what_git_says(repository: GitRepository, object_format: str, inspect: Inspect) -> None:
    assert inspect(repository).object_format is ObjectFormat(object_format)
    assert repository.git("rev-parse", "--show-object-format") == object_format


def test_a_missing_config_is_an_empty_one(sha1_repository: GitRepository, inspect: Inspect) -> None:
    (sha1_repository.git_dir / "config").unlink()
    assert facts_of(inspect, sha1_repository).repository_format_version == 0


def test_values_are_read_as_git_reads_them(sha1_repository: GitRepository, inspect: Inspect) -> None:
    append(
        sha1_repository,
        "[gc]\nauto=2k\npruneExpire=never\n[maintenance]\nauto=no\n[core]\nmultiPackIndex=0\n"
        "[repack]\nwriteBitmaps=off\n[extensions]\npreciousObjects\n",
    )
    facts = facts_of(inspect, sha1_repository)
    assert (facts.gc_auto, facts.gc_prune_expire, facts.maintenance_auto) == (2048, "never", False)
    assert (facts.multi_pack_index_disabled, facts.bitmaps_disabled, facts.precious_objects) == (True, True, True)


def test_the_last_value_of_a_key_counts(sha1_repository: GitRepository, inspect: Inspect) -> None:
    append(sha1_repository, "[gc]\nauto=1\n[gc]\nauto=5\n")
    assert facts_of(inspect, sha1_repository).gc_auto == 5


@pytest.mark.parametrize(
    ("text", "unknown"),
    [
        ("[core]\nrepositoryformatversion=99\n", ("repositoryformatversion=99",)),
        ("[core]\nrepositoryformatversion=abc\n", ("repositoryformatversion=abc",)),
        ("[core]\nrepositoryformatversion=1\n[extensions]\nfuture=x\nnoop=true\n", ("future",)),
        ("[extensions]\nfuture=x\n", ()),
        ("[core]\nrepositoryformatversion=1\n[extensions]\nobjectFormat=md5\n", ("objectformat=md5",)),
        ("[core]\nrepositoryformatversion=1\n[extensions]\nrefStorage=sql\n", ("refstorage=sql",)),
        ("[extensions]\nobjectFormat=sha256\n", ("objectformat without repositoryformatversion=1",)),
        ("[core]\nrepositoryformatversion=1\n[extensions]\nrelativeWorktrees=true\n", ()),
    ],
)
def test_unknown_versions_and_extensions_are_named(
    sha1_repository: GitRepository, inspect: Inspect, text: str, unknown: tuple[str, ...]
) -> None:
    append(sha1_repository, text)
    assert facts_of(inspect, sha1_repository).unknown_extensions == unknown


def test_remotes_show_no_credentials(sha1_repository: GitRepository, inspect: Inspect) -> None:
    append(
        sha1_repository,
        '[remote "origin"]\nurl=https://user:S3CRET@example.com/x.git\nurl=https://second\nmirror=true\n'
        '[remote "a.b \\"c"]\nurl=git@example.com:x\npromisor=true\n'
        '[remote "none"]\nfetch=+refs/heads/*:refs/remotes/none/*\n',
    )
    facts = facts_of(inspect, sha1_repository)
    shown = [(remote.name, remote.mirror, remote.promisor) for remote in facts.remotes]
    assert shown == [("origin", True, False), ('a.b "c', False, True), ("none", False, False)]
    assert facts.remotes[0].url.endswith("@example.com/x.git")
    assert facts.remotes[2].url == ""
    assert "S3CRET" not in repr(facts)
    assert facts.partial_clone


@pytest.mark.parametrize(
    ("text", "scalar"),
    [
        ("[gc]\nauto=0\n[pack]\nuseBitmaps=false\n", True),
        ("[gc]\nauto=0\n", False),
        ("[pack]\nuseBitmaps=false\n", False),
        ("[scalar]\nrepo=/x\n", True),
    ],
)
def test_marks_of_scalar_are_seen(sha1_repository: GitRepository, inspect: Inspect, text: str, scalar: bool) -> None:
    append(sha1_repository, text)
    assert facts_of(inspect, sha1_repository).scalar_enlistment is scalar


@pytest.mark.oracle
@pytest.mark.parametrize("value", ["1", "2"])
def test_the_generation_version_is_what_git_writes_by(
    sha1_repository: GitRepository, inspect: Inspect, value: str
) -> None:
    assert facts_of(inspect, sha1_repository).commit_graph_generation_version is None
    sha1_repository.git("config", "commitGraph.generationVersion", value)
    sha1_repository.commit({"a": "1"})
    sha1_repository.git("commit-graph", "write", "--reachable", "--split=replace")
    graph = inspect(sha1_repository).commit_graph
    assert isinstance(graph, CommitGraphFacts)
    assert facts_of(inspect, sha1_repository).commit_graph_generation_version == int(value)
    assert graph.generation_data is (value == "2")


@pytest.mark.parametrize(("value", "is_disabled"), [("false", True), ("0", True), ("true", False)])
def test_a_commit_graph_switched_off_is_told_by_its_key(
    sha1_repository: GitRepository, inspect: Inspect, value: str, is_disabled: bool
) -> None:
    assert facts_of(inspect, sha1_repository).commit_graph_disabled is False
    sha1_repository.git("config", "core.commitGraph", value)
    assert facts_of(inspect, sha1_repository).commit_graph_disabled is is_disabled


def test_a_partial_clone_is_told_by_its_extension(tmp_path: Path, inspect: Inspect) -> None:
    source = GitRepository.init(tmp_path / "source.git")
    source.commit({"a": "1"})
    source.git("config", "uploadpack.allowFilter", "true")
    target = tmp_path / "partial.git"
    source.git("clone", "-q", "--bare", "--filter=blob:none", f"file://{source.path}", os.fspath(target))
    config = inspect(target).config
    assert isinstance(config, ConfigFacts)
    assert config.partial_clone
    assert [remote.promisor for remote in config.remotes] == [True]


@pytest.mark.safety
def test_a_file_outside_the_repository_keeps_its_words_to_itself(
    sha1_repository: GitRepository, inspect: Inspect, tmp_path: Path
) -> None:
    (tmp_path / "private").write_text(
        '[remote "CANARYname"]\nurl=https://host/CANARY\n[gc]\nauto=CANARY\npruneExpire=now\n'
        '[core]\nhooksPath=/CANARY\n[url "https://CANARY/"]\ninsteadOf=CANARY:\n'
    )
    (sha1_repository.git_dir / "link").symlink_to(tmp_path)
    append(sha1_repository, f"[include]\npath={tmp_path}/private\npath=link/private\npath=../../private\n")
    assert sha1_repository.git("config", "core.hooksPath") == "/CANARY"
    inspection = inspect(sha1_repository)
    assert b"CANARY" not in msgspec.json.encode(inspection)
    facts = inspection.config
    assert isinstance(facts, ConfigFacts)
    assert facts.gc_prune_expire == "now"
    assert {"core.hookspath", "gc.pruneexpire"} <= {concern.key for concern in facts.concerns}


@pytest.mark.oracle
def test_included_files_count_and_conditions_are_evaluated(
    sha1_repository: GitRepository, inspect: Inspect, tmp_path: Path
) -> None:
    (tmp_path / "outside").write_text("[gc]\nauto=11\n[include]\npath=nested\n")
    (tmp_path / "nested").write_text("[gc]\npruneExpire=now\n")
    (sha1_repository.git_dir / "yes").write_text("[maintenance]\nauto=false\n")
    (sha1_repository.git_dir / "no").write_text("[gc]\nauto=99\n[core]\nfsmonitor=/never\n")
    append(
        sha1_repository,
        f'[include]\npath={tmp_path}/outside\n[includeIf "gitdir:**/r.git"]\npath=yes\n'
        '[includeIf "gitdir:/elsewhere/"]\npath=no\n[includeIf "onbranch:other"]\npath=no\n',
    )
    inspection = inspect(sha1_repository)
    facts = inspection.config
    assert isinstance(facts, ConfigFacts)
    assert (facts.gc_auto, facts.gc_prune_expire, facts.maintenance_auto) == (11, "now", False)
    for key, value in (("gc.auto", "11"), ("gc.pruneExpire", "now"), ("maintenance.auto", "false")):
        assert sha1_repository.git("config", key) == value
    sources = {concern.key: concern.source for concern in facts.concerns}
    assert sources["gc.pruneexpire"] == os.fspath(tmp_path / "nested")
    assert "core.fsmonitor" not in sources
    assert inspection.valid_until_s == inspection.inspected_at_s


@pytest.mark.oracle
@pytest.mark.parametrize(
    "condition",
    [
        "gitdir:r.git", "gitdir:*.git", "gitdir:**/r.git", "gitdir/i:R.GIT", "gitdir:R.GIT", "gitdir:{parent}/",
        "gitdir:{parent}/*", "gitdir:{parent}", "gitdir:./", "gitdir:{parent}/**/r.git",
        "gitdir:/**", "gitdir:~/", "onbranch:main", "onbranch:m*", "onbranch:m?in", "onbranch:x", "onbranch:**",
        "gitdir:**/[qr].git", "gitdir:**/[!r].git", "gitdir:**/r[.]git", "gitdir:**/\\\\r.git",
        "gitdir:[[:lower:]].git",
        "gitdir:**/[", "gitdir/i:**/[Q-S].git", "gitdir:", "gitdir:**/.", "gitdir:./*", "gitdir:./.",
        "gitdir:**/r.git/**",
        "gitdir:{parent}/[r]*", "onbranch:[lm]ain", "onbranch:", "onbranch:main/", "onbranch:ma**n",
    ],
)  # fmt: skip
def test_conditions_hold_when_git_says_so(
    sha1_repository: GitRepository, inspect: Inspect, tmp_path: Path, condition: str
) -> None:
    (sha1_repository.git_dir / "inner").write_text("[gc]\nauto=7\n")
    append(sha1_repository, f'[includeIf "{condition.format(parent=tmp_path)}"]\npath=inner\n')
    by_git = sha1_repository.git("config", "gc.auto", check=False)
    assert facts_of(inspect, sha1_repository).gc_auto == (int(by_git) if by_git else None)


@pytest.mark.oracle
@pytest.mark.safety
def test_folder_of_the_config_counts_as_it_is_spelt(tmp_path: Path, inspect: Inspect) -> None:
    parent = tmp_path / "a[b]*"
    parent.mkdir()
    (tmp_path / "included").write_text("[gc]\nauto=7\n")
    own = GitRepository.init(parent / "r.git")
    for name, pattern in (("inner", "./r.git/../r.g*"), ("outer", "./[r].git")):
        (parent / name).write_text(f'[includeIf "gitdir:{pattern}"]\npath={tmp_path}/included\n')
        append(own, f"[include]\npath={parent / name}\n")
        by_git = own.git("--git-dir", own.git_dir, "config", "--includes", "gc.auto", check=False)
        assert facts_of(inspect, own).gc_auto == (int(by_git) if by_git else None)
    assert by_git == "7"


def test_the_config_of_a_worktree_counts_if_the_extension_says_so(tmp_path: Path, inspect: Inspect) -> None:
    main = GitRepository.init(tmp_path / "main", bare=False)
    main.commit({"a": "1"})
    main.git("worktree", "add", "-q", os.fspath(tmp_path / "linked"), "-b", "topic")
    own = main.git_dir / "worktrees" / "linked"
    (own / "config.worktree").write_text("[core]\nfsmonitor=/x\n")
    linked = inspect(own, common_dir=main.git_dir).config
    assert isinstance(linked, ConfigFacts)
    assert linked.concerns == ()
    main.git("config", "extensions.worktreeConfig", "true")
    linked = inspect(own, common_dir=main.git_dir).config
    assert isinstance(linked, ConfigFacts)
    assert [(concern.key, concern.source) for concern in linked.concerns] == [("core.fsmonitor", "config.worktree")]
    assert facts_of(inspect, main).concerns == ()


@pytest.mark.safety
def test_includes_in_a_circle_end(sha1_repository: GitRepository, inspect: Inspect) -> None:
    append(sha1_repository, "[include]\npath=config\n")
    inspection = inspect(sha1_repository)
    assert isinstance(inspection.config, ConfigFacts)
    assert any("nested deeper than 10" in problem.reason for problem in inspection.problems)
    assert subprocess.run(
        [GIT, "-C", sha1_repository.path, "config", "-l"], check=False, capture_output=True, env=clean_environment()
    ).returncode


@pytest.mark.safety
def test_many_includes_that_include_many_end(sha1_repository: GitRepository, inspect: Inspect) -> None:
    append(sha1_repository, "[include]\n" + "path=config\n" * 50)
    assert isinstance(inspect(sha1_repository).config, ConfigFacts)


@pytest.mark.safety
@pytest.mark.parametrize("kind", ["fifo", "device", "folder", "garbage"])
def test_an_include_that_cannot_be_read_is_a_problem(
    sha1_repository: GitRepository, inspect: Inspect, tmp_path: Path, kind: str
) -> None:
    path = tmp_path / "included"
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind == "garbage":
        path.write_bytes(b"[[[")
    else:
        path = Path("/dev/zero")
    append(sha1_repository, f"[gc]\nauto=3\n[include]\npath={path}\n")
    inspection = inspect(sha1_repository)
    assert isinstance(inspection.config, ConfigFacts)
    assert inspection.config.gc_auto == 3
    assert [problem.path for problem in inspection.problems] == [os.fspath(path)]
    assert "include.path" in [concern.key for concern in inspection.config.concerns]


@pytest.mark.safety
@pytest.mark.parametrize("kind", ["fifo", "link to a device", "folder", "garbage", "forty megabytes"])
def test_an_unreadable_config_costs_the_config_only(
    sha1_repository: GitRepository, inspect: Inspect, kind: str
) -> None:
    path = sha1_repository.git_dir / "config"
    path.unlink()
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "link to a device":
        path.symlink_to("/dev/zero")
    elif kind == "folder":
        path.mkdir()
    elif kind == "garbage":
        path.write_bytes(b"\x1b]0;x\x07 = =\n")
    else:
        with path.open("wb") as file:
            file.truncate(40 << 20)
    inspection = inspect(sha1_repository)
    assert isinstance(inspection.config, Unreadable)
    assert inspection.config.reason.isprintable()
    assert not isinstance(inspection.packs, Unreadable)
    assert inspection.head == "refs/heads/main"
