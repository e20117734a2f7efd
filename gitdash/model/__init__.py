"""The nouns: frozen, slotted records without behaviour beyond what they are.

They are `msgspec.Struct`s and not dataclasses because they also cross the pipe to the inspection workers and lie in
the state file: decoding them checks every type, and unions such as `PackFacts | Unreadable | None`, which keep
"could not be read" apart from "is not there", can be told apart by a tag.

A field that can fail to be read has the type `X | Unreadable` (`| None` where it may be absent). Zero means zero.
Paths that name files are `bytes`, as the file system has them: they need not be UTF-8. They become text by
`units.printable_path` at the edge. All `str` fields are printable already: inspection passes them through
`units.printable`.
Times are seconds since the epoch (`_s` suffix, float) as `stat` gives them, and become UTC text at the edge.
"""
