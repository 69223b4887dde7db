"""Problems: fitness of bit strings, maximised."""

from .bits import ecc, external, files, knapsack, nk

__all__ = ["ecc", "external", "files", "knapsack", "nk"]
