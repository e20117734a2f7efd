"""Whatever happens in whatever order to a family of repositories, nothing that was there is ever lost."""

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.support.chaos import KINDS, TASKS, Event, make_family, make_template, play, small_volume

EVENTS = st.builds(
    Event,
    kind=st.sampled_from(KINDS),
    repository=st.integers(0, 4),
    choice=st.integers(0, len(TASKS) * 5 - 1),
    moment_ms=st.integers(0, 150),
    knows_borrowers=st.booleans(),
    leaves_locks=st.booleans(),
)
NUMBERS = itertools.count()


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("template") / "family"
    folder.mkdir()
    make_template(folder)
    return folder


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Path | None]]:
    """Where families are made: a small file system if we may mount one."""
    folder = tmp_path_factory.mktemp("chaos")
    with small_volume(folder / "volume", 24 << 20) as volume:
        yield folder / "volume", volume


@pytest.mark.oracle
@pytest.mark.safety
@settings(
    max_examples=25,
    deadline=None,
    database=None,
    phases=(Phase.generate,),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(events=st.lists(EVENTS, min_size=4, max_size=8))
def test_no_object_is_lost_whatever_happens(
    template: Path, scratch: tuple[Path, Path | None], events: list[Event]
) -> None:
    folder, volume = scratch
    play(template, folder / f"family{next(NUMBERS)}", events, volume=volume)


@pytest.mark.oracle
def test_a_loss_would_be_seen(template: Path, tmp_path: Path) -> None:
    family = make_family(template, tmp_path / "family")
    lender = family.repositories["lender"]
    lender.git("prune")
    with pytest.raises(AssertionError, match="lender lost"):
        family.check()


@pytest.mark.oracle
def test_a_member_that_gave_up_its_copy_would_be_seen(template: Path, tmp_path: Path) -> None:
    family = make_family(template, tmp_path / "family")
    with pytest.raises(AssertionError, match="that no lender references"), family.exposing_nothing("one"):
        family.repositories["one"].git("repack", "-a", "-d", "-l", "-q")
