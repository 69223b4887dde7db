"""Problems: what is optimised, a folder for each space."""

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
from .permutations import flowshop, flowshop_file, qap, qap_file, tsp, tsp_file
from .reals import classics, ioh

__all__ = [
    "classics",
    "ecc",
    "external",
    "files",
    "flowshop",
    "flowshop_file",
    "ioh",
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
    "qap",
    "qap_file",
    "qubo",
    "trap",
    "tsp",
    "tsp_file",
]
