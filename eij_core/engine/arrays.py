"""Records of arrays, declared by their fields: one number, or one for each operator."""

from __future__ import annotations

from typing import Annotated, Any, TypeVar, get_type_hints

import numpy as np
from numpy.typing import NDArray

T = TypeVar("T")

# Each says how it is made for so many operators. A scalar that changes is an array of length one.
Numbers = Annotated[NDArray[np.float64], lambda operators: np.zeros(operators)]
Wholes = Annotated[NDArray[np.int64], lambda operators: np.zeros(operators, np.int64)]
Number = Annotated[NDArray[np.float64], lambda operators: np.zeros(1)]
Whole = Annotated[NDArray[np.int64], lambda operators: np.zeros(1, np.int64)]


def empty(record: type[T], operators: int, **known: Any) -> T:
    """Return a record before the first application: zeros, but for what is known.

    Examples
    --------
    >>> from typing import NamedTuple
    >>> class Tally(NamedTuple):
    ...     tries: Wholes
    ...     chance: Numbers
    >>> empty(Tally, 2, chance=np.array([0.5, 0.5]))
    Tally(tries=array([0, 0]), chance=array([0.5, 0.5]))
    """
    hints = get_type_hints(record, include_extras=True)
    made = {name: hint.__metadata__[0](operators) for name, hint in hints.items()}
    return record(**(made | known))
