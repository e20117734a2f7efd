"""Fetches that a person starts: at once, or after choosing how."""
