"""Measurements of gitdash against git itself, on fleets made here. Run `python -m benchmarks`."""
