"""Every key of the configuration file with what it means, declared once: the README shows this table.

Source: `settings` and `model.policy`, whose fields these are; a test holds that none is missing here. Does not parse.
"""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class SettingKey:
    """One key."""

    name: str
    """With its table, as in an error message: `scan.exclude`; `root.path` for a key of `[[root]]`."""
    meaning: str
    """One sentence, with the unit."""


SETTING_KEYS: Final = (
    SettingKey("roots", "Folders that are opened if none is given on the command line; absolute, or from `~`."),
    SettingKey("scan.exclude", "Folders that are not searched: a name pattern, or with a slash a path pattern."),
    SettingKey("scan.depth", "Folders deeper than this below a root are not looked at; not set is no limit."),
    SettingKey("scan.one_file_system", "Do not search other file systems that are mounted below a root."),
    SettingKey("scan.workers", "Processes that read repositories; not set is one for each processor."),
    SettingKey("scan.time_limit_s", "The most seconds that reading one repository may take."),
    SettingKey("git.program", "The git to run: a path or a name; not set is the first on PATH."),
    SettingKey("git.memory_limit_bytes", "Bytes of data that one git process may allocate."),
    SettingKey("size.strategy", "How reachable sizes are measured: `auto`, `bitmap`, `walk` or `union`."),
    SettingKey("size.time_limit_s", "The most seconds that one size query may take."),
    SettingKey("size.workers", "Size queries that run at the same time."),
    SettingKey("jobs.limit", "Fetches, maintenance and measurements that run at the same time."),
    SettingKey("jobs.limit_per_host", "Fetches from one host that run at the same time."),
    SettingKey("jobs.limit_per_volume", "Repositories of one file system that are maintained at the same time."),
    SettingKey("jobs.host_pause_s", "Seconds between two starts on one host; doubled each time that the host refuses."),
    SettingKey("fetch.protocols", "What a remote may be fetched by, of `https`, `ssh`, `http`, `git` and `file`."),
    SettingKey(
        "fetch.alternate_refs",
        "Whether a member offers its lender's references to the server: `auto`, `suppress` or `use`.",
    ),
    SettingKey("fetch.time_limit_s", "The most seconds that one fetch may take; one that is stopped starts anew."),
    SettingKey("maintenance.time_limit_s", "The most seconds that one command of a task may take."),
    SettingKey("root.path", "A folder; the other keys of this `[[root]]` hold for everything below it."),
    SettingKey("root.trust_owner", "Take repositories that another user owns for trusted."),
    SettingKey("root.exclude", "More folders that are not searched, below this root alone."),
    SettingKey("root.policy", "Thresholds that differ from `[policy]` below this root."),
    SettingKey("dashboard.theme", "Colour theme; not set is the one chosen last."),
    SettingKey("dashboard.mouse", "Take clicks and the wheel; `false` leaves the mouse to the terminal."),
    SettingKey(
        "dashboard.glyphs", "Lines and signs: `unicode`, `ascii`, or `auto`, which goes by the terminal's encoding."
    ),
    SettingKey("dashboard.read_only", "Offer nothing that changes a repository."),
    SettingKey("dashboard.shell", "Program that `!` starts in a repository; not set is `$SHELL`."),
    SettingKey("dashboard.open_with", "Programs that `o` opens a repository with: the first that is installed."),
    SettingKey(
        "keys.ACTION", "The key for an action, or a list of keys: `F`, `ctrl+f`, `f5`, `space`, `/`; `[]` is none."
    ),
    SettingKey("view.name", "Name of a saved view; the other keys of this `[[view]]` say what it shows."),
    SettingKey("view.filter", "What the filter line would hold: words, or an SQL condition after `=`."),
    SettingKey("view.sort", "Column to sort by; `-` before it turns the order round."),
    SettingKey("view.columns", "Columns, in their order."),
    SettingKey("view.group", "How rows are grouped: `none`, `root`, `pool`, `state` or `findings`."),
    SettingKey("policy.loose_limit", "More loose objects than this are a finding."),
    SettingKey("policy.loose_stale_age_s", "Seconds after which a loose object is stale."),
    SettingKey("policy.loose_stale_limit", "More stale loose objects than this are a finding."),
    SettingKey("policy.packs_outside_midx_minimum", "So many packs outside the multi-pack-index are always allowed."),
    SettingKey(
        "policy.packs_outside_midx_log_base", "Allowed beyond it: ln(pack MiB) / ln(this); larger allows fewer."
    ),
    SettingKey("policy.pack_limit", "More packs than this slow every look-up."),
    SettingKey("policy.loose_references_minimum", "So many loose references are always allowed."),
    SettingKey(
        "policy.loose_references_log_base", "Allowed beyond it: ln(packed bytes / 100) / ln(this); larger allows fewer."
    ),
    SettingKey("policy.reftable_factor", "Each reftable must be at least so many times the next one."),
    SettingKey("policy.lock_age_s", "Seconds after which a lock of config, HEAD, alternates or an index is stale."),
    SettingKey("policy.reference_lock_age_s", "Seconds after which a lock of references or the index is stale."),
    SettingKey("policy.gc_pid_age_s", "Seconds for which a `gc.pid` counts as a running gc."),
    SettingKey("policy.gc_log_age_s", "Seconds for which a `gc.log` stops automatic gc."),
    SettingKey("policy.keep_age_s", "Seconds after which a `.keep` file of a transfer is stale."),
    SettingKey("policy.temporary_file_age_s", "Seconds after which a temporary file is left over."),
    SettingKey("policy.temporary_directory_age_s", "Seconds after which a temporary object folder is left over."),
    SettingKey("policy.empty_reference_age_s", "Seconds after which an empty loose reference is damage."),
    SettingKey("policy.duplicate_notice_bytes", "More bytes than this that a lender has too are a finding."),
    SettingKey(
        "policy.commit_graph_minimum_objects", "With fewer objects a repository does without commit-graph and bitmap."
    ),
    SettingKey("policy.large_object_count", "From so many objects on, a missing commit-graph or bitmap weighs more."),
    SettingKey("policy.loose_references_warning_count", "So many loose references are a warning."),
    SettingKey("policy.temporary_warning_bytes", "Temporary files of so many bytes are a warning; fewer are a notice."),
)
