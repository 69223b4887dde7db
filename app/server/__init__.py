"""The web server of the pages: admission, limits, the heartbeat, the opening, the shell."""
