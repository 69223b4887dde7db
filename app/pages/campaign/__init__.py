"""The Campaign page: many runs on equal Joules, and their report."""
