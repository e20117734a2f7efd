"""Plans of fetches: which remotes, which references, by which arguments, and what speaks against it.

Source: git-fetch(1) of git 2.39 to 2.55. Pure: what was read is an argument. The plan holds all that git gets to know,
so what is shown is what is run.
"""

import os
from collections.abc import Iterator, Sequence
from typing import Final

from gitdash.gitcmd.masking import presentable
from gitdash.maintenance.fetching.addresses import Address, address_problem, read_address, rewritten
from gitdash.maintenance.fetching.options import FetchOptions
from gitdash.maintenance.fetching.refspecs import MAXIMUM_REFSPECS, is_mirror, only_tracks, refspec_problem
from gitdash.maintenance.fetching.remotes import ConfiguredRemote, FetchConfig
from gitdash.model.config_facts import ConfigFacts
from gitdash.model.fetch import FetchPlan, RemotePlan
from gitdash.model.inspection import Inspection
from gitdash.model.plan import Refusal
from gitdash.model.report import RepositoryReport
from gitdash.model.repository import RepositoryKind, Unreadable
from gitdash.units import counted, printable

PORCELAIN_VERSION: Final = (2, 41)
"""`git fetch --porcelain`: names and ids whole, and no columns."""

NETWORK_FILE_SYSTEMS: Final = frozenset(
    {"nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "ceph", "glusterfs", "lustre", "beegfs", "gpfs", "fuse.sshfs"}
)
"""Each look-up of a name is a journey there, and unpacking makes five for each object."""

NOTHING_TO_FETCH: Final = frozenset({"no-remote", "no-refspec"})
"""Rules by which its config names nothing to fetch: no danger, but no fetch either."""

_FIXED: Final = (
    # what tells how far it is, and by Trace2 how many bytes came
    "--progress",
    # it can be hundreds of megabytes, and nobody asked for it
    "--no-write-fetch-head",
    # maintenance leaves the process group, and drops objects that a borrower may need
    "--no-auto-maintenance",
    "--no-write-commit-graph",
    # a submodule's own config names programs
    "--no-recurse-submodules",
    # a forced update shall be told from another
    "--show-forced-updates",
    # it deletes local tags
    "--no-prune-tags",
    # the user's config may have refspecs for a remote of this name, which would be written, too
    "--refmap=",
    # beats the program that any config names for the other side
    "--upload-pack=git-upload-pack",
)


def plan_fetch(
    report: RepositoryReport, options: FetchOptions, *, config: FetchConfig | Unreadable, git_version: tuple[int, ...]
) -> FetchPlan:
    """Return how a repository would be fetched into. Nothing is fetched that it refuses."""
    path = report.repository.path
    refusals = tuple(dict.fromkeys(_repository_refusals(report, config)))
    if refusals or isinstance(config, Unreadable) or isinstance(report.inspection, Unreadable):
        return FetchPlan(path=path, remotes=(), refusals=refusals)
    chosen, unknown = _chosen(options, config)
    if unknown is not None:
        return FetchPlan(path=path, remotes=(), refusals=(unknown,))
    planning = _Planning(report=report, inspection=report.inspection, options=options, config=config)
    return FetchPlan(path=path, remotes=tuple(planning.plan(remote, git_version) for remote in chosen))


def _repository_refusals(report: RepositoryReport, config: FetchConfig | Unreadable) -> Iterator[Refusal]:
    repository, inspection = report.repository, report.inspection
    if repository.problem is not None:
        yield Refusal(rule="unreadable", reason=printable(repository.problem))
    if repository.is_foreign:
        yield Refusal(rule="not-owner", reason=f"user {repository.foreign_owner_uid} owns it")
    if isinstance(inspection, Unreadable):
        yield Refusal(rule="unreadable", reason=inspection.reason)
    elif isinstance(inspection.config, ConfigFacts) and inspection.config.unknown_extensions:
        names = ", ".join(inspection.config.unknown_extensions)
        yield Refusal(rule="unknown-extension", reason=f"gitdash does not know what {names} asks for")
    if isinstance(config, Unreadable):
        yield Refusal(rule="config-unreadable", reason=f"its config cannot be read: {printable(config.reason)}")


def _chosen(options: FetchOptions, config: FetchConfig) -> tuple[Sequence[ConfiguredRemote], Refusal | None]:
    """Return the remotes that are meant, or why there are none."""
    by_name = {remote.name: remote for remote in config.remotes}
    names = [*options.remotes]
    if options.group is not None:
        # git takes the name of a remote for a group of one
        group = config.groups.get(options.group.lower(), (options.group,) if options.group in by_name else ())
        if not group:
            shown = presentable(options.group)
            return (), Refusal(
                rule="unknown-group", reason=f"its config has no group of remotes named {shown or repr(shown)}"
            )
        names += group
    missing = next((name for name in names if name not in by_name), None)
    if missing is not None:
        return (), Refusal(rule="unknown-remote", reason=f"its config has no remote named {presentable(missing)}")
    if names:
        return [by_name[name] for name in dict.fromkeys(names)], None
    wanted = [remote for remote in config.remotes if not remote.is_skipped and (remote.urls or remote.refspecs)]
    if wanted:
        return wanted, None
    return (), Refusal(rule="no-remote", reason=_why_none(config.remotes))


def _why_none(remotes: Sequence[ConfiguredRemote]) -> str:
    if not remotes:
        return "its config has no remote"
    if all(remote.is_skipped for remote in remotes):
        return "its config has every remote skipped"
    return "no remote in its config that is not to be skipped says where it is or what to fetch"


class _Planning:
    """What the plans of all remotes of one repository are made of."""

    def __init__(
        self, *, report: RepositoryReport, inspection: Inspection, options: FetchOptions, config: FetchConfig
    ) -> None:
        self._repository = report.repository
        self._inspection = inspection
        self._options = options
        self._config = config
        self._is_bare = report.repository.kind is RepositoryKind.BARE

    def plan(self, remote: ConfiguredRemote, git_version: tuple[int, ...]) -> RemotePlan:
        """Return how one remote is fetched from."""
        url = rewritten(remote.urls[0] if remote.urls else "", self._config.user_rewrites)
        address = read_address(url)
        mirror = is_mirror(remote.refspecs) and self._is_bare
        prunes, why = self._prunes(remote, is_mirror=mirror)
        return RemotePlan(
            name=remote.name,
            url=self._absolute(remote.urls[0]) if remote.urls else "",
            shown_url=presentable(url),
            host=address.host,
            refspecs=remote.refspecs,
            prunes=prunes,
            is_promisor=remote.is_promisor,
            partial_filter=remote.partial_filter,
            arguments=self._arguments(remote, git_version, prunes=prunes, is_atomic=mirror and not prunes),
            config=tuple(self._pairs()),
            repository_config=tuple(self._stand_in_config(remote)),
            protocols=self._options.protocols,
            alternate_refs=self._options.alternate_refs,
            is_preview=self._options.dry_run,
            time_limit_s=self._options.time_limit_s,
            choices=(*([why] if why else []), *self._notes(remote)),
            refusals=tuple(self._refusals(remote, url, address)),
        )

    def _absolute(self, url: str) -> str:
        """Return a URL that means the same whatever the current folder is."""
        rewrites = self._config.user_rewrites
        if read_address(url).protocol != "file" or "://" in url or rewritten(url, rewrites) != url:
            return url
        return url if url.startswith(("/", "~")) else os.path.join(os.fsdecode(self._repository.path), url)

    def _prunes(self, remote: ConfiguredRemote, *, is_mirror: bool) -> tuple[bool, str | None]:
        """Tell whether references are removed whose source is gone, and why."""
        if self._options.prune is not None:
            return self._options.prune, "prune: asked for" if self._options.prune else "no prune: asked for"
        said = next(
            (flag for flag in (remote.prunes, self._config.prunes, self._config.user_prunes) if flag is not None), False
        )
        if said and not is_mirror and not only_tracks(remote.refspecs):
            return False, "no prune: its config asks for it, but it would remove more than remote-tracking references"
        return said, "prune: its config says so" if said else None

    def _arguments(
        self, remote: ConfiguredRemote, git_version: tuple[int, ...], *, prunes: bool, is_atomic: bool
    ) -> tuple[str, ...]:
        chosen = ["--prune" if prunes else "--no-prune"]
        if git_version >= PORCELAIN_VERSION:
            chosen.append("--porcelain")
        if is_atomic:
            # a mirror is served to others, who see all of an update or none
            chosen.append("--atomic")
        if self._options.dry_run:
            chosen.append("--dry-run")
        # without either git takes new tags of what it fetches, as everybody expects who knows `git fetch`
        if remote.tag_option in {"--tags", "--no-tags"}:
            chosen.append(remote.tag_option)
        return ("fetch", *_FIXED, *chosen, remote.name, *remote.refspecs)

    def _pairs(self) -> Iterator[tuple[str, str]]:
        if self._options.dry_run or self._inspection.filesystem_type in NETWORK_FILE_SYSTEMS:
            # git tells how many bytes came only of what stays packed
            yield "fetch.unpackLimit", "1"

    def _stand_in_config(self, remote: ConfiguredRemote) -> Iterator[tuple[str, str | None, str, str]]:
        known = {(section, subsection, name): value for section, subsection, name, value in self._config.known}
        partial = ("extensions", None, "partialclone")
        if known.get(partial) != remote.name:
            known.pop(partial, None)
        known.setdefault(("core", None, "repositoryformatversion"), "0")
        known.setdefault(("core", None, "logallrefupdates"), "false" if self._is_bare else "true")
        # nothing is checked out in a stand-in
        known["core", None, "bare"] = "true"
        if not self._config.user_limits_http_speed:
            # a server that works sends a byte every five seconds, uploadpack.keepAlive
            known["http", None, "lowspeedlimit"] = "1"
            known["http", None, "lowspeedtime"] = "60"
        if self._config.user_keeps_to_host:
            known["http", None, "followredirects"] = "false"
        if self._config.user_lets_headers_follow:
            known["http", None, "followredirects"] = "false"
        for (section, subsection, name), value in known.items():
            yield section, subsection, name, value
        yield "remote", remote.name, "url", self._absolute(remote.urls[0]) if remote.urls else ""
        # since 2.48 git would make, or in a mirror move, the HEAD of the remote
        yield "remote", remote.name, "followremotehead", "never"
        if remote.is_promisor:
            yield "remote", remote.name, "promisor", "true"
        if remote.partial_filter is not None:
            yield "remote", remote.name, "partialclonefilter", remote.partial_filter

    def _notes(self, remote: ConfiguredRemote) -> Iterator[str]:
        if self._options.dry_run:
            yield "dry run: what would come is downloaded to the folder for temporary files, and dropped"
        if remote.tag_option in {"--tags", "--no-tags"}:
            yield f"tags: {remote.tag_option}, its config says so"
        if remote.sets_program:
            yield "not honoured: the repository's config names a program for the other side"
        if remote.urls and rewritten(remote.urls[0], self._config.rewrites) != remote.urls[0]:
            yield "not honoured: the repository's config replaces this URL"
        if self._inspection.filesystem_type in NETWORK_FILE_SYSTEMS:
            yield f"objects stay packed: {self._inspection.filesystem_type} is a network file system"

    def _refusals(self, remote: ConfiguredRemote, url: str, address: Address) -> Iterator[Refusal]:
        if remote.is_elsewhere:
            yield Refusal(rule="config-elsewhere", reason="its config stands in a file outside the repository")
            return
        if not remote.name or remote.name.startswith("-") or printable(remote.name) != remote.name:
            yield Refusal(rule="remote-name", reason="its name is one that git could take for something else")
        if remote.vcs is not None:
            yield Refusal(
                rule="url-runs-program", reason=f"its config names the program git-remote-{presentable(remote.vcs)}"
            )
        problem = address_problem(url, address, self._options.protocols, allowed_once=self._options.allowed_once)
        if problem is not None:
            yield Refusal(rule=problem[0], reason=presentable(problem[1]))
        yield from self._refspec_refusals(remote)

    def _refspec_refusals(self, remote: ConfiguredRemote) -> Iterator[Refusal]:
        if not any(not refspec.startswith("^") for refspec in remote.refspecs):
            yield Refusal(rule="no-refspec", reason=self._how_to_say_what(remote))
        if len(remote.refspecs) > MAXIMUM_REFSPECS:
            yield Refusal(rule="too-many-refspecs", reason=f"it has {counted(len(remote.refspecs), 'refspec')}")
            return
        for refspec in remote.refspecs:
            why = refspec_problem(refspec, is_bare=self._is_bare)
            if why is not None:
                yield Refusal(rule="unsafe-refspec", reason=f"refspec {presentable(refspec)} {why}")

    def _how_to_say_what(self, remote: ConfiguredRemote) -> str:
        """`git clone --bare` leaves such a config; plain git then fetches HEAD, into FETCH_HEAD alone."""
        name = presentable(remote.name)
        refspec = "+refs/heads/*:refs/heads/*" if self._is_bare else f"+refs/heads/*:refs/remotes/{name}/*"
        return f"its config does not say what to fetch: remote.{name}.fetch is not set, such as to {refspec}"
