"""Sums over files.

Source: stat(2): st_size, st_blocks in units of 512 bytes whatever the file system's block size, st_nlink.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from heapq import nlargest
from typing import Final

from gitdash.model.disk_facts import LinkedFile
from gitdash.units import sum_bytes

_LINKED_FILES: Final = 32
"""Kept of one repository: nearly all bytes that a local clone links are those of a few packs."""


@dataclass(slots=True)
class FileSums:
    """Sums over files; one with several links counts once."""

    bytes_by_part: dict[bytes, int] = field(default_factory=dict)
    """Sum of st_size by the first part of the path; empty for files at the top."""
    allocated_bytes: int = 0
    file_count: int = 0
    links: dict[tuple[int, int], list[int]] = field(default_factory=dict)
    """Of files with several links that were counted, by device and inode: size, and links that were not met."""

    def add(self, part: bytes, stats: Sequence[os.stat_result]) -> None:
        """Count files, at least one."""
        if max([found[3] for found in stats]) > 1:
            stats = [found for found in stats if self._is_first_link(found)]
        self.file_count += len(stats)
        self.bytes_by_part[part] = sum_bytes([self.bytes_by_part.get(part, 0), *[found[6] for found in stats]])
        self.allocated_bytes = sum_bytes([self.allocated_bytes, 512 * sum([found.st_blocks for found in stats])])

    @property
    def linked_bytes(self) -> int:
        """Bytes of files that have a link that was not met."""
        return sum_bytes(size_bytes for size_bytes, missing_count in self.links.values() if missing_count > 0)

    def linked_files(self) -> tuple[LinkedFile, ...]:
        """Return the largest files that have a link that was not met."""
        found = ((size, *identity) for identity, (size, missing_count) in self.links.items() if missing_count > 0)
        return tuple(
            LinkedFile(device=device, inode=inode, bytes=size)
            for size, device, inode in nlargest(_LINKED_FILES, found)
            if size
        )

    def _is_first_link(self, found: os.stat_result) -> bool:
        if found.st_nlink < 2:
            return True
        identity = (found.st_dev, found.st_ino)
        if identity in self.links:
            self.links[identity][1] -= 1
            return False
        self.links[identity] = [found.st_size, found.st_nlink - 1]
        return True
