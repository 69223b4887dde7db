"""Work behind a page: the controller of a run, jobs in threads, turns on the processor."""
