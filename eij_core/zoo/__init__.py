"""The zoo: small cases with a known answer, which show how much energy a rule wastes.

In each case one operator works at a fair price; the others are useless, overpriced or a trap by
construction, with every algorithm. A rule is judged by the Joules that it gives to those others,
and by its final fitness against the best single operator on the same seeds. Joules are simulated:
the prices of the paper's machine, times a factor that the case sets.
"""

from .cases import ALGORITHMS, BUDGETS, CASES, ZooPrices, cast
from .cells import Cell, frame_of_cells, observe, observe_at, places
from .visits import Visit, visit

__all__ = [
    "ALGORITHMS",
    "BUDGETS",
    "CASES",
    "Cell",
    "Visit",
    "ZooPrices",
    "cast",
    "frame_of_cells",
    "observe",
    "observe_at",
    "places",
    "visit",
]
