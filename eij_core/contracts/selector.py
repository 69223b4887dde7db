"""The contract of a selector: choices in range, beliefs that are numbers, true announcements."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..engine.rng import streams_for
from ..protocols import Belief, ExplainingSelector, Hints, Outcome, RepricingSelector, Selector
from .findings import Findings, same

BUDGET = 1000.0

Pull = Callable[[int], tuple[Any, float]]
"""Returns the Δf of the candidates, and the Joules, of one application of an operator."""


def outcome_of(deltas: Any) -> Outcome:
    """Return the outcome of an application with these Δf."""
    deltas = np.asarray(deltas, float)
    return Outcome(float(deltas.sum()), max(deltas.size, 1), 0, deltas)


def hints_for(operators: int, joules: Any = 0.0) -> Hints:
    """Return hints for operators named arm-0, arm-1, …"""
    names = tuple(f"arm-{o}" for o in range(operators))
    return Hints(names, np.zeros(operators), np.zeros(operators) + joules)


def noisy_arms(seed: int, operators: int = 3) -> Pull:
    """Return arms with prices of their own and noisy changes of fitness, mostly losses."""
    random = np.random.default_rng(seed)
    prices = random.uniform(0.5, 5.0, operators)

    def pull(operator: int) -> tuple[Any, float]:
        size = int(random.integers(1, 4))
        deltas = random.normal(-0.3, 1.0, size) * (random.random(size) > 0.2)
        return deltas, float(prices[operator] * random.lognormal(0.0, 0.1))

    return pull


def check_selector(selector: Selector) -> list[str]:
    """Return what is wrong with a selector, on scripted operators.

    Examples
    --------
    >>> from eij_core.registry import selectors
    >>> import eij_core.selectors
    >>> check_selector(selectors.make("uniform"))
    []
    """
    found = Findings()

    def extreme(size: float) -> Pull:
        random = np.random.default_rng(1)
        return lambda operator: ([size * random.normal()], 1.0)

    chosen = _play(found, selector, noisy_arms(4, 4), 120, "", operators=4)
    again = _play(found, selector, noisy_arms(4, 4), 120, "", operators=4)
    found.expect(chosen == again, "select", "differs for the same seed and the same history")
    _play(found, selector, noisy_arms(1, 1), 40, " with one operator", operators=1)
    _play(found, selector, lambda o: ([0.0, 0.0], 1.0), 60, " when nothing ever changes")
    _play(found, selector, extreme(1e-12), 60, " for changes of 1e-12")
    _play(found, selector, extreme(1e12), 60, " for changes of 1e12")
    endless = _play(found, selector, noisy_arms(2), 60, " without a Joule budget", budget=math.inf)
    stopped = not found.texts and len(endless) < 60
    found.expect(not stopped, "select", "returns -1 although the Joules have no end")
    return found.texts


def _play(
    found: Findings,
    selector: Selector,
    pull: Pull,
    decisions: int,
    where: str,
    *,
    operators: int = 3,
    budget: float = BUDGET,
) -> list[int]:
    """Let the selector decide; return the operators that it chose."""
    chosen: list[int] = []
    with found.calls("memory, select, learn, belief or explain"):
        stats = selector.memory(hints_for(operators), budget)
        fault = f"returns a {type(stats).__name__}, not a NamedTuple of arrays"
        found.expect(isinstance(stats, tuple) and hasattr(stats, "_fields"), "memory", fault)
        for o in range(operators):
            _check_belief(found, selector.belief(stats, o), f"{where} before the first try", False)
        rng, left = streams_for(9).picks, budget
        for _ in range(decisions):
            announced = _explained(found, selector, stats, left, rng)
            o = int(selector.select(stats, left, rng))
            if o not in range(-1, operators):
                found.expect(False, "select", f"returns {o}; the operators are 0 … {operators - 1}")
                return chosen
            fault = f"announces operator {announced}, but select takes {o}"
            found.expect(announced in (None, o), "explain", fault)
            if o < 0:
                break
            deltas, joules = pull(o)
            selector.learn(stats, o, outcome_of(deltas), joules)
            left -= joules
            chosen.append(o)
        for o in set(chosen):
            _check_belief(found, selector.belief(stats, o), where, True)
        if chosen and isinstance(selector, RepricingSelector):
            selector.reprice(stats, chosen[0], 2.0)
            _check_belief(found, selector.belief(stats, chosen[0]), f"{where} after reprice", True)
    return chosen


def _explained(found: Findings, selector: Any, stats: Any, left: float, rng: Any) -> int | None:
    """Return which operator `explain` announces; None where there is no `explain`."""
    if not isinstance(selector, ExplainingSelector):
        return None
    before = copy.deepcopy(stats), rng.copy()
    decision = selector.explain(stats, left, rng)
    untouched = same(tuple(before[0]), tuple(stats)) and same(before[1], rng)
    found.expect(untouched, "explain", "changes the statistics or the random stream")
    found.expect(bool(decision.reason), "explain", "gives no reason")
    return int(decision.operator)


def _check_belief(found: Findings, belief: Any, where: str, applied: bool) -> None:
    if not isinstance(belief, Belief):
        found.expect(False, "belief", f"returns a {type(belief).__name__}, not a Belief")
        return
    finite = [math.isfinite(value) for value in belief]
    right = all(finite) or (not applied and all(math.isnan(value) for value in belief))
    expected = "numbers" if applied else "all numbers or all nan"
    found.expect(right, "belief", f"is {tuple(belief)}{where}; expected {expected}")
