"""Problems: fitness of bit strings, maximised."""

from .bits import (
    ecc,
    external,
    files,
    knapsack,
    labs,
    leading_ones,
    maxcut,
    maxsat,
    maxsat_file,
    mkp,
    mkp_file,
    nk,
    onemax,
    qubo,
    trap,
)

__all__ = [
    "ecc",
    "external",
    "files",
    "knapsack",
    "labs",
    "leading_ones",
    "maxcut",
    "maxsat",
    "maxsat_file",
    "mkp",
    "mkp_file",
    "nk",
    "onemax",
    "qubo",
    "trap",
]
