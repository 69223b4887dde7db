"""What several commands share: options, tables, progress bars, signals, single trials."""
