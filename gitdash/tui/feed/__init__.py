"""Where the dashboard gets its rows from: a survey in threads, and what is asked for by keys."""
