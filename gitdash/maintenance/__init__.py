"""What changes repositories: plans with refusals (pure), and the running of fetches and maintenance under a lock."""
