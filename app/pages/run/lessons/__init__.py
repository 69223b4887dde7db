"""Lessons: a question, a guess, a run, an answer."""
