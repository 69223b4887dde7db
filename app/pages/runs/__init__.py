"""The page Runs: the runs of this server or of a folder, live, compared, kept."""
