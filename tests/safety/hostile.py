"""Hostile repositories: each has one key or file that makes plain git run a program, which leaves a marker."""

import hashlib
import itertools
import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.support.repositories import GIT, GitRepository, clean_environment


@dataclass(frozen=True)
class Site:
    """A folder: the work tree `work`, `pool.git`, from which it borrows, and `upstream.git`, from which it fetches."""

    folder: Path

    @property
    def work(self) -> Path:
        return self.folder / "work"

    @property
    def git_dir(self) -> Path:
        return self.work / ".git"

    @property
    def marker(self) -> Path:
        return self.folder / "marker"

    @property
    def evil(self) -> str:
        """The program that leaves the marker."""
        return os.fspath(self.folder / "evil")

    def configure(self, **pairs: str) -> None:
        """Write `section__name=value` and `section__sub__name=value` into the configuration of the work tree."""
        for key, value in pairs.items():
            configure(self.git_dir / "config", key.replace("__", "."), value)

    def write(self, path: str, content: str, *, executable: bool = False) -> Path:
        """Write a file below the folder."""
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content)
        file.chmod(0o755 if executable else 0o644)
        return file

    def plain_git(self, *arguments: str, stdin: bytes = b"") -> str:
        """Run git as a user without configuration would, in the work tree; return what it said on stderr."""
        finished = subprocess.run(
            [GIT, *arguments],
            cwd=self.work,
            env=clean_environment(),
            input=stdin,
            capture_output=True,
            check=False,
            timeout=60,
        )
        return finished.stderr.decode(errors="replace")


def configure(file: Path, key: str, value: str) -> None:
    subprocess.run([GIT, "config", "--file", file, "--replace-all", key, value], check=True, env=clean_environment())


def make_template(folder: Path) -> None:
    """Build a site without a trap; every path in it is relative, so that it can be copied."""
    upstream = GitRepository.init(folder / "upstream.git")
    upstream.commit({"a.txt": "1\n"})
    upstream.commit({"a.txt": "2\n", "b.txt": "b\n"})
    upstream.git("config", "uploadpack.allowAnySHA1InWant", "true")
    upstream.git("config", "uploadpack.allowFilter", "true")
    pool = GitRepository.init(folder / "pool.git", bare=True)
    pool.git("fetch", "--quiet", "../upstream.git", "refs/heads/main:refs/heads/main")
    pool.repack()
    work = GitRepository.init(folder / "work", bare=False)
    work.borrow_from(pool, relative=True)
    work.git("update-ref", "refs/heads/main", pool.git("rev-parse", "refs/heads/main"))
    work.clock_s = upstream.clock_s + 1000
    work.commit({"a.txt": "3\n", "b.txt": "b\n", "c.txt": "c\n"})
    work.git("reset", "--quiet", "--hard")
    work.git("remote", "add", "origin", "../upstream.git")
    (work.path / "a.txt").write_text("4\n")


def make_site(template: Path, folder: Path) -> Site:
    shutil.copytree(template, folder, symlinks=True)
    site = Site(folder)
    site.write("evil", f"#!/bin/sh\ntouch {site.marker}\nexit 1\n", executable=True)
    return site


@dataclass(frozen=True)
class Trap:
    """One row of the matrix: how it is set, and the plain git command that runs into it."""

    name: str
    plant: Callable[[Site], None]
    command: tuple[str, ...]
    oldest_git: tuple[int, ...] = (2, 39)
    stdin: bytes = b""
    overridden: bool = True
    """The table of overrides alone disarms the command; else gitdash never runs it without an option that does."""


def set_keys(**pairs: str) -> Callable[[Site], None]:
    """Set keys; `EVIL` in a value is the program."""

    def plant(site: Site) -> None:
        site.configure(**{key: value.replace("EVIL", site.evil) for key, value in pairs.items()})

    return plant


def hook(name: str, folder: str = "work/.git/hooks") -> Callable[[Site], None]:
    def plant(site: Site) -> None:
        site.write(f"{folder}/{name}", f"#!/bin/sh\nexec {site.evil}\n", executable=True)

    return plant


def both(*plants: Callable[[Site], None]) -> Callable[[Site], None]:
    def plant(site: Site) -> None:
        for each in plants:
            each(site)

    return plant


def drop_an_object(site: Site) -> None:
    """Remove a blob, so that git has to fetch it from the promisor."""
    work = GitRepository(site.work)
    blob = work.git("rev-parse", "HEAD:c.txt")
    (site.git_dir / "objects" / blob[:2] / blob[2:]).unlink()
    (site.work / "c.txt").unlink()


def many_loose_objects(site: Site) -> None:
    """Write three blobs to the folder of loose objects that `gc --auto` counts."""
    contents = (b"%d" % number for number in itertools.count())
    wanted = (text for text in contents if hashlib.sha1(b"blob %d\0" % len(text) + text).hexdigest().startswith("17"))
    for content in itertools.islice(wanted, 3):
        GitRepository(site.work).blob(content)


def include_by(key: str) -> Callable[[Site], None]:
    def plant(site: Site) -> None:
        site.write("included", f"[core]\n\tfsmonitor = {site.evil}\n")
        configure(site.git_dir / "config", key, "../../included")

    return plant


def worktree_config(site: Site) -> None:
    site.configure(core__repositoryformatversion="1", extensions__worktreeConfig="true")
    site.write("work/.git/config.worktree", f"[core]\n\tfsmonitor = {site.evil}\n")


def git_file(site: Site) -> None:
    site.configure(core__fsmonitor=site.evil)
    site.git_dir.rename(site.folder / "elsewhere")
    site.write("work/.git", "gitdir: ../elsewhere\n")
    site.write("elsewhere/objects/info/alternates", "../../pool.git/objects\n")


def common_dir(site: Site) -> None:
    """The work tree's git directory becomes that of a linked work tree of a hostile repository."""
    site.configure(core__fsmonitor=site.evil)
    common = site.folder / "common"
    site.git_dir.rename(common)
    site.write("common/objects/info/alternates", "../../pool.git/objects\n")
    admin = common / "worktrees" / "w"
    admin.mkdir(parents=True)
    (common / "index").rename(admin / "index")
    (admin / "HEAD").write_text("ref: refs/heads/main\n")
    (admin / "commondir").write_text("../..\n")
    (admin / "gitdir").write_text(f"{site.work}/.git\n")
    site.write("work/.git", f"gitdir: {admin}\n")


def submodule(site: Site) -> None:
    inner = GitRepository(site.work)
    inner.git("clone", "--quiet", "../upstream.git", "sub")
    inner.git("add", "sub")
    configure(site.work / "sub" / ".git" / "config", "core.fsmonitor", site.evil)


def signed_commit(site: Site) -> None:
    work = GitRepository(site.work)
    header, _, message = work.git("cat-file", "commit", "HEAD").partition("\n\n")
    signature = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n abcd\n -----END PGP SIGNATURE-----"
    commit = f"{header}\n{signature}\n\n{message}\n".encode()
    tip = work.git("hash-object", "-t", "commit", "-w", "--stdin", stdin=commit)
    work.git("update-ref", "refs/heads/main", tip)
    site.configure(gpg__program=site.evil, log__showSignature="true")


def other_work_tree(site: Site) -> None:
    other = site.folder / "other"
    other.mkdir()
    (other / "a.txt").write_text("9\n")
    (other / ".gitattributes").write_text("* filter=evil\n")
    site.configure(core__worktree=os.fspath(other), filter__evil__clean=site.evil)


def legacy_remote(site: Site) -> None:
    site.write("work/.git/remotes/old", f"URL: ext::{site.evil}\n")
    site.configure(protocol__ext__allow="always")


def legacy_branch(site: Site) -> None:
    site.write("work/.git/branches/old", f"ext::{site.evil}\n")
    site.configure(protocol__ext__allow="always")


def credential_for_url(site: Site) -> None:
    configure(site.git_dir / "config", "credential.https://h.helper", site.evil)


def lender_config(site: Site) -> None:
    """Every key that makes git run a program, in the config of the repository that lends."""
    hook("reference-transaction", "lender-hooks")(site)
    promisor = {key.replace("__", "."): value for key, value in PROMISOR.items()}
    for key, value in {
        "core.fsmonitor": site.evil,
        "core.alternateRefsCommand": site.evil,
        "core.sshCommand": site.evil,
        "core.askPass": site.evil,
        "core.pager": site.evil,
        "core.hooksPath": os.fspath(site.folder / "lender-hooks"),
        "credential.helper": site.evil,
        "hook.evil.command": site.evil,
        "hook.evil.event": "reference-transaction",
        "remote.origin.url": "../upstream.git",
        "remote.origin.uploadpack": site.evil,
        **promisor,
    }.items():
        configure(site.folder / "pool.git" / "config", key, value)


def attributes(line: str) -> Callable[[Site], None]:
    def plant(site: Site) -> None:
        site.write("work/.git/info/attributes", line + "\n")

    return plant


SIZE = ("rev-list", "--all", "--objects", "--disk-usage")
FETCH = ("fetch", "origin")
PREFETCH = ("maintenance", "run", "--task=prefetch")
PROMISOR = {
    "core__repositoryformatversion": "1",
    "extensions__partialClone": "origin",
    "remote__origin__promisor": "true",
}

TRAPS = (
    Trap("core.fsmonitor, status", set_keys(core__fsmonitor="EVIL"), ("status",)),
    Trap("core.fsmonitor, fsck", set_keys(core__fsmonitor="EVIL"), ("fsck",)),
    Trap("core.fsmonitor, gc", set_keys(core__fsmonitor="EVIL"), ("gc",)),
    Trap("core.fsmonitor, repack", set_keys(core__fsmonitor="EVIL"), ("repack", "-a", "-d")),
    Trap(
        "core.alternateRefsCommand",
        set_keys(core__alternateRefsCommand="EVIL"),
        (*SIZE, "--not", "--alternate-refs"),
    ),
    Trap("hooks/reference-transaction", hook("reference-transaction"), ("pack-refs", "--all")),
    Trap("hooks/post-index-change", hook("post-index-change"), ("update-index", "--refresh", "--force-write-index")),
    Trap("hooks/pre-auto-gc", both(hook("pre-auto-gc"), set_keys(gc__auto="1"), many_loose_objects), ("gc", "--auto")),
    Trap("hooks/post-checkout", hook("post-checkout"), ("checkout", "--quiet", "HEAD", "--", "a.txt")),
    Trap(
        "core.hooksPath",
        both(hook("reference-transaction", "hooks"), set_keys(core__hooksPath="../hooks")),
        ("pack-refs", "--all"),
    ),
    *(
        Trap(
            f"hook.<name>.command, {event}, {command[0]}",
            set_keys(hook__evil__command="EVIL", hook__evil__event=event),
            command,
            oldest_git=(2, 54),
        )
        for event, command in (
            ("reference-transaction", ("pack-refs", "--all")),
            ("post-index-change", ("update-index", "--refresh", "--force-write-index")),
            ("reference-transaction", ("fetch", "origin", "refs/heads/main:refs/heads/fetched")),
            ("reference-transaction", ("gc",)),
        )
    ),
    Trap(
        "hook.<name>.command, pre-auto-gc",
        both(set_keys(hook__evil__command="EVIL", hook__evil__event="pre-auto-gc", gc__auto="1"), many_loose_objects),
        ("gc", "--auto"),
        oldest_git=(2, 54),
    ),
    Trap(
        "core.sshCommand, lazy fetch",
        both(set_keys(core__sshCommand="EVIL", remote__origin__url="ssh://host/x", **PROMISOR), drop_an_object),
        SIZE,
    ),
    Trap(
        "remote.<name>.uploadpack, lazy fetch",
        both(set_keys(remote__origin__uploadpack="EVIL", **PROMISOR), drop_an_object),
        SIZE,
    ),
    Trap(
        "core.sshCommand, fetch",
        set_keys(core__sshCommand="EVIL"),
        ("ls-remote", "ssh://host/x"),
    ),
    Trap("remote.<name>.uploadpack, fetch", set_keys(remote__origin__uploadpack="EVIL"), FETCH),
    Trap("core.gitProxy", set_keys(core__gitProxy="EVIL"), ("ls-remote", "git://127.0.0.1/x")),
    Trap(
        "credential.helper",
        set_keys(credential__helper="EVIL"),
        ("credential", "fill"),
        stdin=b"protocol=https\nhost=h\n\n",
    ),
    Trap(
        "credential.<url>.helper",
        credential_for_url,
        ("credential", "fill"),
        stdin=b"protocol=https\nhost=h\n\n",
    ),
    Trap("core.askPass", set_keys(core__askPass="EVIL"), ("credential", "fill"), stdin=b"protocol=https\nhost=h\n\n"),
    Trap(
        "remote.<name>.url=ext::",
        set_keys(remote__evil__url="ext::EVIL", protocol__ext__allow="always"),
        ("fetch", "evil"),
    ),
    Trap(
        "remote.<name>.vcs=ext",
        set_keys(remote__evil__url="EVIL", remote__evil__vcs="ext", protocol__ext__allow="always"),
        ("fetch", "evil"),
    ),
    Trap(
        "url.<base>.insteadOf",
        lambda site: (
            configure(site.git_dir / "config", f"url.ext::{site.evil} .insteadOf", "../upstream"),
            site.configure(protocol__ext__allow="always"),
        )[-1],
        FETCH,
    ),
    Trap(
        "a second remote, fetch --all",
        set_keys(remote__evil__url="ssh://h/x", core__sshCommand="EVIL"),
        ("fetch", "--all"),
    ),
    Trap(
        "branch.<name>.remote, fetch without a remote",
        set_keys(remote__evil__url="ssh://h/x", branch__main__remote="evil", core__sshCommand="EVIL"),
        ("fetch",),
    ),
    Trap("legacy remotes file", legacy_remote, ("fetch", "old")),
    Trap("legacy branches file", legacy_branch, ("fetch", "old")),
    Trap("submodule's own config", submodule, ("status",)),
    Trap(
        "filter.<name>.clean",
        both(set_keys(filter__evil__clean="EVIL"), attributes("* filter=evil")),
        ("status",),
        overridden=False,
    ),
    Trap(
        "filter.<name>.process",
        both(set_keys(filter__evil__process="EVIL"), attributes("* filter=evil")),
        ("status",),
        overridden=False,
    ),
    Trap(
        "diff.<name>.textconv",
        both(set_keys(diff__evil__textconv="EVIL"), attributes("* diff=evil")),
        ("diff",),
        overridden=False,
    ),
    Trap(
        "diff.<name>.command",
        both(set_keys(diff__evil__command="EVIL"), attributes("* diff=evil")),
        ("diff",),
        overridden=False,
    ),
    Trap("diff.external", set_keys(diff__external="EVIL"), ("diff",), overridden=False),
    Trap(
        "gc.recentObjectsHook",
        both(set_keys(gc__recentObjectsHook="EVIL"), lambda site: GitRepository(site.work).blob(b"x") and None),
        ("repack", "-d", "--cruft", "--cruft-expiration=now"),
        oldest_git=(2, 42),
        overridden=False,
    ),
    Trap("gpg.program", signed_commit, ("log",)),
    Trap("include.path", include_by("include.path"), ("status",)),
    Trap("includeIf", include_by("includeIf.onbranch:main.path"), ("status",)),
    Trap("config.worktree", worktree_config, ("status",)),
    Trap("a .git file", git_file, ("status",)),
    Trap("commondir", common_dir, ("status",)),
    Trap("core.worktree", other_work_tree, ("status",), overridden=False),
    Trap("maintenance prefetch", set_keys(remote__origin__uploadpack="EVIL"), PREFETCH),
    Trap(
        "maintenance.<task>.enabled, maintenance run without a task",
        set_keys(remote__origin__uploadpack="EVIL", maintenance__prefetch__enabled="true"),
        ("maintenance", "run"),
    ),
    Trap("the lender's own config", lender_config, ("-C", "../pool.git", "pack-refs", "--all"), overridden=False),
)
