"""Lines of pieces: how text becomes cells and colours. Knows nothing of repositories beyond their rows."""
