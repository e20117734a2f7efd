"""Pages of lines that cover a screen: help, choices, lists."""
