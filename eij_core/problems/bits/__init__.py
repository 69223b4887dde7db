"""Problems on bit strings, and the readers of their files."""
