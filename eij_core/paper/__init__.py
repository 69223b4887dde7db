"""The paper's own experiment: its settings, its published tables, and ours beside them."""

from .comparison import Cell, cells, compare, frame, trials
from .published import FINAL_ENERGY, FINAL_FITNESS, METHODS, PROBLEMS, TRIALS, Published

__all__ = [
    "FINAL_ENERGY",
    "FINAL_FITNESS",
    "METHODS",
    "PROBLEMS",
    "TRIALS",
    "Cell",
    "Published",
    "cells",
    "compare",
    "frame",
    "trials",
]
