"""Inspections as msgpack: the part of `messages` that a worker needs only where something changed."""

import msgspec

from gitdash.model.inspection import Inspection
from gitdash.model.repository import Unreadable

encode = msgspec.msgpack.Encoder().encode
decode = msgspec.msgpack.Decoder(Inspection | Unreadable).decode
