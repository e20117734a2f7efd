"""Timed fetches: from which remotes, with which arguments, what came of it. No config of a repository has a say."""
