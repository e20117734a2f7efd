"""The strategy of a size in words, for `size` and `show`."""

from gitdash.model.sizes import Strategy


def strategy_text(strategy: Strategy, *, has_bitmap: bool) -> str:
    """Return what was done: a bitmap that is asked for and not there makes git walk without a word."""
    if strategy is Strategy.BITMAP and not has_bitmap:
        return "bitmap (there is none, so git walked)"
    return strategy.value
