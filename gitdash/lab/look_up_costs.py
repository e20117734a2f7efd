"""What measured look-ups say: whether absence is remembered on a mount, and what a clone would pay for it. Pure.

Source of the counts: look-ups of git 2.39 as a FUSE file system saw them. A clone of 34,296 objects asked 282 times for
names below `objects` that were not there: once for each fan-out folder, and some for packs. Before that it asks whether
what branches and tags name is there already: one of 3,202 branches asked for 3,203 objects, and once more for each
fan-out folder in which they would lie; so do git 2.47 and 2.55. An annotated tag names two, itself and what it is of in
the end (gitprotocol-v2(5), ls-refs with peel). What two names stand for is asked for twice. Other references are not
cloned. A fetch that unpacked asked five times for each object. Before git kept a list of each fan-out folder (git
2.21), a clone asked for each object.
"""

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from gitdash.lab.statistics import too_few_text
from gitdash.model.experiment import Summary
from gitdash.units import counted, fine_duration

_FAN_OUT_COUNT: Final = 256
_UNPACK_LOOK_UPS: Final = 5
_UNPACK_LIMIT: Final = 100
"""`fetch.unpackLimit` where nothing sets it: a fetch of fewer objects unpacks them."""
_CHEAP_S: Final = 50e-6
"""A look-up that is cheaper did not leave the machine: 100,000 of them are 5 s, of which most is the loop here. A round
trip in a data centre takes 200 µs and more."""
_REMEMBERED_RATIO: Final = 0.5
"""Asked again, a remembered absence costs no round trip: a tenth or less. Half leaves room for a noisy network."""

ABSENT: Final = "look-up-absent"
ABSENT_AGAIN: Final = "look-up-absent-again"
PRESENT: Final = "look-up-present"
WRITE: Final = "write"
_ABSENT_TITLES: Final = {ABSENT: "the first look-up of an absent name", ABSENT_AGAIN: "asking for it again"}


class Remembrance(enum.StrEnum):
    """What asking again for an absent name showed."""

    CHEAP = "cheap"
    """Nothing to save: the first time costs next to nothing, too."""
    REMEMBERED = "remembered"
    ASKED_AGAIN = "asked again"


_VERDICTS: Final = {
    Remembrance.CHEAP: "Look-ups are cheap here",
    Remembrance.REMEMBERED: "Absence is remembered here",
    Remembrance.ASKED_AGAIN: "Absence is not remembered here",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedObjects:
    """What branches and tags name."""

    count: int = 0
    """One that two references name counts twice."""
    distinct_count: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """What one way to do it would pay in look-ups of absent names."""

    title: str
    look_up_count: int
    cost_s: float


def remembrance(absent_s: float, absent_again_s: float) -> Remembrance:
    """Judge by the median of the first look-up, and of the second."""
    if absent_s < _CHEAP_S:
        return Remembrance.CHEAP
    is_remembered = absent_again_s < absent_s * _REMEMBERED_RATIO
    return Remembrance.REMEMBERED if is_remembered else Remembrance.ASKED_AGAIN


def clone_predictions(object_count: int, absent_s: float, named: NamedObjects) -> tuple[Prediction, ...]:
    """Predict the look-ups of a clone, for each object and for each fan-out folder, and of a fetch that unpacks."""
    fetched_count = min(object_count, _UNPACK_LIMIT - 1)
    counts = (
        ("a clone with one check for each object", object_count),
        (
            "a clone with one check for each fan-out folder and for all that branches and tags name, as git makes it",
            _fan_out_folders(object_count) + _fan_out_folders(named.distinct_count) + named.count,
        ),
        (
            f"a fetch of {counted(fetched_count, 'object')} that unpacks them, five checks for each",
            fetched_count * _UNPACK_LOOK_UPS,
        ),
    )
    return tuple(Prediction(title=title, look_up_count=count, cost_s=count * absent_s) for title, count in counts)


def _fan_out_folders(object_count: int) -> int:
    """Return in how many fan-out folders so many random ids fall, on average."""
    return round(_FAN_OUT_COUNT * (1 - (1 - 1 / _FAN_OUT_COUNT) ** object_count))


def found(summaries: Mapping[str, Summary]) -> Remembrance | None:
    """Say what was found, by what the runs of operations say by name; None if a look-up has no runs, or too few."""
    asked = [summaries[name] for name in (ABSENT, ABSENT_AGAIN) if name in summaries]
    if len(asked) < 2 or not all(summary.allows_verdict for summary in asked):
        return None
    first, again = asked
    return remembrance(first.median_s, again.median_s)


def verdict(summaries: Mapping[str, Summary]) -> str:
    """Say in one sentence whether absence is remembered."""
    asked = {name: summaries[name] for name in _ABSENT_TITLES if name in summaries}
    if len(asked) < 2:
        return "No verdict: absent names were not looked up twice."
    what = found(asked)
    if what is None:
        return too_few_text(asked, _ABSENT_TITLES) or ""
    first, again = (fine_duration(asked[name].median_s) for name in (ABSENT, ABSENT_AGAIN))
    return f"{_VERDICTS[what]}: a look-up of an absent name takes {first}, asked again {again}."


def prediction_notes(object_count: int, summaries: Mapping[str, Summary], named: NamedObjects) -> tuple[str, ...]:
    """Say what look-ups would cost with this repository's objects, and what to do where that is much."""
    if ABSENT not in summaries:
        return ()
    absent_s = summaries[ABSENT].median_s
    notes = [
        f"Predicted for {prediction.title}: {counted(prediction.look_up_count, 'look-up')} of absent names,"
        f" {fine_duration(prediction.cost_s)}."
        for prediction in clone_predictions(object_count, absent_s, named)
    ]
    if absent_s >= _CHEAP_S:
        notes.append("On this mount fetch.unpackLimit=1 keeps what is fetched as a pack, and spares these checks.")
    return tuple(notes)
