"""Algorithms: each with its state and its portfolio of operators."""

from . import ils, permutation_ga, permutation_ils, pso, ssga

__all__ = ["ils", "permutation_ga", "permutation_ils", "pso", "ssga"]
