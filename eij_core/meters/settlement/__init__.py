"""Whose Joules are these: a counter's energy divided over the applications."""
