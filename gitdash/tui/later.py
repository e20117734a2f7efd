"""Something that is done after a time, by the clock of the event loop.

Textual's own timers fire up to half a millisecond early, and one whose time is over before its task first looks at the
clock (a busy machine, another thread that has the interpreter) never fires. Who asks for no other timer until this one
fires would wait for ever. Nothing is repeated here: a timer of Textual that repeats makes up for both.
"""

import asyncio
from collections.abc import Callable

from textual.message_pump import MessagePump


def later(owner: MessagePump, delay_s: float, act: Callable[[], object]) -> asyncio.TimerHandle:
    """Have `act` called among the messages of `owner` after this time; not at all if `owner` is closed by then."""
    return asyncio.get_running_loop().call_later(delay_s, owner.call_later, act)
