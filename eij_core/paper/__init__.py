"""The paper's own experiment: its settings, its published tables, and ours beside them."""

from .agreement import beside
from .experiment import paper_campaign
from .published import FINAL_ENERGY, FINAL_FITNESS, METHODS, PROBLEMS, TRIALS, Published

__all__ = [
    "FINAL_ENERGY",
    "FINAL_FITNESS",
    "METHODS",
    "PROBLEMS",
    "TRIALS",
    "Published",
    "beside",
    "paper_campaign",
]
