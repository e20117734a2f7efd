"""Whether others borrow from a repository, or may: there is no back-reference on disk.

Sources: what tools that keep stores for others write (Gitaly's pools, the mirrors that CI agents clone from with
`--reference`, Scalar's cache), git-config(1). A hint is enough: what looks like a lender is treated as one. Pure.
"""

from collections.abc import Iterator
from typing import Final

from gitdash.model.config_facts import ConfigFacts
from gitdash.model.inspection import Inspection
from gitdash.model.report import RepositoryReport
from gitdash.model.repository import Role, StorageLayout, Unreadable
from gitdash.units import counted

_LENDING_FOLDERS: Final = (
    (b"/@pools/", "it lies in @pools"),
    (b"/@cluster/pools/", "it lies in @cluster/pools"),
    (b"/.scalarCache/", "it lies in Scalar's cache"),
    (b"/git-mirrors/", "it lies in a folder of mirrors that CI agents borrow from"),
    (b"/.cache/pre-commit/", "it lies in the cache of pre-commit"),
)
"""Folders on the way to stores that were made to be borrowed from."""


def lending_hints(report: RepositoryReport) -> tuple[str, ...]:
    """Return why others may need objects of this repository, one clause each; empty if nothing hints at it."""
    return (*_known(report), *_by_path(report), *_by_files(report), *_by_config(report))


def _known(report: RepositoryReport) -> Iterator[str]:
    if report.borrowers:
        yield f"{counted(len(report.borrowers), 'repository borrows', 'repositories borrow')} from it"
    elif Role.POOL in report.roles:
        yield "it is a pool"


def _by_path(report: RepositoryReport) -> Iterator[str]:
    if report.repository.layout is StorageLayout.GITLAB_POOL:
        yield "its path is that of a GitLab pool"
        return
    yield from (why for folder, why in _LENDING_FOLDERS if folder in report.repository.common_dir)


def _by_files(report: RepositoryReport) -> Iterator[str]:
    if isinstance(report.inspection, Unreadable):
        return
    references, packs = report.inspection.references, report.inspection.packs
    if not isinstance(references, Unreadable) and references.has_dangling_namespace:
        yield "it has refs/dangling"
    if not isinstance(packs, Unreadable) and any(not keep.by_transfer for keep in packs.keep_files):
        yield "somebody keeps packs by .keep"


def _by_config(report: RepositoryReport) -> Iterator[str]:
    config = report.inspection.config if isinstance(report.inspection, Inspection) else None
    if not isinstance(config, ConfigFacts):
        return
    if config.precious_objects:
        yield "its objects are declared precious"
    if config.gc_prune_expire in {"never", "false"}:
        yield f"gc.pruneExpire is {config.gc_prune_expire}"
    if config.gc_auto is not None and config.gc_auto <= 0 and not config.scalar_enlistment:
        yield "automatic gc is off"
    if any(remote.mirror for remote in config.remotes):
        yield "it is a mirror"
