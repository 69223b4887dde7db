"""Problems: fitness of bit strings, maximised."""

from . import ecc, knapsack, nk

__all__ = ["ecc", "knapsack", "nk"]
