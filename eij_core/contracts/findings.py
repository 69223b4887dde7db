"""What a check found wrong, one sentence for each hook."""

from __future__ import annotations

import contextlib
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np


class Findings:
    """Collects the first fault of each hook, as a sentence that begins with the hook.

    Examples
    --------
    >>> found = Findings()
    >>> found.expect(False, "flip", "returns 7, but the fitness is 12")
    >>> with found.calls("fitness"):
    ...     raise ValueError("no")
    >>> found.texts
    ['flip returns 7, but the fitness is 12', 'fitness raises ValueError: no']
    """

    def __init__(self) -> None:
        self._first: dict[str, str] = {}

    def expect(self, holds: bool, hook: str, fault: str) -> None:
        """Note the fault unless the condition holds."""
        if not holds:
            self._first.setdefault(hook, f"{hook} {fault}")

    @contextlib.contextmanager
    def calls(self, hook: str) -> Iterator[None]:
        """Turn what is raised inside into a fault of the hook."""
        try:
            # Random words wrap around on purpose; compiled code divides by zero silently.
            with np.errstate(all="ignore"):
                yield
        except Exception as error:
            place = traceback.extract_tb(error.__traceback__)[-1]
            named = not place.filename.startswith("<")
            where = f" ({Path(place.filename).name}, line {place.lineno})" if named else ""
            self.expect(False, hook, f"raises {type(error).__name__}: {error}{where}")

    @property
    def texts(self) -> list[str]:
        """The faults in words; none: the contract holds."""
        return list(self._first.values())


def same(a: Any, b: Any) -> bool:
    """Tell whether nested tuples with numbers, texts and arrays are equal; nan equals nan."""
    if isinstance(a, tuple):
        return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
    return bool(np.array_equal(a, b, equal_nan=np.asarray(a).dtype.kind == "f"))
