"""What values a threshold may have, beyond its type."""

import math
from typing import Final

import msgspec

from gitdash.model.policy import Policy

_LOG_BASES: Final = frozenset({"packs_outside_midx_log_base", "loose_references_log_base"})


def policy_problem(policy: Policy) -> str | None:
    """Return the first threshold that no rule can work with, as a clause that starts with its name; None if all can."""
    for name, value in msgspec.structs.asdict(policy).items():
        if not math.isfinite(value) or value < 0:
            return f"{name} is {value}, which is not a number from 0 on"
        if name in _LOG_BASES and value <= 1:
            return f"{name} is {value}, and the base of a logarithm must be above 1"
    if policy.reftable_factor < 1:
        return f"reftable_factor is {policy.reftable_factor}, and must be 1 or more"
    return None
