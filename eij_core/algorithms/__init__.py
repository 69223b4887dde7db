"""Algorithms: each with its state and its portfolio of operators."""

from . import de, ils, permutation_ga, permutation_ils, pso, real_pso, ssga, tabu

__all__ = ["de", "ils", "permutation_ga", "permutation_ils", "pso", "real_pso", "ssga", "tabu"]
