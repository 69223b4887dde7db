"""The zoo: small cases with a known answer, which show who wastes energy.

In each case one operator works at a fair price and the rest is useless, overpriced or a trap by
construction, on every algorithm alike. A rule is judged by the Joules it gives to them and by the
fitness it ends with, against the best single operator on the same seeds. Joules are simulated: the
prices of the paper's machine, times a factor that the case sets.
"""

from .cases import ALGORITHMS, BUDGETS, CASES, Case, Part, ZooPrices, cast
from .cells import Cell, Estimate, observe, visit_all
from .tables import frame_of_cells, heat_map
from .visits import KNOWLEDGE, Knowledge, Visit, visit

__all__ = [
    "ALGORITHMS",
    "BUDGETS",
    "CASES",
    "KNOWLEDGE",
    "Case",
    "Cell",
    "Estimate",
    "Knowledge",
    "Part",
    "Visit",
    "ZooPrices",
    "cast",
    "frame_of_cells",
    "heat_map",
    "observe",
    "visit",
    "visit_all",
]
