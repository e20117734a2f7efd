"""What moves over a page of lines, on a screen of its own or over another."""

from gitdash.tui.drawing.items import ItemsView


class ItemsActions:
    """Actions of a screen that has items; Textual finds them by their names."""

    items: ItemsView

    def action_move_rows(self, distance: int) -> None:
        """Move the cursor, or the page."""
        self.items.move(distance)

    def action_move_half_pages(self, count: int) -> None:
        """Move by half pages."""
        self.items.move_half_pages(count)

    def action_move_to_end(self, is_end: bool) -> None:
        """Move to the first or the last."""
        self.items.move_to_end(is_end=is_end)
