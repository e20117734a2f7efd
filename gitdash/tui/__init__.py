"""The dashboard: a live table of every known repository, drawn with Textual."""
