"""Meters: what an application cost, in Joules, and how that is known."""

from . import model, paper, replay
from .counters import cputime, detect, perf, powercap, pyrapl

__all__ = ["cputime", "detect", "model", "paper", "perf", "powercap", "pyrapl", "replay"]
