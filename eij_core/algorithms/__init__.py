"""Algorithms: each with its state and its portfolio of operators."""

from . import ils, pso, ssga

__all__ = ["ils", "pso", "ssga"]
