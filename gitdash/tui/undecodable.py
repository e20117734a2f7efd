"""Input that cannot be read is replaced or passed over, and ends nothing.

Textual 8.2.8 decodes what the terminal sends strictly (`LinuxDriver.run_input_thread`), so that one byte of a Latin-1
paste or of an old mouse report would end the program. So would a key in the longer form of the kitty keyboard protocol
(https://sw.kovidgoyal.net/kitty/keyboard-protocol/), which says after a colon what other key stands in the same place,
or whether it was pressed, repeated or released. Look at both again whenever the pin of Textual moves.
"""

import codecs
import re
from functools import partial
from typing import Final

from textual import events
from textual._xterm_parser import XTermParser
from textual.drivers import linux_driver
from typing_extensions import override

_LONGER_FORM: Final = re.compile(r"(\x1b\[\d*)(?::\d*)*(?:(;\d*)(?::(\d*))?)?")
_RELEASED: Final = "3"


def tolerant_decoder(encoding: str) -> "partial[codecs.IncrementalDecoder]":
    """Return what makes a decoder that turns each undecodable byte into U+FFFD."""
    return partial(codecs.getincrementaldecoder(encoding), errors="replace")


class TolerantParser(XTermParser):
    """Reads each key by the first number of its field; a key that was released, or cannot be read, is none."""

    @override
    def _parse_extended_key(self, sequence: str) -> list[events.Key] | None:  # type: ignore[override]
        match = _LONGER_FORM.match(sequence)
        if match is None:
            return None
        if match[3] == _RELEASED:
            return []
        try:
            return super()._parse_extended_key((match[1] or "") + (match[2] or "") + sequence[match.end() :])
        except (ValueError, OverflowError):
            return []


def replace_undecodable_input() -> None:
    """Let Textual's driver use tolerant readers; doing so again changes nothing."""
    linux_driver.getincrementaldecoder = tolerant_decoder  # type: ignore[attr-defined, assignment]
    linux_driver.XTermParser = TolerantParser  # type: ignore[attr-defined]
