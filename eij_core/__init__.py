"""EI/J: optimisation under a budget in Joules.

>>> from eij_core import Trial, solve
>>> result = solve(Trial("nk:n=20,k=3", "ils", budget="20 J", seed=7), compiled=False)
>>> [total.name for total in result.operators]
['flip-1', 'flip-5']

These are the names of a user. Those of an author of components live in `eij_core.components`; the
most frequent of them (`kernel`, `Outcome`, `Forecast`, `Hints`, `Belief`, `Range`, `Registry`) can
be imported from here too.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .budget import Budget
    from .engine.kernel import kernel
    from .errors import EijError, InputError, InstanceError, MeterUnavailable, RunError
    from .protocols import Belief, Forecast, Hints, Outcome
    from .registry import Range, Registry, Spec
    from .result import Block, Result
    from .run import Run
    from .scheduler import Scheduler
    from .solving import solve
    from .trial import Trial

__version__ = "0.2.0"

__all__ = [
    "Belief",
    "Block",
    "Budget",
    "EijError",
    "Forecast",
    "Hints",
    "InputError",
    "InstanceError",
    "MeterUnavailable",
    "Outcome",
    "Range",
    "Registry",
    "Result",
    "Run",
    "RunError",
    "Scheduler",
    "Spec",
    "Trial",
    "kernel",
    "solve",
]

_HOMES = (
    "errors", "budget", "registry", "trial", "protocols", "engine.kernel", "result", "run",
    "solving", "scheduler",
)  # fmt: skip
"""The modules of these names, from those that are quick to import to the slow ones."""


def __getattr__(name: str) -> Any:
    """Import a name at its first use: the compiler takes a second, which some never need."""
    for home in _HOMES if name in __all__ else ():
        module = importlib.import_module(f"{__name__}.{home}")
        if hasattr(module, name):
            return getattr(module, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
