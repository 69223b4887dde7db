"""Algorithms: each with its state and its portfolio of operators."""

from . import ils, ils_moves, pso, ssga, ssga_crossovers

__all__ = ["ils", "ils_moves", "pso", "ssga", "ssga_crossovers"]
