"""The dashboard of EI/J and its embeddable widgets.

>>> from app import LiveRun  # doctest: +SKIP
>>> LiveRun("nk", "ils", budget="1 kJ")  # doctest: +SKIP

Nothing heavy is imported before a name is asked for, and importing has no side effects: the server
executes this file a second time when it serves the folder.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from app.notebook import LiveRun
    from app.views import (
        CompareView,
        DecisionView,
        EijView,
        EnergyView,
        FitnessView,
        SelectionView,
    )

__all__ = [
    "CompareView",
    "DecisionView",
    "EijView",
    "EnergyView",
    "FitnessView",
    "LiveRun",
    "SelectionView",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = "app.notebook" if name == "LiveRun" else "app.views"
    return getattr(importlib.import_module(home), name)
