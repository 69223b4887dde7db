"""Selectors: which operator next, one rule a file."""

from . import eij, greedy, static, uniform

__all__ = ["eij", "greedy", "static", "uniform"]
