"""Figures of lenders as text: sums over members that may lack some, and what is paid instead of saved. Pure."""

from gitdash.export.columns import ABSENT, PENDING, UNMEASURED
from gitdash.export.pools import KnownSum, PoolRow, cost_text
from gitdash.tui.drawing.cells import STATE_TONES, Piece, Tone
from gitdash.units import human_bytes, human_count


def sum_text(total: KnownSum) -> str:
    """Return a sum over members, marked where it is not exact; blank if no member has the figure yet."""
    if not total.known_count:
        return UNMEASURED if total.unknown_count else ABSENT
    return total.bound.sign + human_bytes(total.bytes)


def net_text(row: PoolRow) -> str:
    """Return what a lender saves, less its own objects if it is there for nothing else, or what it costs.

    Blank where more of its members may turn a cost into a saving once they are measured.
    """
    if row.net_bytes is None:
        return UNMEASURED if row.members else ABSENT
    if row.net_bytes >= 0:
        return row.saved.bound.sign + human_bytes(row.net_bytes)
    return UNMEASURED if row.saved.unknown_count else f"costs {cost_text(row.net_bytes, row.saved.bound)}"


def members_text(row: PoolRow) -> str:
    """Return how many borrow from a lender, and how many more through others: `12`, `12 +3`."""
    if not row.members and not row.indirect_member_count:
        return ABSENT
    indirect = f" +{human_count(row.indirect_member_count)}" if row.indirect_member_count else ""
    return human_count(len(row.members)) + indirect


def state_piece(row: PoolRow) -> Piece:
    """Return how a lender is in one word; what was not scanned has no state but where it is."""
    if not row.exists:
        return Piece("missing", Tone.CRITICAL)
    if row.summary is None:
        return Piece(PENDING, Tone.DIM) if row.is_known else Piece("outside", Tone.NOTICE)
    return Piece(row.state.value, STATE_TONES[row.state])


def store_name(path: str) -> str:
    """Return the path of an object store for people: that of its repository, as far as one can tell."""
    return path.removesuffix("/objects") or path
