"""The command line: data to stdout, talk to stderr, an exit code with a meaning."""
