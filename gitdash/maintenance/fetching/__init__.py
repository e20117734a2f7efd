"""Timed fetches: from which remotes, with which arguments, what came of it. The repository's config chooses no program."""
