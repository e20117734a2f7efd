"""The dashboard's application: opens screens, brings changes to them, and leaves.

It paints what is already known, and only then lets the survey begin. All texts that come from repositories are drawn by
views that parse no markup; toasts are given `markup=False`.
"""

import gc
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import ClassVar, Final

from textual import events
from textual.app import App, SystemCommand
from textual.binding import BindingType
from textual.filter import LineFilter
from textual.screen import Screen
from textual.theme import ThemeProvider
from typing_extensions import override

from gitdash.errors import ExitCode
from gitdash.export.columns import COLUMNS
from gitdash.model.experiment import ExperimentKind
from gitdash.model.finding import Finding
from gitdash.model.summary import RepositorySummary
from gitdash.tui.actions.action import Scope
from gitdash.tui.actions.declared import ACTIONS, bindings_of, is_offered
from gitdash.tui.clock import Clock
from gitdash.tui.context import Context
from gitdash.tui.drawing.filters import filters_for
from gitdash.tui.fleet.screen import FleetScreen
from gitdash.tui.flushing import FLUSH_INTERVAL_S, Flushing
from gitdash.tui.hand_over import HandOver
from gitdash.tui.keymap import make_keymap
from gitdash.tui.least_size import action_unseen, is_too_small
from gitdash.tui.memory import Memory
from gitdash.tui.notices import toast_texts
from gitdash.tui.options import Options
from gitdash.tui.pages.chooser import ChooserScreen
from gitdash.tui.pages.help import help_lines
from gitdash.tui.pages.page_screen import PageScreen
from gitdash.tui.palette import Palette, RepositoryProvider, ViewProvider
from gitdash.tui.repeated_key import RepeatedKey
from gitdash.tui.saved_views import ListedView, SavedViews
from gitdash.tui.screen import DashboardScreen
from gitdash.tui.source import Changes, FleetSource
from gitdash.tui.table.fleet import Fleet
from gitdash.tui.table.live import LiveFleet
from gitdash.tui.table.table import FleetTable
from gitdash.tui.terminal import stop_until_continued
from gitdash.tui.text_input import pasted_text
from gitdash.tui.themes import ANSI_THEME

TICK_INTERVAL_S: Final = 10.0
"""How often ages are drawn anew."""
_SETTLED_S: Final = 1.0
"""After this long all that was loaded is taken out of the garbage collector's sight."""


class Dashboard(App[int]):
    """The screens of one dashboard."""

    CSS_PATH = "app.tcss"  # type: ignore[mutable-override]
    TITLE = "gitdash"  # type: ignore[mutable-override]
    COMMANDS: ClassVar = App.COMMANDS | {RepositoryProvider, ViewProvider}
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of(Scope.EVERYWHERE)]

    def __init__(
        self,
        roots: Sequence[bytes],
        summaries: Iterable[RepositorySummary],
        source: FleetSource,
        clock: Clock,
        options: Options = Options(),  # noqa: B008 - it is frozen
        memory: Memory | None = None,
    ) -> None:
        """Take what is shown and with what; without `memory` nothing is remembered."""
        super().__init__()
        self.memory = memory or Memory(None)
        self._remembered = self.memory.choices()
        """What is written already."""
        self._chosen_theme = self._remembered.theme
        self._is_open = False
        self._has_terminal = options.has_terminal
        self._use_theme(options.theme)
        self._line_filters = filters_for(
            has_colours=not self.no_color, encoding=options.encoding, ascii_signs=options.ascii_signs
        )
        self.source = source
        self.clock = clock
        self.failure: Exception | None = None
        """Why the survey could not go on; the dashboard has ended because of it."""
        self.keymap = make_keymap(ACTIONS, options.keys)
        self._offered = [
            action
            for action in ACTIONS
            if is_offered(action, read_only=options.read_only, has_terminal=options.has_terminal)
        ]
        names = {action.name for action in self._offered}
        self.shown_keys = {name: shown for name, shown in self.keymap.shown.items() if shown and name in names}
        self.fleet = Fleet(COLUMNS)
        for summary in summaries:
            self.fleet.put(summary)
        self.fleet.arrange()
        self.table = FleetTable(self.fleet, now_s=clock())
        self.flushing = Flushing(self, self.flush)
        self.repeated_key = RepeatedKey()
        self.live = LiveFleet(self.fleet, self.table, source)
        self.context = Context(
            roots=roots,
            fleet=self.fleet,
            live=self.live,
            source=source,
            clock=clock,
            shown_keys=self.shown_keys,
            open_repository=self.open_repository,
            open_plans=self.open_plans,
            open_lab=self.open_lab,
            open_experiment=self.open_experiment,
            show_jobs=self.show_jobs,
            hand_over=HandOver(
                self,
                shell=options.shell,
                open_with=options.open_with,
                read_only=options.read_only,
                has_terminal=options.has_terminal,
            ),
            views=SavedViews(options.views, self.memory.views(), self.memory.note_view),
            remember=self.remember,
            read_only=options.read_only,
            fetch_options=options.fetch,
        )
        self.problems = (*self.keymap.problems, *self.context.views.problems)
        """What in the configuration of keys and views cannot be followed: sentences."""
        self.fleet_screen = FleetScreen(self.context, self.table, self.flushing)
        self.fleet_screen.restore(self._remembered)
        self._remembered = self.fleet_screen.choices(self._chosen_theme)

    @override
    def get_default_screen(self) -> Screen[object]:
        """Return the table of all repositories."""
        return self.fleet_screen  # type: ignore[return-value]

    @override
    def get_line_filters(self) -> Sequence[LineFilter]:
        """Return ours for terminals that show less, before Textual's."""
        return self._line_filters or super().get_line_filters()

    def _use_theme(self, asked_for: str | None) -> None:
        """Take the theme that is asked for, else the remembered one if there still is one of that name."""
        self.register_theme(ANSI_THEME)
        name = asked_for or self._remembered.theme
        if name in self.available_themes:
            self.theme = name

    def watch_theme(self, former: str, theme: str) -> None:
        """Remember a theme that a person has chosen."""
        if self._is_open and former != theme:
            self._chosen_theme = theme
            self.remember()

    def remember(self) -> None:
        """Have what a person has chosen written, if it is other than before."""
        choices = self.fleet_screen.choices(self._chosen_theme)
        if choices != self._remembered:
            self._remembered = choices
            self.memory.note_choices(choices)

    def on_mount(self) -> None:
        """Paint first, then begin to work."""
        declared = {action.name: action.keys for action in ACTIONS}
        changed = {name: keys for name, keys in self.keymap.keys.items() if keys != declared[name]}
        # Textual takes an empty text for no wish: an action without any key gets one that nobody can press.
        self.set_keymap({name: ",".join(keys) or "<none>" for name, keys in changed.items()})
        for problem in self.problems:
            self.notify(problem, title="Configuration", severity="warning", markup=False)
        self.call_after_refresh(self._begin)

    def _begin(self) -> None:
        self._is_open = True
        self.source.start(self.flushing.wake)
        # What is on screen is measured first.
        self.watch(self.table, "scroll_y", self.flushing.soon, init=False)
        self.flushing.soon()
        self.set_interval(TICK_INTERVAL_S, self._tick)
        # In a thread, so that keys have their turn meanwhile.
        threading.Thread(target=_preload, name="preload", daemon=True).start()
        self.set_timer(_SETTLED_S, _settle)

    def flush(self) -> None:
        """Show what happened since the last call."""
        if not self.screen_stack:
            # The application is being left.
            return
        changes = self.live.flush()
        again_s = self.live.next_flush_s()
        if not self.fleet_screen.panels.sum_up():
            again_s = FLUSH_INTERVAL_S
        if again_s is not None:
            self.flushing.within(again_s)
        if changes is None:
            return
        if changes.failure is not None:
            self.failure = changes.failure
            self.exit(ExitCode.WRONG_USE)
            return
        self.context.take_in(changes)
        for text in toast_texts(changes.notices):
            self.notify(text, severity="warning", markup=False)
        self._show(changes)

    def _tick(self) -> None:
        self._show(None)

    def _show(self, changes: Changes | None) -> None:
        for screen in self.screen_stack:
            if isinstance(screen, DashboardScreen | PageScreen):
                screen.show_changes(changes)

    @override
    async def on_event(self, event: events.Event) -> None:
        """Let nobody act unseen or by a press too many, and clean what is pasted before any input gets it."""
        if isinstance(event, events.Key) and not event.is_forwarded and self._is_too_many(event.key):
            return
        if isinstance(event, events.Key | events.Paste) and not event.is_forwarded and is_too_small(self.size):
            key = event.key if isinstance(event, events.Key) else None
            action = action_unseen(self.screen, key, self.keymap.keys)
            if action != "":
                await self._act_unseen(action)
                return
        if isinstance(event, events.Paste) and not event.is_forwarded:
            event.text = pasted_text(event.text)
        await super().on_event(event)

    def _is_too_many(self, key: str) -> bool:
        return self.repeated_key.is_dropped(key, time.monotonic())

    async def _act_unseen(self, action: str | None) -> None:
        if action is not None:
            await self.run_action(action, self.screen)

    def on_key(self, event: events.Key) -> None:
        """Let an input have what is its own, before keys are looked up."""
        if isinstance(self.screen, DashboardScreen) and self.screen.takes_typed(event):
            event.prevent_default()

    def open_repository(self, path: bytes, *, tab: str = "overview") -> None:
        """Open the screen of a repository on a tab."""
        # Imported when it is opened: the first paint does not wait for it.
        from gitdash.tui.repository.screen import RepositoryScreen

        self._push(RepositoryScreen(self.context, path, tab=tab))

    def open_plans(self, paths: Sequence[bytes], *, finding: Finding | None = None) -> None:
        """Open the screen of plans; the cursor begins on what a finding wants done."""
        from gitdash.tui.plans.screen import PlansScreen

        self._push(PlansScreen(self.context, paths, finding=finding))

    def open_lab(self, path: bytes) -> None:
        """Open the screen of experiments on a repository."""
        from gitdash.tui.lab.screen import LabScreen

        self._push(LabScreen(self.context, path))

    def open_experiment(self, path: bytes, kind: ExperimentKind) -> None:
        """Open the screen of one experiment."""
        from gitdash.tui.lab.experiment_screen import ExperimentScreen

        self._push(ExperimentScreen(self.context, path, kind))

    def action_show_pools(self) -> None:
        """Open the screen of lenders."""
        from gitdash.tui.pools.screen import PoolsScreen

        self._push(PoolsScreen(self.context))

    def action_show_jobs(self) -> None:
        """Open the screen of jobs."""
        self.show_jobs(None)

    def show_jobs(self, after: int | None) -> None:
        """Open the screen of jobs; the cursor goes to the first fetch or maintenance that is asked for after a job."""
        from gitdash.tui.jobs.screen import JobsScreen

        self._push(JobsScreen(self.context, after=after))

    def _push(self, screen: DashboardScreen) -> None:
        """Open a screen, in place of one of its kind that is open already."""
        self.call_next(self._push_now, screen)

    async def _push_now(self, screen: DashboardScreen) -> None:
        if type(self.screen) is type(screen):
            await self.switch_screen(screen)
        else:
            await self.push_screen(screen)

    def action_help(self) -> None:
        """Show the help page of this screen."""
        screen = self.screen
        scope = screen.SCOPE if isinstance(screen, DashboardScreen | ChooserScreen) else Scope.PAGE
        columns = tuple((column.key, column.help) for column in COLUMNS)
        page = PageScreen("Help", partial(help_lines, scope, self.shown_keys, columns), self.shown_keys)
        self.call_next(partial(self.push_screen, page))

    def go_to(self, path: bytes) -> None:
        """Close what covers the table and put the cursor on a repository."""
        self.call_next(self._on_table, partial(self.fleet_screen.go_to, path))

    def listed_views(self) -> Sequence[ListedView]:
        """Return all views in the order of their keys."""
        return self.context.views.listed()

    def open_view(self, number: int) -> None:
        """Close what covers the table and show a view, counted from 0."""
        self.call_next(self._on_table, partial(self.fleet_screen.action_open_view, number))

    async def _on_table(self, act: Callable[[], None]) -> None:
        while len(self.screen_stack) > 1:
            await self.pop_screen()
        act()

    @override
    def search_themes(self) -> None:
        """Open the palette of themes; Textual's own does not stand every burst of keys."""
        self.call_next(partial(self.push_screen, Palette([ThemeProvider], placeholder="Search for themes")))

    @override
    def action_command_palette(self) -> None:
        """Open the palette."""
        if not isinstance(self.screen, Palette):
            self.call_next(partial(self.push_screen, Palette(id="--command-palette")))

    @override
    async def action_quit(self) -> None:
        """Leave."""
        self.exit(ExitCode.DONE)

    @override
    def action_suspend_process(self) -> None:
        """Stop, with whatever else the shell runs in the foreground for us: `git dash` has git wait for us.

        The terminal is given back first: once git has stopped, the shell takes it, and who writes then is stopped.
        """
        if self.is_headless or not self._has_terminal:
            self.notify("There is no shell to go back to: the dashboard is drawn elsewhere.", markup=False)
            return
        with self.suspend():
            stop_until_continued()

    def action_interrupt(self) -> None:
        """Leave as if interrupted."""
        self.exit(ExitCode.INTERRUPTED)

    @override
    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """Return the palette's entries: our actions, and of Textual's own the choice of a theme.

        Its others are ours by another name, do nothing here, or write a file to a folder that may not exist.
        """
        scope = screen.SCOPE if isinstance(screen, DashboardScreen) else Scope.PAGE
        for action in self._offered:
            target = screen if scope in action.scopes else self if Scope.EVERYWHERE in action.scopes else None
            if action.in_palette and target is not None:
                yield SystemCommand(action.title, action.help, partial(self.run_action, action.command, target))
        # Of one provider's making, as all that stands there before anything is typed: Textual keeps providers in a set,
        # and what several of them have would stand in another order each time.
        yield SystemCommand("Go to a repository or a view", "Type a part of its name.", lambda: None)
        for command in super().get_system_commands(screen):
            if command.title == "Theme":
                yield command


def _preload() -> None:
    """Load what the first key would wait for: opening a repository finds it imported."""
    import gitdash.tui.repository.screen  # noqa: F401 - for the effect


def _settle() -> None:
    """Take all that is loaded out of the garbage collector's sight: a full pass of it over that would be felt."""
    gc.collect()
    gc.freeze()
