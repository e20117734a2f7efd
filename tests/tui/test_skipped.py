"""What was skipped and why: the page behind the count in the title line."""

from gitdash.model.repository import NotRepository
from gitdash.tui.pages.skipped import skipped_lines

CANDIDATES = (
    NotRepository(path=b"/srv/git/z.git", reason="an empty folder"),
    NotRepository(path=b"/srv/git/\x1b[2J[/]", reason="permission denied"),
)


def _text(candidates: tuple[NotRepository, ...], *, is_complete: bool = True) -> str:
    lines = skipped_lines(candidates, 70, is_complete=is_complete)
    return "\n".join("".join(piece.text for piece in line) for line in lines)


def test_every_candidate_stands_with_its_reason_in_the_order_of_paths() -> None:
    text = _text(CANDIDATES)
    assert text.startswith(" 2 folders and files were skipped: no repositories")
    assert text.index("permission denied") < text.index("/srv/git/z.git") < text.index("an empty folder")


def test_names_of_candidates_are_printable() -> None:
    assert "/srv/git/\\x1b[2J[/]" in _text(CANDIDATES)


def test_page_says_that_the_search_goes_on_or_that_there_is_none() -> None:
    assert "skipped so far" in _text(CANDIDATES, is_complete=False)
    assert "Nothing was skipped so far." in _text((), is_complete=False)
    assert "Nothing was skipped." in _text(())
    assert "1 folder or file was skipped" in _text(CANDIDATES[:1])
