"""The comparisons of rules with the numbers filled in: whole numbers with commas, ages in seconds.

What is printed must hold as it is printed: an age is cut to whole seconds in the direction that keeps the comparison
true.
"""

import math
from typing import Literal


def figure(value: float) -> str:
    """Return a number in full: `1,024`, `1.8`, `1,999.3`; at most three decimals, from 10^15 on three digits."""
    if isinstance(value, int):
        return f"{value:,}"
    if abs(value) >= 1e15:
        return f"{value:.3g}"
    return f"{value:,.3f}".rstrip("0").rstrip(".")


def compared_ages(age_s: float, sign: Literal["<", ">=", ">"], limit_s: float, *, of: str = "age") -> str:
    """Return a comparison of an age with a limit, both in seconds: `age 7,200 s >= 3,600 s`."""
    if not float(limit_s).is_integer():
        return f"{of} {figure(age_s)} s {sign} {figure(limit_s)} s"
    whole_age_s = math.ceil(age_s) if sign == ">" else math.floor(age_s)
    return f"{of} {whole_age_s:,} s {sign} {figure(limit_s)} s"
