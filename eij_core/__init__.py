"""EI/J: optimisation under a budget in Joules.

>>> from eij_core import Trial, solve
>>> result = solve(Trial("nk:n=20,k=3", "ils", budget="20 J", seed=7), compiled=False)
>>> [total.name for total in result.operators]
['flip-1', 'flip-5']
"""

from .budget import Budget
from .errors import EijError, InputError, InstanceError, MeterUnavailable
from .kernel import kernel
from .records import Belief, Forecast, Hints, Outcome
from .registry import Range, Registry, Spec
from .result import Result
from .run import Block, Run, RunError, solve
from .trial import Trial

__version__ = "0.1.0"

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
    "Spec",
    "Trial",
    "kernel",
    "solve",
]
