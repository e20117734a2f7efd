"""The tabs of the repository screen, in their order."""

from typing import Final

from gitdash.tui.repository.config import config_page
from gitdash.tui.repository.findings import finding_commands, findings_page
from gitdash.tui.repository.history import history_commands, history_page
from gitdash.tui.repository.log import log_page, logged_commands
from gitdash.tui.repository.objects import object_ids, objects_page
from gitdash.tui.repository.overview import overview_page
from gitdash.tui.repository.packs import packs_page
from gitdash.tui.repository.pool import pool_page, relative_path
from gitdash.tui.repository.references import references_page
from gitdash.tui.repository.view import Need, Tab

TABS: Final = (
    Tab(name="overview", title="Overview", compose=overview_page, help="The sizes, how they nest, and the main facts."),
    Tab(
        name="findings",
        title="Findings",
        compose=findings_page,
        help="What is wrong, why, and what fixes it.",
        commands=finding_commands,
    ),
    Tab(name="packs", title="Packs", compose=packs_page, help="Each pack, and how their sizes stand to each other."),
    Tab(
        name="pool",
        title="Pool",
        compose=pool_page,
        help="Lenders and borrowers, and what they share.",
        relative=relative_path,
    ),
    Tab(
        name="references",
        title="Refs",
        compose=references_page,
        help="References by namespace, loose and packed.",
        needs=(Need.NAMESPACES,),
    ),
    Tab(
        name="objects",
        title="Objects",
        compose=objects_page,
        help="What look-ups cost, and any object by its id.",
        commands=object_ids,
        needs=(Need.LOOKUP_TIMES,),
    ),
    Tab(name="config", title="Config", compose=config_page, help="What gitdash overrides here and why, and remotes."),
    Tab(
        name="log",
        title="Log",
        compose=log_page,
        help="Every git command that ran for this repository.",
        commands=logged_commands,
        needs=(Need.COMMANDS,),
    ),
    Tab(
        name="history",
        title="History",
        compose=history_page,
        help="What gitdash did here: fetches and maintenance, with before and after.",
        commands=history_commands,
        needs=(Need.ENTRIES,),
    ),
)
