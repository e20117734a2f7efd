"""Readers of git's files: pure functions over bytes. Only `FormatError` leaves them, for any bytes whatever."""
