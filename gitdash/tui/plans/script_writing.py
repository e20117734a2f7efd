"""Asks for the name of a script and has it written; a file that is there is replaced only if asked for once more."""

import asyncio
import os
from typing import Final

from gitdash.tui.pages.name_screen import NameScreen
from gitdash.tui.plans.book import PlanBook
from gitdash.tui.plans.export import name_problem, script_name, write_script
from gitdash.tui.screen import DashboardScreen
from gitdash.units import printable, printable_path

_HINT: Final = "Goes to the current folder. Read it, then run it with sh. Facts are those of now."


class ScriptWriting:
    """Writes the plans of a screen."""

    def __init__(self, screen: DashboardScreen, book: PlanBook) -> None:
        self._screen = screen
        self._book = book
        self._replaced: str | None = None
        """The name of a file that is there: the same name again replaces it."""

    def begin(self) -> None:
        """Ask for a name, if there is anything to write."""
        context = self._screen.context
        if context.read_only and not context.hand_over.has_terminal:
            self._screen.say("Read-only in a browser: no file is written there where the server runs.")
            return
        if not self._book.script_plans():
            self._screen.say("There is nothing to write: no task is marked or refused.")
            return
        self._replaced = None
        self._ask(script_name(context.clock()), _HINT)

    def _ask(self, name: str, hint: str) -> None:
        page = NameScreen(
            "Write a shell script",
            hint,
            value=name,
            verb="write",
            problem_of=name_problem,
            question_for=lambda _name: None,
            take=self._take,
            shown_keys=self._screen.context.shown_keys,
        )
        self._screen.ask(page)

    def _take(self, name: str) -> None:
        self._screen.run_worker(self._write(name), exclusive=True)

    async def _write(self, name: str) -> None:
        """Write the script in a thread: the folder may be slow."""
        from gitdash.maintenance.script import shell_script

        plans, replaces = self._book.script_plans(), name == self._replaced
        try:
            path = await asyncio.to_thread(lambda: write_script(name, shell_script(plans), replaces=replaces))
        except FileExistsError:
            is_read_only = self._screen.context.read_only
            self._replaced = None if is_read_only else name
            more = "Choose another name." if is_read_only else "The same name once more replaces it."
            self._ask(name, f"There is {printable(name)} already. {more}")
        except OSError as error:
            self._screen.say(f"The script cannot be written: {printable(error.strerror or str(error))}.")
        else:
            self._screen.say(f"Wrote {printable_path(os.fsencode(path))}.")
