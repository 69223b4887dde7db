"""The names that an author of components needs; `eij_core` itself has those of a user.

>>> from typing import NamedTuple
>>> from eij_core import Trial, solve
>>> from eij_core.components import check_component, kernel
>>> @kernel
... class OneMax(NamedTuple):
...     n: int
...
...     def fitness(self, x):
...         return float(x.sum())
>>> check_component(OneMax(20))
[]
>>> solve(Trial(OneMax(20), meter="model", budget="20 J"), compiled=False).best.fitness
20.0
"""

from .algorithms.plain import PlainOperator
from .contracts import check_component
from .engine.kernel import kernel
from .engine.rng import (
    all_miss_of,
    below,
    draw_distinct,
    fill_bits,
    fill_uniforms,
    normal,
    normals,
    skip,
    streams_for,
    uniform,
    word,
)
from .errors import InputError, MeterUnavailable
from .imports import import_components
from .protocols import (
    Algorithm,
    Belief,
    Decision,
    EnergyInfo,
    Forecast,
    Hints,
    Operator,
    Outcome,
    Problem,
    Provenance,
    Selector,
    State,
)
from .registry import (
    Digest,
    Range,
    Registry,
    Spec,
    algorithms,
    meters,
    operators,
    problems,
    selectors,
)
from .selectors.shared.choice import decide

__all__ = [
    "Algorithm",
    "Belief",
    "Decision",
    "Digest",
    "EnergyInfo",
    "Forecast",
    "Hints",
    "InputError",
    "MeterUnavailable",
    "Operator",
    "Outcome",
    "PlainOperator",
    "Problem",
    "Provenance",
    "Range",
    "Registry",
    "Selector",
    "Spec",
    "State",
    "algorithms",
    "all_miss_of",
    "below",
    "check_component",
    "decide",
    "draw_distinct",
    "fill_bits",
    "fill_uniforms",
    "import_components",
    "kernel",
    "meters",
    "normal",
    "normals",
    "operators",
    "problems",
    "selectors",
    "skip",
    "streams_for",
    "uniform",
    "word",
]
