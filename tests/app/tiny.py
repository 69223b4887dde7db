"""Small interpreted problems: nothing to compile, so the page's tests start at once."""

import math
from typing import Any, NamedTuple

from eij_core.engine.kernel import kernel
from eij_core.registry import problems

PAYLOAD = "<img src=x onerror=window.hacked=1>"
TINY = {"algorithm": "ils:steps=4", "meter": "model", "problem": "tiny", "target": ""}


@kernel
class Tiny(NamedTuple):
    """Count the ones."""

    n: int = 24
    optimum: float = 24.0

    @property
    def interpreted(self) -> bool:
        return True

    def fitness(self, x: Any) -> float:
        return float(x.sum())


@kernel
class NotANumber(NamedTuple):
    """Starts well, then returns nan."""

    n: int = 24

    @property
    def interpreted(self) -> bool:
        return True

    def fitness(self, x: Any) -> float:
        return math.nan if x.sum() > 14 else float(x.sum())


@kernel
class Raises(NamedTuple):
    """Starts well, then raises with a payload in its message."""

    n: int = 24

    @property
    def interpreted(self) -> bool:
        return True

    def fitness(self, x: Any) -> float:
        if x.sum() > 14:
            raise ValueError(f"{PAYLOAD} in {__file__}")
        return float(x.sum())


def register() -> None:
    """Add the problems to the registry, once."""
    for name, problem in (("tiny", Tiny), ("not-a-number", NotANumber), ("raises", Raises)):
        if name not in problems:
            problems.add(name)(problem)


def forget() -> None:
    """Leave the registry as it was."""
    for name in ("tiny", "not-a-number", "raises"):
        problems.remove(name)
