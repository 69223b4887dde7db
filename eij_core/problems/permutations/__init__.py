"""Problems on permutations: tours, assignments, schedules; their costs are minimised."""
