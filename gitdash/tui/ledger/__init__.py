"""What the ledger says of fetches and maintenance, as lines for the screens of jobs and of a repository."""
