"""Problems: fitness of bit strings, maximised."""

from . import ecc, external, knapsack, nk

__all__ = ["ecc", "external", "knapsack", "nk"]
