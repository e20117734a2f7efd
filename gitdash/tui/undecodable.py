"""Input that is not UTF-8 is replaced and ends nothing.

Textual 8.2.8 decodes what the terminal sends strictly (`LinuxDriver.run_input_thread`), so that one byte of a Latin-1
paste or of an old mouse report would end the program. Look at it again whenever the pin of Textual moves.
"""

import codecs
from functools import partial

from textual.drivers import linux_driver


def tolerant_decoder(encoding: str) -> "partial[codecs.IncrementalDecoder]":
    """Return what makes a decoder that turns each undecodable byte into U+FFFD."""
    return partial(codecs.getincrementaldecoder(encoding), errors="replace")


def replace_undecodable_input() -> None:
    """Let Textual's driver use tolerant decoders; doing so again changes nothing."""
    linux_driver.getincrementaldecoder = tolerant_decoder  # type: ignore[attr-defined, assignment]
