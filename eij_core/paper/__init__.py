"""The paper's own experiment: its settings, its published tables, and ours beside them."""

from .agreement import beside
from .experiment import paper_campaign
from .published import FINAL_FITNESS, METHODS, PROBLEMS, TRIALS

__all__ = ["FINAL_FITNESS", "METHODS", "PROBLEMS", "TRIALS", "beside", "paper_campaign"]
