"""Selectors: which operator next, one rule a file."""

from . import eij, eij_plus, greedy, static, uniform

__all__ = ["eij", "eij_plus", "greedy", "static", "uniform"]
