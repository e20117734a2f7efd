"""The tab Pool: whom the repository borrows from and who borrows from it, as trees with what each shares. Pure."""

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import TypeAlias

from gitdash.export.family import Family
from gitdash.model.inspection import AlternatesFacts, Inspection
from gitdash.model.report import State
from gitdash.model.repository import Unreadable
from gitdash.model.saved import SavedSum
from gitdash.model.summary import RepositorySummary
from gitdash.tui.drawing.cells import Line, Piece, Tone, shorten_middle
from gitdash.tui.drawing.items import Page
from gitdash.tui.drawing.lazy_lines import LazyLines
from gitdash.tui.drawing.wrap import wrapped
from gitdash.tui.repository.family_tree import FamilyTable, TreeRow, problem_line, table_for, tree_rows
from gitdash.tui.repository.missing import missing_lines
from gitdash.tui.repository.view import RepositoryView, ago
from gitdash.units import counted, human_bytes, human_count, printable, printable_path

_Row: TypeAlias = Line | TreeRow | RepositorySummary


class _Rows:
    """The lines of the page, those of repositories not composed yet, and which of them are items."""

    def __init__(self) -> None:
        self.rows: list[_Row] = []
        self.items: list[int] = []
        self.names: list[Hashable] = []
        self._seen: Counter[bytes] = Counter()

    def add_lines(self, lines: Iterable[Line]) -> None:
        """Add lines that are ready."""
        self.rows.extend(lines)

    def add_tree(self, side: str, summary: RepositorySummary, rows: Iterable[TreeRow]) -> None:
        """Add the repository with a tree of relatives; those that are repositories of the survey are items."""
        self.rows.append(summary)
        for row in rows:
            relative = row.relative
            self.rows.append(row)
            if relative.summary is None:
                continue
            self._seen[relative.path] += 1
            self.items.append(len(self.rows) - 1)
            self.names.append((side, relative.path, self._seen[relative.path]))
            if relative.problem is not None or not relative.exists:
                self.rows.append(problem_line(row))


def pool_page(view: RepositoryView, width: int) -> Page:
    """Return the page; its items are the relatives that are repositories of the survey."""
    family = view.family()
    lenders, members = tree_rows(family.lenders), tree_rows(family.members)
    if not _has_family(view, family):
        return Page(_alone_lines(view, width))
    table = table_for(width, view.summary, [*lenders, *members])
    rows = _rows(view, family, lenders, members, width)
    lines = LazyLines([table.head()], rows.rows, lambda row: _line(row, table), table)
    return Page(lines, [number + 1 for number in rows.items], pinned=table.head(), names=rows.names)


def relative_path(view: RepositoryView, number: int) -> bytes | None:
    """Return the repository that an item stands for; None if there is no such item."""
    family = view.family()
    relatives = [one for one in (*family.lenders, *family.members) if one.summary is not None]
    return relatives[number].path if number < len(relatives) else None


def _line(row: _Row, table: FamilyTable) -> Line:
    if isinstance(row, RepositorySummary):
        return table.root(row)
    return table.relative(row) if isinstance(row, TreeRow) else row


def _has_family(view: RepositoryView, family: Family) -> bool:
    return bool(family.lenders or family.members or view.summary.borrower_count or view.summary.role != "plain")


def _rows(
    view: RepositoryView, family: Family, lenders: Sequence[TreeRow], members: Sequence[TreeRow], width: int
) -> _Rows:
    summary = view.summary
    rows = _Rows()
    if lenders or summary.is_member:
        rows.add_lines([[], *wrapped(_borrows_from(family), Tone.ACCENT, width)])
        rows.add_tree("lender", summary, lenders)
        rows.add_lines(_alternates_lines(view, width))
    if members or summary.borrower_count or summary.role.endswith("pool"):
        rows.add_lines([[], *wrapped(_lends_to(family), Tone.ACCENT, width)])
        rows.add_tree("member", summary, members)
        rows.add_lines(_unseen_lines(view, family, width))
    rows.add_lines([[], *wrapped(_caution(view, family), Tone.DIM, width)])
    return rows


def _borrows_from(family: Family) -> str:
    if not family.lenders:
        return "Borrows, but from whom is not known"
    nested_count = sum(lender.depth > 1 for lender in family.lenders)
    through = f", {human_count(nested_count)} of them through another" if nested_count else ""
    return f"Borrows from {counted(len(family.lenders), 'lender')}{through}"


def _lends_to(family: Family) -> str:
    members = {one.path: one.depth for one in reversed(family.members) if one.summary is not None}
    if not members:
        return "Lends to none of the repositories here"
    indirect_count = sum(depth > 1 for depth in members.values())
    through = f", {human_count(indirect_count)} of them through others" if indirect_count else ""
    return f"Lends to {counted(len(members), 'repository', 'repositories')}{through}{_saved(family)}"


def _saved(family: Family) -> str:
    """Return what those who borrow from it directly read from their lenders, if that is known of any."""
    saved = SavedSum()
    for one in family.members:
        if one.depth == 1 and one.summary is not None:
            saved.add_member(one.summary)
    return f", which saves {saved.bound.sign}{human_bytes(saved.bytes)}" if saved.known_count else ""


def _unseen_lines(view: RepositoryView, family: Family, width: int) -> Iterator[Line]:
    """Yield borrowers that are none of the repositories here; before the report has come, how many there are."""
    shown = {one.path for one in family.members}
    if view.report is None:
        if (count := view.summary.borrower_count - len(shown)) > 0:
            yield [Piece(f"    and {human_count(count)} that an earlier survey saw elsewhere", Tone.DIM)]
        return
    for path in view.report.borrowers:
        if path not in shown:
            words = "seen by an earlier survey"
            text = shorten_middle(printable_path(path), max(width - len(words) - 7, 20))
            yield [Piece(f"    {words}  ", Tone.NOTICE), Piece(text, Tone.PLAIN)]


def _alternates_lines(view: RepositoryView, width: int) -> list[Line]:
    """Return what there is to say of the alternates file."""
    inspection = view.report.inspection if view.report is not None else None
    facts = inspection.alternates if isinstance(inspection, Inspection) else None
    if facts is None:
        return []
    if isinstance(facts, Unreadable):
        return wrapped(f"! its objects/info/alternates cannot be read: {facts.reason}", Tone.CRITICAL, width, indent=3)
    lines = wrapped(_file_words(facts, view.now_s), Tone.DIM, width, indent=3)
    if facts.incomplete is not None:
        lines += wrapped(f"! lenders may be missing here: {printable(facts.incomplete)}", Tone.WARNING, width, indent=3)
    return lines


def _file_words(facts: AlternatesFacts, now_s: float) -> str:
    direct_count = sum(one.depth == 1 for one in facts.alternates)
    comments = f" and has {counted(facts.comment_count, 'comment line')}" if facts.comment_count else ""
    return (
        f"objects/info/alternates names {counted(direct_count, 'store') if direct_count else 'no store'}{comments},"
        f" written {ago(now_s - facts.mtime_s)}; relative paths in it count from `objects`."
    )


def _alone_lines(view: RepositoryView, width: int) -> list[Line]:
    """Return that it neither borrows nor lends, as far as that is known."""
    is_read = view.summary.inspected_at_s is not None and view.summary.state is not State.UNREADABLE
    if not is_read:
        return list(missing_lines(view, width))
    others = max(view.repository_count - 1, 0)
    sentence = (
        "It reads no objects from another repository, and none of the"
        f" {counted(others, 'other repository', 'other repositories')} here reads any from it."
    )
    return [[], *wrapped(sentence, Tone.PLAIN, width), *_alternates_lines(view, width)]


def _caution(view: RepositoryView, family: Family) -> str:
    among = counted(view.repository_count, "repository", "repositories")
    caution = f"Who borrows is known only among the {among} that were scanned here: git keeps no list of borrowers."
    return f"{caution} Look for others before a gc or prune here." if family.members else caution
