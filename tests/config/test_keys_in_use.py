"""Every key of the configuration file is read somewhere: a limit that nobody looks at protects nobody."""

import ast
from pathlib import Path

import pytest

from gitdash.config.keys import SETTING_KEYS

PACKAGE = Path(__file__).resolve().parents[2] / "gitdash"
READ_BY = {
    # of the settings of fetches, in maintenance.fetching.options
    "fetch.alternate_refs": "settings.alternate_refs",
    "fetch.protocols": "settings.protocols",
    "fetch.time_limit_s": "settings.time_limit_s",
    "keys.ACTION": "settings.keys",
    "root.path": "settings.policy_for",
    "root.trust_owner": "settings.trusted_roots",
    "root.exclude": "settings.exclude",
    "root.policy": "settings.policy_for",
    "roots": "settings.roots",
    "scan.exclude": "settings.exclude",
}
"""Keys that `config` itself reads, for whoever calls this; the others are read by their own names."""


def reads() -> frozenset[str]:
    """`owner.attribute` of all that is read outside of `config`."""
    found = set()
    for file in PACKAGE.rglob("*.py"):
        if file.parent.name == "config":
            continue
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Attribute):
                owner = node.value
                name = owner.id if isinstance(owner, ast.Name) else getattr(owner, "attr", "")
                found.add(f"{name}.{node.attr}")
    return frozenset(found)


READS = reads()


@pytest.mark.parametrize("name", [key.name for key in SETTING_KEYS])
def test_every_key_is_read(name: str) -> None:
    assert READ_BY.get(name, name) in READS
