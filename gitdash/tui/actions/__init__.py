"""What a person can do, declared once: keys, key lines, help and command palette all derive from here."""
