"""The screen of jobs: queued, running and ended."""
