"""The soak: hundreds of random sequences over a family of repositories, none of which may lose an object.

The machine is that of the test suite (`tests/support/chaos.py`), which plays 25 sequences; here there are more and
longer ones. The figure is the number of sequences that lost something: anything but 0 is a fault that stops everything.
"""

import random
import time
from collections import Counter
from pathlib import Path

from benchmarks.timing import Result
from tests.support.chaos import KINDS, NAMES, TASKS, Event, make_template, play, small_volume

SEQUENCE_COUNT = 500
_SHORTEST = 5
_LONGEST = 12
_LONGEST_MOMENT_MS = 150
_VOLUME_BYTES = 24 << 20


def soak(scratch: Path, sequence_count: int = SEQUENCE_COUNT, first_seed: int = 0) -> list[Result]:
    """Play the sequences with these seeds; one that loses something is told whole."""
    template = scratch / "template"
    template.mkdir()
    make_template(template)
    losses: list[str] = []
    outcomes: Counter[str] = Counter()
    started_s = time.monotonic()
    with small_volume(scratch / "volume", _VOLUME_BYTES) as volume:
        for seed in range(first_seed, first_seed + sequence_count):
            try:
                family = play(template, scratch / "volume" / f"family{seed}", events_of(seed), volume=volume)
            except AssertionError as error:
                losses.append(f"seed {seed}: {error}")
                print(losses[-1], flush=True)
                continue
            outcomes.update(f"{task.value}: {outcome.value}" for task, outcome in family.outcomes)
    elapsed_s = time.monotonic() - started_s
    details = (
        f"{sequence_count} sequences in {elapsed_s:.0f} s, seeds from {first_seed} on",
        "on a small file system that is filled" if volume else "with a limit on the size of files",
        ", ".join(f"{name} {count}" for name, count in sorted(outcomes.items())),
    )
    return [
        Result(
            name="sequences that lost an object",
            figure=len(losses),
            unit="sequences",
            target=0,
            at_least=False,
            details=details + tuple(losses),
        )
    ]


def events_of(seed: int) -> list[Event]:
    """Return the sequence of a seed."""
    chance = random.Random(seed)
    return [
        Event(
            kind=chance.choice(KINDS),
            repository=chance.randrange(len(NAMES)),
            choice=chance.randrange(len(TASKS) * 5),
            moment_ms=chance.randrange(_LONGEST_MOMENT_MS),
            knows_borrowers=chance.random() < 0.5,
            leaves_locks=chance.random() < 0.3,
        )
        for _ in range(chance.randint(_SHORTEST, _LONGEST))
    ]
