"""What `Scheduler` is made of: the rule by itself, a run without a loop, steps, checkpoints."""
