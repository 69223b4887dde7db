"""The dashboard of EI/J and its embeddable widgets.

>>> from eij_app import LiveRun  # doctest: +SKIP
>>> LiveRun("nk", "ils", budget="1 kJ")  # doctest: +SKIP

Importing this package imports nothing heavy and has no side effects: the server executes this file
a second time when it serves the folder.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .notebook.live_run import LiveRun
    from .views.decision import DecisionView
    from .views.energy import EnergyView
    from .views.estimates import EijView
    from .views.fitness import CompareView, FitnessView
    from .views.selection import SelectionView
    from .views.solution import SolutionView

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
    return getattr(importlib.import_module(".notebook.live_run", __name__), name)
