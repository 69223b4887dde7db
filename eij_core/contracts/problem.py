"""The contract of a problem: fitness agrees with itself, however it is computed."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..engine.spaces import BITS, PERMUTATION, REAL, WORDS, sign_of, space_of
from ..errors import RunError, shortened
from ..protocols import FeasibilityProblem, OptimumProblem, Problem
from .findings import Findings
from .orders import check_bounds, check_changes, check_near
from .samples import solutions_of

ROUNDING = 1e-9
"""Share of a fitness that two orders of summation may differ by."""
EXACT = 2.0**53
"""Whole numbers below this are exact in floating point: they are compared exactly."""
FLIPS = 40
"""Bits flipped one after another, at most, from each solution that is tried."""
PREVIEWS = 12


def same_fitness(a: float, b: float, scale: float = 0.0) -> bool:
    """Tell whether two fitness values are one, up to the rounding of sums of size `scale`.

    Examples
    --------
    >>> same_fitness(0.1 + 0.2, 0.3), same_fitness(7.0, 8.0), same_fitness(1e12, 1e12 + 1)
    (True, False, False)
    """
    if a.is_integer() and b.is_integer() and max(abs(a), abs(b)) < EXACT:
        return a == b
    return math.isclose(a, b, rel_tol=ROUNDING, abs_tol=ROUNDING * scale)


def check_best(name: str, problem: Problem, x: Any, reported: float, scale: float) -> None:
    """Evaluate a run's best solution in full; raise `RunError` if the run reports another value.

    The evaluation is outside the run: it is neither counted nor charged.
    """
    with np.errstate(all="ignore"):  # as compiled code does
        full = float(problem.fitness(x.copy()))
    if not same_fitness(reported, full, abs(scale)):
        raise RunError(
            f"problem {name}: the run reports best fitness {reported:.10g}, but fitness(best.x) is "
            f"{full:.10g}; `flip`, `toggle` or `preview` disagrees with `fitness`, or `fitness` is "
            f"not the same for the same solution (check_component and `eij check` show where)"
        )


def check_numbers(name: str, ledger: Any, state: Any) -> None:
    """Raise `RunError` if the sum of a run's gains, or its best fitness, is not a number."""
    if math.isnan(ledger.operator_gain.sum()) or math.isnan(state.best_f[0]):
        raise RunError(
            f"problem {name} returned a fitness that is not a number; "
            f"make `fitness` return a finite value for every solution"
        )


def check_problem(problem: Problem) -> list[str]:
    """Return what is wrong with a problem: `fitness` against `flip`, `toggle` and `preview`.

    Examples
    --------
    >>> from eij_core.registry import problems
    >>> import eij_core.problems
    >>> check_problem(problems.make("nk:n=12,k=2"))
    []
    """
    found = Findings()
    n: Any = problem.n
    if not isinstance(n, int) or n < 1:
        return [f"n is {n!r}, which is no whole number above 0"]
    random, space = np.random.Generator(np.random.PCG64(5)), space_of(problem)
    solutions: list[Any] = []
    if space == REAL:
        with found.calls("bounds"):
            check_bounds(found, problem)
    elif space == PERMUTATION:
        with found.calls("near"):
            check_near(found, problem)
    else:
        with found.calls("reach"):
            reach: Any = problem.reach()
            found.expect(isinstance(reach, int) and reach >= 0, "reach", f"returns {reach!r}")
    with found.calls("bounds"):
        solutions = solutions_of(problem, space, random)
    for x in solutions:
        with found.calls("fitness"):
            _check_fitness(found, problem, x)
    if space != BITS:
        for x in solutions if space == PERMUTATION and not found.texts else ():
            with found.calls("a change of a permutation"):
                check_changes(found, problem, x.copy(), random, _compare)
        return found.texts
    for x in () if found.texts else solutions:  # moves are compared with a fitness that is right
        with found.calls("prepare, flip or toggle"):
            _check_flips(found, problem, x.copy(), random)
    for x in () if found.texts else solutions:  # previews may be derived from flips
        with found.calls("preview"):
            _check_previews(found, problem, x, random)
    return found.texts


def _check_fitness(found: Findings, problem: Problem, x: Any) -> None:
    before = x.copy()
    f: Any = problem.fitness(x)
    kind, words = type(f).__name__, WORDS[space_of(problem)]
    found.expect(isinstance(f, float | int), "fitness", f"returns a {kind}, not a float")
    digits = x.dtype == np.uint8
    shown = shortened("".join(map(str, x)) if digits else str(before.tolist()), 40)
    found.expect(math.isfinite(f), "fitness", f"is {f} for {shown}")
    found.expect(bool((x == before).all()), "fitness", f"changes the {words} that it evaluates")
    again = problem.fitness(before.copy())
    found.expect(f == again, "fitness", f"is {f!r}, then {again!r}, for the same {words}")
    if isinstance(problem, FeasibilityProblem):
        feasible = problem.feasible(x)
        truth = isinstance(feasible, bool | np.bool_)
        found.expect(truth, "feasible", f"returns {feasible!r}, not True or False")
    if isinstance(problem, OptimumProblem) and not math.isnan(problem.optimum):
        optimum = float(problem.optimum)
        better = sign_of(problem) * (f - optimum) > 0.0
        above = better and not same_fitness(float(f), optimum, scale=1.0)
        found.expect(not above, "optimum", f"is {optimum!r}, but a random solution has {f!r}")


def _check_flips(found: Findings, problem: Problem, x: Any, random: np.random.Generator) -> None:
    before = x.copy()
    memo = problem.prepare(x)
    shape = (getattr(memo, "dtype", None), getattr(memo, "ndim", 0))
    kept = shape in ((np.dtype(np.int64), 1), (np.dtype(np.float64), 1))
    found.expect(kept, "prepare", "returns no int64 or float64 array of one axis")
    found.expect(bool((x == before).all()), "prepare", "changes the bits that it describes")
    scale = abs(problem.fitness(x))
    for i in random.permutation(problem.n)[:FLIPS].tolist():
        j = int(random.integers(problem.n))
        moved = x.copy()
        moved[i] ^= 1
        value = problem.flip(x, memo, i)
        found.expect(bool((x == moved).all()), "flip", f"of bit {i} does not flip exactly this bit")
        _compare(found, "flip", value, problem.fitness(moved), scale)
        moved[j] ^= 1
        problem.toggle(x, memo, j)
        found.expect(bool((x == moved).all()), "toggle", f"of bit {j} flips other bits, or none")
        value = problem.flip(x, memo, i)
        moved[i] ^= 1
        _compare(found, "flip", value, problem.fitness(moved), scale)


def _check_previews(found: Findings, problem: Problem, x: Any, random: np.random.Generator) -> None:
    memo, scale = problem.prepare(x), abs(problem.fitness(x))
    widest = min(problem.n, max(problem.reach(), 5), 64)
    for _ in range(PREVIEWS):
        count = int(random.integers(1, widest + 1))
        bits = np.zeros(problem.n, np.int64)
        bits[:count] = random.choice(problem.n, count, replace=False)
        kept = x.copy(), memo.copy()
        value = problem.preview(x, memo, bits, count)
        moved = x.copy()
        moved[bits[:count]] ^= 1
        _compare(found, "preview", value, problem.fitness(moved), scale)
        unchanged = bool((x == kept[0]).all() and (memo == kept[1]).all())
        found.expect(unchanged, "preview", "leaves x or memo changed")


def _compare(found: Findings, hook: str, value: float, full: float, scale: float) -> None:
    agrees = same_fitness(float(value), float(full), scale)
    found.expect(agrees, hook, f"returns {value!r}, but the fitness of these bits is {full!r}")
