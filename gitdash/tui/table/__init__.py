"""The fleet table: rows and the view of them, groups, marks, and the widget that draws it."""
