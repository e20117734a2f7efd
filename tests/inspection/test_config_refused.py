"""Values that git refuses: git itself says which they are."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from gitdash.formats.git_config import read_config
from gitdash.inspection.config_refused import LAST_VALUE_COUNTS, STOPS_GIT, STOPS_MAINTENANCE, refused
from gitdash.inspection.config_values import ConfigValues, SourcedEntry
from gitdash.model.config_facts import ConfigEffect
from tests.support.repositories import GitRepository

VALUES = (" = maybe", " = 99", " = 3", " = -1", " =", "", " = true", " = 0", " = 0x10", " = 2k", " = no", " = link")

OTHERWISE_REFUSED = {("core", "worktree"): "a bare repository must have none at all"}


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> GitRepository:
    made = GitRepository.init(tmp_path_factory.mktemp("refused") / "r.git")
    made.commit({"a": "1"})
    return made


@pytest.fixture
def config(repository: GitRepository) -> Iterator[Path]:
    path = repository.git_dir / "config"
    plain = path.read_bytes()
    yield path
    path.write_bytes(plain)


def stopped(text: str) -> set[ConfigEffect]:
    entries = [SourcedEntry(entry=entry, source="config") for entry in read_config(text.encode())]
    return {effect for _, _, effect in refused(ConfigValues(entries))}


@pytest.mark.oracle
@pytest.mark.parametrize("key", [key for key in STOPS_GIT if key not in OTHERWISE_REFUSED], ids=".".join)
def test_git_dies_of_what_is_said_to_stop_it(repository: GitRepository, config: Path, key: tuple[str, str]) -> None:
    section, name = key
    plain = config.read_text()
    version = "[core]\n\trepositoryformatversion = 1\n" if section == "extensions" else ""
    answers = {}
    for value in VALUES:
        text = f"{version}[{section}]\n\t{name}{value}\n"
        config.write_text(plain + text)
        works = repository.git("rev-list", "--all", "--count", check=False) == "1"
        answers[value] = (works, not stopped(text))
    assert [value for value, (works, is_accepted) in answers.items() if works and not is_accepted] == []
    assert not all(is_accepted for _, is_accepted in answers.values())


@pytest.mark.oracle
@pytest.mark.parametrize("key", STOPS_MAINTENANCE, ids=".".join)
def test_gc_dies_of_what_stops_maintenance_and_reading_does_not(
    repository: GitRepository, config: Path, key: tuple[str, str]
) -> None:
    section, name = key
    text = f"[{section}]\n\t{name} = maybe\n"
    config.write_text(config.read_text() + text)
    assert stopped(text) == {ConfigEffect.STOPS_MAINTENANCE}
    assert repository.git("rev-list", "--all", "--count") == "1"
    with pytest.raises(AssertionError, match="'gc'"):
        repository.git("gc")


@pytest.mark.oracle
@pytest.mark.parametrize("key", [*STOPS_GIT, *STOPS_MAINTENANCE], ids=".".join)
def test_a_value_that_is_replaced_counts_only_where_git_reads_each(
    repository: GitRepository, config: Path, key: tuple[str, str]
) -> None:
    if key in OTHERWISE_REFUSED:
        return
    section, name = key
    good = next(
        value for value in ("true", "0", "auto", "link", "default", "never", "simple") if not stopped_by(key, value)
    )
    bad = "" if stopped_by(key, None) else " = maybe"
    text = f"[{section}]\n\t{name}{bad}\n\t{name} = {good}\n"
    config.write_text(config.read_text() + text)
    command = ("gc",) if key in STOPS_MAINTENANCE else ("rev-list", "--all")
    works = _works(repository, command)
    assert bool(stopped(text)) == (key not in LAST_VALUE_COUNTS)
    assert not (works and stopped(text))


def stopped_by(key: tuple[str, str], value: str | None) -> bool:
    section, name = key
    return bool(stopped(f"[{section}]\n\t{name}" + ("" if value is None else f" = {value}") + "\n"))


def _works(repository: GitRepository, command: tuple[str, ...]) -> bool:
    try:
        repository.git(*command)
    except AssertionError:
        return False
    return True


def test_a_key_with_a_subsection_is_another_key() -> None:
    assert stopped('[core "x"]\n\tbare = maybe\n') == set()
    assert stopped("[core]\n\tbare = maybe\n") == {ConfigEffect.STOPS_GIT}
