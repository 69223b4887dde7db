"""Meters: what an application cost, in Joules, and how that is known."""

from . import cputime, detect, model, paper, perf, powercap, pyrapl, replay

__all__ = ["cputime", "detect", "model", "paper", "perf", "powercap", "pyrapl", "replay"]
