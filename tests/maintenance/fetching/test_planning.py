"""Plans of fetches: what is refused, and what git is told."""

import os
from typing import Any

import msgspec
import pytest

from gitdash.maintenance.fetching.options import FetchOptions
from gitdash.maintenance.fetching.planning import plan_fetch
from gitdash.maintenance.fetching.remotes import ConfiguredRemote, FetchConfig
from gitdash.model.fetch import RemotePlan
from gitdash.model.report import RepositoryReport
from gitdash.model.repository import RepositoryKind, Unreadable
from tests.assessment.subjects import REPOSITORY
from tests.support.maintenance_values import GIT_VERSION, report

TRACKING = "+refs/heads/*:refs/remotes/origin/*"
ORIGIN = ConfiguredRemote(name="origin", urls=("https://host/a.git",), refspecs=(TRACKING,))
OTHER = ConfiguredRemote(name="other", urls=("git@host:b.git",), refspecs=("+refs/heads/*:refs/remotes/other/*",))
MIRROR = ConfiguredRemote(name="origin", urls=("https://host/a.git",), refspecs=("+refs/*:refs/*",))
OPTIONS = FetchOptions()


def config(*remotes: ConfiguredRemote, **changes: Any) -> FetchConfig:
    values: dict[str, Any] = {"groups": {}, "prunes": None, "rewrites": (), "known": ()}
    return FetchConfig(remotes=remotes or (ORIGIN,), **(values | changes))


def bare(**changes: Any) -> RepositoryReport:
    return report(msgspec.structs.replace(REPOSITORY, kind=RepositoryKind.BARE), **changes)


def in_work_tree() -> RepositoryReport:
    return report(msgspec.structs.replace(REPOSITORY, kind=RepositoryKind.WORKTREE))


def changed(remote: ConfiguredRemote, **changes: Any) -> ConfiguredRemote:
    return msgspec.structs.replace(remote, **changes)


def one(
    read: FetchConfig,
    options: FetchOptions = OPTIONS,
    subject: RepositoryReport | None = None,
    version: Any = GIT_VERSION,
) -> RemotePlan:
    plan = plan_fetch(subject or bare(), options, config=read, git_version=version)
    assert not plan.refusals
    (remote,) = plan.remotes
    return remote


def rules(plan_or_remote: Any) -> list[str]:
    return [refusal.rule for refusal in plan_or_remote.refusals]


@pytest.mark.parametrize(
    ("subject", "read", "rule"),
    [
        (report(msgspec.structs.replace(REPOSITORY, foreign_owner_uid=4)), config(), "not-owner"),
        (report(msgspec.structs.replace(REPOSITORY, problem="no HEAD")), config(), "unreadable"),
        (report(facts=Unreadable("gone")), config(), "unreadable"),
        (bare(), Unreadable("a FIFO"), "config-unreadable"),
    ],
)
def test_repository_that_is_not_ours_or_not_readable_is_refused(subject: Any, read: Any, rule: str) -> None:
    plan = plan_fetch(subject, OPTIONS, config=read, git_version=GIT_VERSION)
    assert rules(plan) == [rule]
    assert plan.runnable == ()


@pytest.mark.parametrize(
    ("options", "remotes", "rule"),
    [
        (FetchOptions(remotes=("nobody",)), (ORIGIN,), "unknown-remote"),
        (FetchOptions(group="nothing"), (ORIGIN,), "unknown-group"),
        (FetchOptions(group="nothing", remotes=("origin",)), (ORIGIN,), "unknown-group"),
        (OPTIONS, (changed(ORIGIN, is_skipped=True),), "no-remote"),
    ],
)
def test_remote_that_is_not_there_is_refused(
    options: FetchOptions, remotes: tuple[ConfiguredRemote, ...], rule: str
) -> None:
    assert rules(plan_fetch(bare(), options, config=config(*remotes), git_version=GIT_VERSION)) == [rule]


def test_repository_without_a_remote_is_refused() -> None:
    read = FetchConfig(remotes=(), groups={}, prunes=None, rewrites=(), known=())
    assert rules(plan_fetch(bare(), OPTIONS, config=read, git_version=GIT_VERSION)) == ["no-remote"]


@pytest.mark.parametrize(
    ("remotes", "sentence"),
    [
        ((), "its config has no remote"),
        ((changed(ORIGIN, is_skipped=True),), "its config has every remote skipped"),
        (
            (changed(ORIGIN, is_skipped=True), changed(OTHER, urls=(), refspecs=())),
            "no remote in its config that is not to be skipped says where it is or what to fetch",
        ),
    ],
)
def test_why_there_is_nothing_to_fetch_from_is_told_as_it_is(
    remotes: tuple[ConfiguredRemote, ...], sentence: str
) -> None:
    read = FetchConfig(remotes=remotes, groups={}, prunes=None, rewrites=(), known=())
    plan = plan_fetch(bare(), OPTIONS, config=read, git_version=GIT_VERSION)
    assert [refusal.reason for refusal in plan.refusals] == [sentence]


@pytest.mark.parametrize(
    ("options", "names"),
    [
        (OPTIONS, ["origin", "other"]),
        (FetchOptions(remotes=("other",)), ["other"]),
        (FetchOptions(remotes=("other", "origin", "other")), ["other", "origin"]),
        (FetchOptions(group="both"), ["other", "origin"]),
        (FetchOptions(group="origin"), ["origin"]),
        (FetchOptions(group="one", remotes=("origin",)), ["origin", "other"]),
        (FetchOptions(group="both", remotes=("origin",)), ["origin", "other"]),
    ],
)
def test_remotes_are_all_or_those_asked_for_or_a_group(options: FetchOptions, names: list[str]) -> None:
    read = config(
        ORIGIN,
        OTHER,
        changed(ORIGIN, name="off", is_skipped=True),
        groups={"both": ("other", "origin"), "one": ("other",)},
    )
    plan = plan_fetch(bare(), options, config=read, git_version=GIT_VERSION)
    assert [remote.name for remote in plan.remotes] == names


@pytest.mark.parametrize(
    ("changes", "rule"),
    [
        ({"refspecs": ()}, "no-refspec"),
        ({"refspecs": ("^refs/heads/x",)}, "no-refspec"),
        ({"refspecs": (TRACKING,) * 501}, "too-many-refspecs"),
        ({"refspecs": ("main",)}, "unsafe-refspec"),
        ({"urls": ()}, "no-url"),
        ({"urls": ("ext::sh",)}, "url-runs-program"),
        ({"vcs": "ext"}, "url-runs-program"),
        ({"name": "-x"}, "remote-name"),
        ({"name": "a\x1b[2J"}, "remote-name"),
        ({"is_elsewhere": True}, "config-elsewhere"),
    ],
)
def test_remote_that_is_not_safe_is_refused(changes: dict[str, Any], rule: str) -> None:
    assert rules(one(config(changed(ORIGIN, **changes)))) == [rule]


def test_every_fetch_names_its_remote_its_refspecs_and_the_program_of_the_other_side() -> None:
    arguments = one(config()).arguments
    assert arguments[0] == "fetch"
    assert arguments[-2:] == ("origin", TRACKING)
    assert {
        "--upload-pack=git-upload-pack",
        "--no-write-fetch-head",
        "--no-auto-maintenance",
        "--no-write-commit-graph",
        "--no-recurse-submodules",
        "--no-prune",
        "--no-prune-tags",
    } <= set(arguments)


@pytest.mark.parametrize(("version", "has_it"), [((2, 40, 9), False), ((2, 41), True), ((2, 55, 0), True)])
def test_machine_readable_form_is_asked_of_git_that_has_it(version: tuple[int, ...], has_it: bool) -> None:
    assert ("--porcelain" in one(config(), version=version).arguments) is has_it


@pytest.mark.parametrize(
    ("remote", "read", "asked", "prunes"),
    [
        (ORIGIN, {}, None, False),
        (ORIGIN, {}, True, True),
        (changed(ORIGIN, prunes=True), {}, None, True),
        (changed(ORIGIN, prunes=True), {}, False, False),
        (changed(ORIGIN, prunes=False), {"prunes": True}, None, False),
        (ORIGIN, {"prunes": True}, None, True),
        (ORIGIN, {"user_prunes": True}, None, True),
        (ORIGIN, {"prunes": False, "user_prunes": True}, None, False),
        (MIRROR, {}, None, False),
        (changed(MIRROR, prunes=True), {}, None, True),
        (changed(ORIGIN, prunes=True, refspecs=(TRACKING, "+refs/tags/*:refs/tags/*")), {}, None, False),
        (changed(ORIGIN, prunes=True, refspecs=(TRACKING, "+refs/tags/*:refs/tags/*")), {}, True, True),
    ],
)
def test_references_are_pruned_only_where_config_or_user_says_so(
    remote: ConfiguredRemote, read: dict[str, Any], asked: bool | None, prunes: bool
) -> None:
    plan = one(config(remote, **read), FetchOptions(prune=asked))
    assert plan.prunes is prunes
    assert ("--prune" in plan.arguments, "--no-prune" in plan.arguments) == (prunes, not prunes)


def test_mirror_is_updated_in_one_piece_unless_it_is_pruned() -> None:
    plan = one(config(MIRROR))
    assert "--atomic" in plan.arguments
    assert "--atomic" not in one(config(MIRROR), FetchOptions(prune=True)).arguments
    assert "--atomic" not in one(config(ORIGIN)).arguments


@pytest.mark.parametrize("option", ["--tags", "--no-tags"])
def test_tags_are_what_the_config_of_the_remote_says(option: str) -> None:
    assert option in one(config(changed(ORIGIN, tag_option=option))).arguments


def test_option_for_tags_that_is_none_is_not_passed_on() -> None:
    arguments = one(config(changed(ORIGIN, tag_option="--upload-pack=evil"))).arguments
    assert not {"--tags", "--no-tags", "--upload-pack=evil"} & set(arguments)


@pytest.mark.parametrize(("type_name", "pairs"), [("nfs4", (("fetch.unpackLimit", "1"),)), ("ext4", ()), (None, ())])
def test_objects_stay_packed_on_a_network_file_system(type_name: str | None, pairs: tuple[Any, ...]) -> None:
    assert one(config(), subject=bare(filesystem_type=type_name)).config == pairs


def test_only_what_the_user_rewrites_is_rewritten_and_the_rest_is_said() -> None:
    read = config(
        changed(ORIGIN, urls=("gh:a",)),
        rewrites=(("ssh://evil/", "gh:"),),
        user_rewrites=(("https://good/", "gh:"),),
    )
    plan = one(read)
    assert (plan.shown_url, plan.host) == ("https://good/a", "good")
    assert plan.url == "gh:a"
    assert "not honoured: the repository's config replaces this URL" in plan.choices
    assert not plan.refusals


def test_relative_path_counts_from_the_repository() -> None:
    plan = one(config(changed(ORIGIN, urls=("../a",))), FetchOptions(protocols=("file",)))
    assert plan.url == os.path.join(os.fsdecode(REPOSITORY.path), "../a")


def test_credentials_of_a_url_are_for_git_alone() -> None:
    plan = one(config(changed(ORIGIN, urls=("https://user:geheim@host/a",))))
    shown = msgspec.structs.replace(plan, url="", repository_config=())
    assert "geheim" not in repr(shown)


def test_stand_in_knows_no_key_but_those_that_were_checked() -> None:
    known = (("core", None, "repositoryformatversion", "1"), ("extensions", None, "partialclone", "other"))
    plan = one(config(changed(ORIGIN, is_promisor=True, partial_filter="blob:none"), known=known))
    told = {(section, subsection, name): value for section, subsection, name, value in plan.repository_config}
    assert told == {
        ("core", None, "repositoryformatversion"): "1",
        ("core", None, "bare"): "true",
        ("core", None, "logallrefupdates"): "false",
        ("http", None, "lowspeedlimit"): "1",
        ("http", None, "lowspeedtime"): "60",
        ("remote", "origin", "url"): "https://host/a.git",
        ("remote", "origin", "followremotehead"): "never",
        ("remote", "origin", "promisor"): "true",
        ("remote", "origin", "partialclonefilter"): "blob:none",
    }


def test_speed_limit_of_the_user_is_not_replaced() -> None:
    plan = one(config(user_limits_http_speed=True))
    assert not any(section == "http" for section, *_ in plan.repository_config)


def test_branches_of_a_work_tree_are_not_written() -> None:
    assert rules(one(config(MIRROR), subject=in_work_tree())) == ["unsafe-refspec"]


def test_reason_that_two_rules_give_is_said_once() -> None:
    broken = report(msgspec.structs.replace(REPOSITORY, problem="no HEAD"), facts=Unreadable("no HEAD"))
    plan = plan_fetch(broken, OPTIONS, config=config(), git_version=GIT_VERSION)
    assert [refusal.reason for refusal in plan.refusals] == ["no HEAD"]


@pytest.mark.parametrize(
    ("subject", "hint"),
    [
        (bare(), "remote.origin.fetch is not set, such as to +refs/heads/*:refs/heads/*"),
        (in_work_tree(), "remote.origin.fetch is not set, such as to +refs/heads/*:refs/remotes/origin/*"),
    ],
)
def test_who_has_to_say_what_is_fetched_hears_how(subject: RepositoryReport, hint: str) -> None:
    (refusal,) = one(config(changed(ORIGIN, refspecs=())), subject=subject).refusals
    assert refusal.reason.endswith(hint)
    refspec = hint.rpartition(" ")[2]
    assert one(config(changed(ORIGIN, refspecs=(refspec,))), subject=subject).refusals == ()


@pytest.mark.parametrize(
    ("url", "is_told"),
    [("http://host/a.git", True), ("/srv/a.git", True), ("ftp://host/a.git", False), ("weird://host/a", False)],
)
def test_protocol_that_a_person_may_allow_is_refused_with_how(url: str, is_told: bool) -> None:
    (refusal,) = one(config(changed(ORIGIN, urls=(url,)))).refusals
    assert refusal.rule == "protocol"
    assert ("--protocol" in refusal.reason) == is_told
