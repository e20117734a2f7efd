"""Paths of roots and what lies below them, for people. Pure."""

from collections.abc import Sequence

from gitdash.units import printable_path


def roots_text(roots: Sequence[bytes], home: bytes) -> str:
    """Return the roots for people, the home folder as `~`."""
    return ", ".join(root_text(root, home) for root in roots)


def root_text(root: bytes, home: bytes) -> str:
    """Return one path for people, the home folder as `~`."""
    home = home.rstrip(b"/")
    if home and (root == home or root.startswith(home + b"/")):
        return "~" + printable_path(root[len(home) :])
    return printable_path(root)
