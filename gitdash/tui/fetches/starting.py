"""Has repositories fetched into, and says so; asks back before it is done to many of them."""

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from gitdash.tui.confirmation import Confirmation
from gitdash.tui.source import FleetSource

if TYPE_CHECKING:
    from gitdash.maintenance.fetching.options import FetchOptions

MANY: Final = 20
"""More repositories than this are not fetched into without asking."""


class Fetches:
    """What one screen starts."""

    def __init__(self, source: FleetSource, *, read_only: bool, jobs_key: str, say: Callable[[str], None]) -> None:
        """Take what is asked for fetches, the key that shows jobs, empty if it has none, and what shows answers."""
        self._source = source
        self._read_only = read_only
        self._jobs_key = jobs_key
        self._say = say
        self._confirmation = Confirmation()

    def are_refused(self, paths: Sequence[bytes]) -> bool:
        """Say why nothing can be fetched, if so; returns whether it is."""
        if self._read_only:
            self._say("Read-only: nothing is fetched.")
        elif not paths:
            self._say("There is no repository under the cursor.")
        else:
            return False
        return True

    def start(self, paths: Sequence[bytes], what: str, options: "FetchOptions | None" = None) -> bool:
        """Fetch, into many repositories only if that is asked for twice; returns whether it is being done.

        `what` names the repositories. Printable.
        """
        if len(paths) > MANY and not self._confirmation.is_given((tuple(paths), options), time.monotonic()):
            self._say(f"Once more fetches into {what}.")
            return False
        self._source.fetch(paths, options)
        watched = f": {self._jobs_key} shows how far that is" if self._jobs_key else ""
        if options is not None and options.dry_run:
            self._say(f"Asking what a fetch would change in {what}{watched}.")
        else:
            self._say(f"Fetching into {what}{watched}.")
        return True
