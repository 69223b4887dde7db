"""Any Python function of a bit string as a problem; it runs interpreted."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Annotated, Any, NamedTuple

from ...engine.kernel import kernel
from ...errors import InputError, RunError
from ...imports import import_from_here
from ...registry import Code, Range, problems


@kernel
class External(NamedTuple):
    """A problem whose fitness is a plain Python function; runs interpreted.

    Examples
    --------
    >>> import numpy as np
    >>> External(3, lambda x: float(x.sum())).fitness(np.array([1, 0, 1], np.uint8))
    2.0
    """

    n: int
    function: Callable[[Any], float]
    optimum: float = math.nan

    @property
    def interpreted(self) -> bool:
        """Always true: numba cannot compile any function."""
        return True

    def fitness(self, x: Any) -> float:
        """Call the user's function; an exception in it becomes one line that names both."""
        try:
            return float(self.function(x))
        except Exception as error:
            name = f"{self.function.__module__}.{getattr(self.function, '__qualname__', '?')}"
            raise RunError(f"{name} raised {type(error).__name__}: {error}") from error


@problems.add("external", private=True)
def external(
    function: Annotated[str, Code(about="module.function, importable from where you are")],
    n: Annotated[int, Range(1, 1_000_000, "number of bits")] = 100,
) -> External:
    """Any Python function of a uint8 array: external:function=package.module.name,n=50."""
    module, _, name = function.rpartition(".")
    try:
        found = getattr(import_from_here(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise InputError("external:function", function, f"module.function ({error})") from error
    if not callable(found):
        raise InputError("external:function", function, "the name of a function")
    return External(n, found)
