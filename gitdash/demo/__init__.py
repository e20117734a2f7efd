"""The demo fleet: small repositories that show every finding, made in a moment and without network."""
