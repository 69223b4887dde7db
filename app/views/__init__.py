"""Views: what is shown of a snapshot of a run, its plot, its words, its table."""
