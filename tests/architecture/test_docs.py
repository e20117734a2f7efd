"""The README names everything that a reader can meet: findings, columns, keys, settings, commands."""

import json
import re
from pathlib import Path

import click
import msgspec
import pytest

from gitdash.__main__ import command_line
from gitdash.assessment.rules import RULES
from gitdash.config.settings import Settings
from gitdash.export.columns import COLUMNS
from gitdash.export.json_record import record
from gitdash.maintenance.planning import ORDER
from gitdash.maintenance.refusal_rule import RefusalRule
from gitdash.maintenance.refusals import RULES as REFUSAL_RULES
from gitdash.maintenance.tasks import ALLOWED_IN_LENDER
from gitdash.model.inspection import Inspection
from gitdash.model.policy import Policy
from gitdash.model.task import Task
from gitdash.tui.actions.declared import ACTIONS
from gitdash.tui.keymap import shown_key
from gitdash.tui.plans.meanings import MEANINGS
from tests.tui.fixture_fleet import NOW_S, fixed_reports

PROJECT = Path(__file__).resolve().parents[2]
README = (PROJECT / "README.md").read_text()
SOURCES = ("gitdash", "tests", "benchmarks")


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_readme_lists_the_finding(rule) -> None:
    assert f"`{rule.id}`" in README


def task_row(task: Task) -> str:
    """The row of a task in the README."""
    not_in_member = {task for rule, _ in REFUSAL_RULES if rule.id == "borrows-objects" for task in rule.tasks}
    not_in_partial = {task for rule, _ in REFUSAL_RULES if rule.id == "partial-clone" for task in rule.tasks}
    only_in_member = {task for rule, _ in REFUSAL_RULES if rule.id == "no-lender" for task in rule.tasks}
    member = "only there" if task in only_in_member else "no" if task in not_in_member else "yes"
    if task is Task.BITMAP:
        member = "removes its bitmaps"
    partial = "git 2.55" if task is Task.GEOMETRIC_REPACK else "no" if task in not_in_partial else "yes"
    lender = "yes" if task in ALLOWED_IN_LENDER else "no"
    return f"| `{task.value}` | {MEANINGS[task]} | {lender} | {member} | {partial} |"


def refusal_row(rule: RefusalRule) -> str:
    """The row of a rule that speaks against tasks."""
    changing = frozenset(task for task in Task if task.changes_repository)
    named = {frozenset(Task): "everything", changing: "all that writes"}
    of = named.get(rule.tasks) or ", ".join(f"`{task.value}`" for task in ORDER if task in rule.tasks)
    return f"| `{rule.id}` | {of} | {rule.meaning} | {rule.source} |"


@pytest.mark.parametrize("task", Task)
def test_readme_describes_the_task(task: Task) -> None:
    assert task_row(task) in README


@pytest.mark.parametrize("rule", [rule for rule, _ in REFUSAL_RULES], ids=lambda rule: rule.id)
def test_readme_describes_the_refusal(rule: RefusalRule) -> None:
    assert refusal_row(rule) in README


@pytest.mark.parametrize("column", COLUMNS, ids=lambda column: column.key)
def test_readme_lists_the_column(column) -> None:
    assert f"`{column.key}`" in README
    assert column.help.strip()


@pytest.mark.parametrize("field", msgspec.structs.fields(Policy), ids=lambda field: field.name)
def test_readme_lists_the_threshold(field) -> None:
    assert f"`{field.name}`" in README


@pytest.mark.parametrize("field", msgspec.structs.fields(Settings), ids=lambda field: field.name)
def test_readme_lists_the_configuration_table(field) -> None:
    assert f"`{field.name}`" in README or f"[{field.name}]" in README or f"[[{field.name}]]" in README


@pytest.mark.parametrize("action", ACTIONS, ids=lambda action: action.name)
def test_readme_lists_the_key(action) -> None:
    stem, _, number = action.name.rpartition("_")
    if number.isdecimal():
        assert re.search(rf"\*\*{action.title.removesuffix(number)}1 … \d\*\*.* `{stem}_1` …", README)
    else:
        assert re.search(rf"\*\*{re.escape(action.title)}\*\*: {re.escape(action.help)} \| `{action.name}` \|", README)
        for key in action.keys:
            assert f"`{README_KEYS.get(shown_key(key), shown_key(key))}`" in README


README_KEYS = {"pgdn": "page down", "pgup": "page up"}


def options(command: click.Command, path: str) -> list[tuple[str, str]]:
    found = [
        (path, max(parameter.opts, key=len)) for parameter in command.params if isinstance(parameter, click.Option)
    ]
    if isinstance(command, click.Group):
        for name, child in command.commands.items():
            found += [(f"{path} {name}", ""), *options(child, f"{path} {name}")]
    return found


@pytest.mark.parametrize(("path", "option"), options(command_line(), "gitdash"), ids=lambda value: value or "command")
def test_readme_names_the_command_and_option(path: str, option: str) -> None:
    assert path in README
    assert option in README


def test_texts_name_no_document_that_the_project_does_not_have() -> None:
    paths = [*PROJECT.glob("*.md"), *(path for name in SOURCES for path in (PROJECT / name).rglob("*.py"))]
    named = {name for path in paths for name in re.findall(r"\b[\w-]+\.(?:md|rst)\b", path.read_text())}
    assert named <= {path.name for path in paths}


def names(value: object) -> set[str]:
    """All keys of a JSON document, however deep; what lies below `evidence` differs from rule to rule."""
    if isinstance(value, list):
        return set().union(*map(names, value))
    if not isinstance(value, dict):
        return set()
    return set(value).union(*(names(child) for key, child in value.items() if key != "evidence"))


def test_readme_shows_every_name_of_the_json() -> None:
    shown = json.loads(README.split("```json\n")[1].split("```")[0])
    reports = [report for report in fixed_reports() if isinstance(report.inspection, Inspection)]
    written = set().union(*(names(record(report, NOW_S)) for report in reports))
    described = names(shown) | {"unreadable", "reason"}
    assert {name for name in written - described if not name.endswith("_bytes_base64")} == set()
