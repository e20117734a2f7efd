"""The structure: contracts between folders, sizes of modules, and what the docs must name."""

import ast
import importlib
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import gitdash
import gitdash.errors
from gitdash.errors import GitdashError

PROJECT = Path(__file__).resolve().parents[2]
PACKAGE = PROJECT / "gitdash"
MODULES = sorted(PACKAGE.rglob("*.py"))

MODULE_LINES_LIMIT = 450
"""Far beyond the house rule of 250, so that this fails only when a module has become a drawer."""
FUNCTION_LINES_LIMIT = 80


def test_import_contracts_are_kept() -> None:
    finished = subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--no-cache"], cwd=PROJECT, capture_output=True, text=True
    )
    assert finished.returncode == 0, finished.stdout[-3000:]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_module_is_small_and_says_what_it_is_for(path: Path) -> None:
    source = path.read_text()
    tree = ast.parse(source)
    assert ast.get_docstring(tree) or not source.strip()
    assert len(source.splitlines()) <= MODULE_LINES_LIMIT
    long_functions = [
        (node.name, node.end_lineno - node.lineno)
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.end_lineno is not None
        and node.end_lineno - node.lineno > FUNCTION_LINES_LIMIT
    ]
    assert long_functions == []


def test_package_docstring_lists_the_folders() -> None:
    folders = {path.name for path in PACKAGE.iterdir() if path.is_dir() and path.name != "__pycache__"}
    named = {folder for folder in folders if re.search(rf"\b{folder}\b", gitdash.__doc__ or "")}
    assert named == folders


def test_every_format_module_names_its_source() -> None:
    sources = ("gitformat-", "gitrepository-layout", "git-config", "reftable", "technical/")
    unnamed = [
        path.name
        for path in (PACKAGE / "formats").glob("*.py")
        if path.name not in {"__init__.py", "reading.py"}
        and not any(source in (ast.get_docstring(ast.parse(path.read_text())) or "") for source in sources)
    ]
    assert unnamed == []


def test_no_untrusted_text_is_formatted_into_a_markup_sink() -> None:
    sinks = re.compile(r"(\.update|notify|border_title\s*=|border_subtitle\s*=)\(?\s*f\"")
    hits = [
        f"{path.name}:{number}"
        for path in (PACKAGE / "tui").rglob("*.py")
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if sinks.search(line)
    ]
    assert hits == []


def test_the_tree_of_errors_names_every_error_with_its_place() -> None:
    for path in MODULES:
        # not every module is loaded by the others
        if path.name != "__main__.py" and "Error(" in path.read_text():
            name = ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
            importlib.import_module(name.removesuffix(".__init__"))
    parents = dict(_tree(gitdash.errors.__doc__ or ""))
    found = {}
    waiting = [GitdashError]
    while waiting:
        above = waiting.pop()
        for error in above.__subclasses__():
            if error.__module__.startswith("gitdash."):
                found[_place(error)] = _place(above)
                waiting.append(error)
    assert parents == found


def _place(error: type[GitdashError]) -> str:
    place = f"{error.__module__}.{error.__qualname__}".removeprefix("gitdash.")
    return place.removeprefix("errors.")


def _tree(text: str) -> Iterator[tuple[str, str]]:
    """Name and parent of each line that is a branch; four columns are a level."""
    above = {0: "GitdashError"}
    for line in text.splitlines():
        branch = re.match(r"    ([| ]*)\+-- (\S+)", line)
        if branch:
            level = len(branch[1]) // 4 + 1
            above[level] = branch[2]
            yield branch[2], above[level - 1]
