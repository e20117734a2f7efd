"""The SQL that writes rows of the state file, one statement for each kind of row.

Source: SQLite's "INSERT" and "UPSERT". What makes the tables is in `schema`; what is selected is in `store`, beside the
method that asks for it.
"""

from typing import Final

SAVE_REPOSITORY: Final = """INSERT INTO repositories
    (path, root, gitdash_version, fingerprint, valid_until_s, summary) VALUES (?, ?, ?, ?, ?, ?)
    ON CONFLICT (path) DO UPDATE SET root = excluded.root, gitdash_version = excluded.gitdash_version,
    fingerprint = excluded.fingerprint, valid_until_s = excluded.valid_until_s, summary = excluded.summary"""
SAVE_REPORT: Final = "INSERT OR REPLACE INTO reports (path, report) VALUES (?, ?)"
SAVE_SIZE: Final = """INSERT OR REPLACE INTO sizes
    (path, question, excluded_references, fingerprint, measurement, tips, pack_names) VALUES (?, ?, ?, ?, ?, ?, ?)"""
SAVE_LOAN: Final = (
    "INSERT OR REPLACE INTO loans (alternates, store, store_path, borrower, place) VALUES (?, ?, ?, ?, ?)"
)
END_LOAN: Final = "DELETE FROM loans WHERE alternates = ? AND store = ? AND place = ?"
SAVE_SEARCHED: Final = """INSERT INTO searched
    (path, real_path, place, is_whole) VALUES (?, ?, ?, ?)
    ON CONFLICT (path, real_path, place) DO UPDATE SET is_whole = max(is_whole, excluded.is_whole)"""
DROP_SEARCHED_BUT_LAST: Final = """DELETE FROM searched WHERE path = ?1 AND number NOT IN
    (SELECT number FROM searched WHERE path = ?1 ORDER BY number DESC LIMIT ?2)"""
DROP_SEARCHED: Final = "DELETE FROM searched WHERE path = ?"
SAVE_GIVEN_UP: Final = "INSERT OR IGNORE INTO given_up (git_dir, place) VALUES (?, ?)"
DROP_GIVEN_UP: Final = "DELETE FROM given_up WHERE git_dir = ? AND place = ?"
SAVE_PREFERENCE: Final = "INSERT OR REPLACE INTO preferences (name, value) VALUES (?, ?)"
SAVE_ACTION: Final = """INSERT OR REPLACE INTO actions
    (number, run, path, started_at_s, is_running, entry) VALUES (?, ?, ?, ?, ?, ?)"""
END_RUNNING_ACTION: Final = "UPDATE actions SET is_running = 0, entry = ? WHERE number = ? AND is_running = 1"
DROP_ACTIONS_BEFORE: Final = "DELETE FROM actions WHERE started_at_s < ?"
DROP_ACTIONS_BUT_LAST: Final = "DELETE FROM actions WHERE number <= (SELECT max(number) FROM actions) - ?"
SAVE_EXPERIMENT: Final = "INSERT INTO experiments (path, kind, result) VALUES (?, ?, ?)"
DROP_EXPERIMENTS_BUT_LAST: Final = (
    "DELETE FROM experiments WHERE number <= (SELECT number FROM experiments ORDER BY number DESC LIMIT 1 OFFSET ?)"
)
SAVE_COMPARISON: Final = """INSERT OR REPLACE INTO comparisons
    (path, question, fingerprint, comparison) VALUES (?, ?, ?, ?)"""
