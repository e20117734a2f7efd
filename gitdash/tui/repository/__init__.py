"""One repository: the detail pane beside the table, and the screen with a tab for each kind of fact."""
