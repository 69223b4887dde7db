"""Meters: what an application cost, in Joules, and how that is known."""

from . import model, paper

__all__ = ["model", "paper"]
