"""Arms: operators of a portfolio that have values of their own for some parameters.

With them a rule controls parameters: it learns which value buys the most improvement per Joule.
"""

from __future__ import annotations

import itertools
import math
import re
from typing import Any, NamedTuple

from ..engine.kernel import kernel
from ..errors import InputError, nearest
from ..protocols import ForecastingOperator, ProbingOperator
from ..registry import Parameter, parameters_of

FORM = "NAME@KEY=VALUE, or values from…to×how many, such as flips=0.25..2x4"
RANGE = re.compile(r"(.+?)\.\.(.+?)[x×]([0-9]{1,3})")
MOST = 64
"""Arms of one operator."""


@kernel
class Arm(NamedTuple):
    """An operator that is applied with an algorithm of its own values; it has no forecast."""

    inner: Any
    algorithm: Any
    """The algorithm with these values, without its portfolio."""
    label: str

    @property
    def name(self) -> str:
        """The name used everywhere: replace-1 @ flips 0.25."""
        return self.label

    def apply(self, algorithm: Any, problem: Any, state: Any, rng: Any) -> Any:
        """Apply the operator with the arm's values."""
        return self.inner.apply(self.algorithm, problem, state, rng)


@kernel
class ForecastArm(NamedTuple):
    """An arm whose operator knows its effort beforehand."""

    inner: Any
    algorithm: Any
    label: str

    @property
    def name(self) -> str:
        """The name used everywhere."""
        return self.label

    def forecast(self, algorithm: Any, problem: Any) -> Any:
        """Return what one application takes with the arm's values."""
        return self.inner.forecast(self.algorithm, problem)

    def apply(self, algorithm: Any, problem: Any, state: Any, rng: Any) -> Any:
        """Apply the operator with the arm's values."""
        return self.inner.apply(self.algorithm, problem, state, rng)


@kernel
class ProbedArm(NamedTuple):
    """An arm whose operator can be run on one candidate."""

    inner: Any
    algorithm: Any
    label: str

    @property
    def name(self) -> str:
        """The name used everywhere."""
        return self.label

    def forecast(self, algorithm: Any, problem: Any) -> Any:
        """Return what one application takes with the arm's values."""
        return self.inner.forecast(self.algorithm, problem)

    def probe(self, algorithm: Any) -> tuple[Any, Any]:
        """Return the arm for one candidate, to learn the cost cheaply."""
        reduced, changed = self.inner.probe(self.algorithm)
        return self._replace(inner=reduced, algorithm=changed), algorithm

    def apply(self, algorithm: Any, problem: Any, state: Any, rng: Any) -> Any:
        """Apply the operator with the arm's values."""
        return self.inner.apply(self.algorithm, problem, state, rng)


def arms(operator: Any, settings: list[str], algorithm: Any, field: str) -> list[Any]:
    """Return the arms of an operator: one for each combination of the values.

    Parameters
    ----------
    operator : operator
    settings : list of str
        `key=value`, or `key=from..to×count` for values by equal factors, or by equal steps where
        the first is not above 0. A key is one of the algorithm's `tunable` parameters, or a
        parameter of the operator with a declared `Range`.
    algorithm : algorithm
        The values of all other parameters.
    field : str
        Where the portfolio is written, for errors.
    """
    known = _parameters(operator, algorithm)
    chosen: dict[str, list[Any]] = {}
    for setting in settings:
        key, equals, text = (part.strip() for part in setting.partition("="))
        if not equals or not text or key in chosen:
            raise InputError(field, f"{operator.name}@{setting}", FORM)
        if key not in known:
            expected = nearest(key, known) if known else "no parameters with this operator"
            raise InputError(f"{field}:{operator.name}", key, expected)
        chosen[key] = _values(known[key], text, f"{field}:{operator.name}")
    if math.prod(map(len, chosen.values())) > MOST:
        raise InputError(field, "@".join(settings), f"at most {MOST} arms of an operator")
    combinations = itertools.product(*chosen.values())
    return [_arm(operator, algorithm, dict(zip(chosen, v, strict=True))) for v in combinations]


def _parameters(operator: Any, algorithm: Any) -> dict[str, Parameter]:
    """Return what an arm may set: of the operator what has a range, of the algorithm `tunable`."""
    kind: Any = type(operator)
    own = [each for each in parameters_of(kind) if each.range.bounded]
    tunable = getattr(algorithm, "tunable", ())
    kind = type(algorithm)
    given = [each for each in parameters_of(kind) if each.name in tunable] if tunable else []
    return {each.name: each for each in (*own, *given)}


def _arm(operator: Any, algorithm: Any, values: dict[str, Any]) -> Any:
    """Return one arm of a class that has the hooks of its operator."""
    own = {key: value for key, value in values.items() if key in operator._fields}
    rest = {key: value for key, value in values.items() if key not in own}
    label = " @ ".join([operator.name, *(f"{key} {_written(v)}" for key, v in values.items())])
    made: Any = ForecastArm if isinstance(operator, ForecastingOperator) else Arm
    made = ProbedArm if isinstance(operator, ProbingOperator) else made
    return made(operator._replace(**own), algorithm._replace(**rest), label)


def _written(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else f"{value:.6g}"


def _values(parameter: Parameter, text: str, field: str) -> list[Any]:
    """Return the values that a text stands for, checked, each once.

    Examples
    --------
    >>> _values(Parameter("flips", float, 0.5), "0.25..2x4", "ssga")
    [0.25, 0.5, 1.0, 2.0]
    >>> _values(Parameter("steps", int, 1), "0..10x3", "ils")
    [0, 5, 10]
    """
    match = RANGE.fullmatch(text)
    if match is None or parameter.kind not in (int, float):
        return [parameter.check(text, field)]
    low, high = (parameter.check(end, field) for end in match.groups()[:2])
    count = int(match[3])
    if not 2 <= count <= MOST or not low < high:
        raise InputError(f"{field}:{parameter.name}", text, FORM)
    shares = [i / (count - 1) for i in range(count)]
    steps = [low * (high / low) ** s if low > 0 else low + (high - low) * s for s in shares]
    steps[0], steps[-1] = low, high
    values = [round(step) if parameter.kind is int else float(f"{step:.6g}") for step in steps]
    return [parameter.check(value, field) for value in dict.fromkeys(values)]
