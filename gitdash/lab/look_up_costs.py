"""What measured look-ups say: whether absence is remembered on a mount, and what a clone would pay for it. Pure.

Source of the counts: look-ups of git 2.39 as a FUSE file system saw them. A clone of 34,296 objects asked 282 times for
names below `objects` that were not there: once for each fan-out folder, and some for packs. A fetch that unpacked asked
five times for each object. Before git kept a list of each fan-out folder (git 2.21), a clone asked for each object.
"""

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from gitdash.units import fine_duration, human_count, human_duration

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


def clone_predictions(object_count: int, absent_s: float) -> tuple[Prediction, ...]:
    """Predict the look-ups of a clone, for each object and for each fan-out folder, and of a fetch that unpacks."""
    fetched_count = min(object_count, _UNPACK_LIMIT - 1)
    counts = (
        ("a clone with one check for each object", object_count),
        ("a clone with one check for each fan-out folder, as git makes it", _fan_out_folders(object_count)),
        (
            f"a fetch of {human_count(fetched_count)} objects that unpacks them, five checks for each",
            fetched_count * _UNPACK_LOOK_UPS,
        ),
    )
    return tuple(Prediction(title=title, look_up_count=count, cost_s=count * absent_s) for title, count in counts)


def _fan_out_folders(object_count: int) -> int:
    """Return in how many fan-out folders so many random ids fall, on average."""
    return round(_FAN_OUT_COUNT * (1 - (1 - 1 / _FAN_OUT_COUNT) ** object_count))


def found(medians_s: Mapping[str, float]) -> Remembrance | None:
    """Say what was found, by the medians of operations by name; None if a look-up was not measured."""
    absent_s, again_s = medians_s.get(ABSENT), medians_s.get(ABSENT_AGAIN)
    return None if absent_s is None or again_s is None else remembrance(absent_s, again_s)


def verdict(medians_s: Mapping[str, float]) -> str:
    """Say in one sentence whether absence is remembered."""
    what = found(medians_s)
    if what is None:
        return "No verdict: absent names were not looked up twice."
    first, again = (fine_duration(medians_s[name]) for name in (ABSENT, ABSENT_AGAIN))
    return f"{_VERDICTS[what]}: a look-up of an absent name takes {first}, asked again {again}."


def prediction_notes(object_count: int, medians_s: Mapping[str, float]) -> tuple[str, ...]:
    """Say what look-ups would cost with this repository's objects, and what to do where that is much."""
    absent_s = medians_s.get(ABSENT)
    if absent_s is None:
        return ()
    notes = [
        f"Predicted for {prediction.title}: {human_count(prediction.look_up_count)} look-ups of absent names,"
        f" {human_duration(prediction.cost_s)}."
        for prediction in clone_predictions(object_count, absent_s)
    ]
    if absent_s >= _CHEAP_S:
        notes.append("On this mount fetch.unpackLimit=1 keeps what is fetched as a pack, and spares these checks.")
    return tuple(notes)
