"""The screen of plans: what maintenance would do to repositories, why, and what speaks against it."""
