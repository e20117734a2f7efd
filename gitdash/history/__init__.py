"""What gitdash remembers between runs, and conditions over rows: the only user of SQLite."""
