"""The contract of an algorithm and its operators: the state, what was done, and what was said."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from ..engine.rng import streams_for
from ..engine.spaces import DTYPES, PERMUTATION, REAL, space_of
from ..problems.bits.external import External
from ..problems.bits.nk import nk
from ..protocols import Algorithm, Forecast, ForecastingOperator, Outcome, ProbingOperator
from .findings import Findings, same
from .samples import SIZE, Order, Point, distance, roughness

APPLICATIONS = 4


def check_algorithm(algorithm: Algorithm) -> list[str]:
    """Return what is wrong with an algorithm and its operators, on a small problem of its space.

    Examples
    --------
    >>> from eij_core.algorithms.ils import ils
    >>> check_algorithm(ils(steps=4))
    []
    """
    found = Findings()
    calls: list[int] = []
    space = space_of(algorithm)
    full = {PERMUTATION: roughness, REAL: distance}.get(space) or nk(n=SIZE, k=2).fitness

    def counted(x: Any) -> float:
        calls.append(1)
        return full(x)

    # Its reach is 0: each evaluation that an algorithm counts is one call.
    problem = {PERMUTATION: Order, REAL: Point}.get(space, External)(SIZE, counted)
    state: Any = None
    with found.calls("begin"):
        state = algorithm.begin(problem, streams_for(3).moves)
        opened = len(calls)
        _check_state(found, state, space, full, opened)
        again = algorithm.begin(problem, streams_for(3).moves)
        found.expect(same(state, again), "begin", "gives two states for the same random numbers")
    for operator in () if found.texts else algorithm.operators:
        with found.calls(f"{operator.name}: apply, forecast or probe"):
            _check_operator(found, algorithm, operator, problem, copy.deepcopy(state), calls)
    return found.texts


def _check_state(found: Findings, state: Any, space: str, full: Any, evaluations: int) -> None:
    named = isinstance(state, tuple) and hasattr(state, "_fields")
    found.expect(named, "begin", f"returns a {type(state).__name__}, not a NamedTuple")
    kind = np.dtype(DTYPES[space]).name
    arrays = (("best_x", kind, SIZE), ("best_f", "float64", 1), ("deltas", "float64", None))
    for name, kind, size in arrays:
        array: Any = getattr(state, name, None)
        right = isinstance(array, np.ndarray) and array.dtype == kind and array.ndim == 1
        right = right and size in (None, array.size)
        expected = f"{kind} array of " + (f"shape ({size},)" if size else "one axis")
        found.expect(right, "begin", f"returns a state whose {name} is no {expected}")
    if not found.texts:
        _check_best(found, "begin", state, full)
    said = getattr(state, "opening", None)
    fault = f"says {said} evaluations (state.opening), but made {evaluations}"
    found.expect(said == evaluations, "begin", fault)


def _check_best(found: Findings, hook: str, state: Any, full: Any) -> None:
    value = full(state.best_x)
    fault = f"leaves best_f {state.best_f[0]!r}, but best_x has fitness {value!r}"
    found.expect(state.best_f[0] == value, hook, fault)


def _check_operator(
    found: Findings, algorithm: Any, operator: Any, problem: Any, state: Any, calls: list[int]
) -> None:
    hook, rng = f"{operator.name}: apply", streams_for(7).moves
    forecast = None
    if isinstance(operator, ForecastingOperator):
        forecast = operator.forecast(algorithm, problem)
        fault = f"returns a {type(forecast).__name__}, not a Forecast"
        found.expect(isinstance(forecast, Forecast), f"{operator.name}: forecast", fault)
    for _ in range(APPLICATIONS):
        before, calls[:] = float(state.best_f[0]), []
        outcome = operator.apply(algorithm, problem, state, rng)
        if not isinstance(outcome, Outcome):
            found.expect(False, hook, f"returns a {type(outcome).__name__}, not an Outcome")
            return
        _check_outcome(found, hook, outcome, state, len(calls))
        found.expect(state.best_f[0] >= before, hook, "makes best_f worse")
        calls[:] = []
        _check_best(found, hook, state, problem.fitness)
        if forecast is not None:
            _check_forecast(found, f"{operator.name}: forecast", forecast, outcome)
    if isinstance(operator, ProbingOperator):
        reduced, smaller = operator.probe(algorithm)
        outcome = reduced.apply(smaller, problem, copy.deepcopy(state), rng)
        least = forecast.evaluations if forecast is not None else outcome.evaluations
        fault = f"takes {outcome.evaluations} evaluations, an application {least}"
        found.expect(outcome.evaluations <= least, f"{operator.name}: probe", fault)


def _check_outcome(found: Findings, hook: str, outcome: Outcome, state: Any, calls: int) -> None:
    said = f"reports {outcome.evaluations} evaluations, but made {calls}"
    found.expect(outcome.evaluations == calls, hook, said)
    found.expect(outcome.evaluations >= 1, hook, "makes no evaluation")
    found.expect(outcome.touches >= 0, hook, f"reports {outcome.touches} touches")
    deltas = np.asarray(outcome.deltas)
    found.expect(bool(np.isfinite(deltas).all()), hook, "reports a Δf that is not finite")
    total = sum(deltas.tolist())
    fault = f"reports a gain of {outcome.gain!r}, but its deltas add up to {total!r}"
    found.expect(bool(np.isclose(outcome.gain, total, rtol=1e-9, atol=1e-12)), hook, fault)
    own = deltas.size == 0 or np.shares_memory(deltas, state.deltas)
    found.expect(own, hook, "returns deltas that are no view of state.deltas")


def _check_forecast(found: Findings, hook: str, forecast: Forecast, outcome: Outcome) -> None:
    candidates = len(outcome.deltas)
    fault = f"says {forecast.candidates} candidates, but apply has {candidates}"
    found.expect(forecast.candidates == candidates, hook, fault)
    # An operator may stop early, so a forecast may be too high; never too low.
    fault = f"says {forecast.evaluations} evaluations, but apply made {outcome.evaluations}"
    found.expect(outcome.evaluations <= forecast.evaluations, hook, fault)
