"""The dashboard of EI/J and its embeddable widgets.

>>> from app import LiveRun  # doctest: +SKIP
>>> LiveRun("nk", "ils", budget="1 kJ")  # doctest: +SKIP

Importing this package imports nothing heavy and has no side effects: the server executes this file
a second time when it serves the folder.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from app.notebook.live_run import LiveRun
    from app.views.decision import DecisionView
    from app.views.energy import EnergyView
    from app.views.estimates import EijView
    from app.views.fitness import CompareView, FitnessView
    from app.views.selection import SelectionView
    from app.views.solution import SolutionView

__all__ = [
    "CompareView",
    "DecisionView",
    "EijView",
    "EnergyView",
    "FitnessView",
    "LiveRun",
    "SelectionView",
    "SolutionView",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    # It has them all, and importing it tells views how a notebook shows them.
    return getattr(importlib.import_module("app.notebook.live_run"), name)
