"""check_component says in words what is wrong with a component."""

import math
from typing import Any, NamedTuple

import numpy as np
import pytest

from eij_core import InputError
from eij_core.components import Belief, Decision, Forecast, Outcome, check_component, kernel
from eij_core.meters.model import Model
from eij_core.protocols import (
    ExplainingSelector,
    FeasibilityProblem,
    ForecastingOperator,
    Interpreted,
    OptimumProblem,
    ProbingOperator,
    RepricingSelector,
)
from eij_core.registry import algorithms, problems, selectors
from tests.core.components import (
    Broken,
    Frugal,
    Lying,
    OneMax,
    Rest,
    Sleepy,
    Step,
    Turns,
    TurnStats,
    Walk,
    WalkState,
)


@kernel
class Faulty(NamedTuple):
    """OneMax with one fault, by number."""

    n: Any
    fault: str
    optimum: float = math.nan

    def fitness(self, x):
        if self.fault == "raises":
            raise ArithmeticError("no fitness today")
        if self.fault == "text":
            return "many"
        if self.fault == "spoils":
            x[0] ^= 1
        return float(x.sum())

    def prepare(self, x):
        return np.zeros(1, np.int32 if self.fault == "memo" else np.float64)

    def flip(self, x, memo, i):
        x[i] ^= 1
        return float(x.sum()) + (0.5 if self.fault == "flip" else 0.0)

    def toggle(self, x, memo, i):
        if self.fault != "toggle":
            x[i] ^= 1

    def preview(self, x, memo, bits, count):
        if self.fault == "leaves":
            x[bits[0]] ^= 1
        moved = x.copy()
        moved[bits[:count]] ^= 1
        return float(moved.sum()) + (self.fault == "preview")

    def reach(self):
        return -1 if self.fault == "reach" else 0

    def feasible(self, x):
        return "perhaps" if self.fault == "feasible" else True


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("raises", "fitness raises ArithmeticError: no fitness today"),
        ("text", "fitness returns a str, not a float"),
        ("spoils", "fitness changes the bits that it evaluates"),
        ("memo", "prepare returns no int64 or float64 array of one axis"),
        ("flip", "flip returns"),
        ("toggle", "toggle of bit"),
        ("preview", "preview returns"),
        ("leaves", "preview leaves x or memo changed"),
        ("reach", "reach returns -1"),
        ("feasible", "feasible returns 'perhaps', not True or False"),
    ],
)
def test_a_fault_of_a_problem_is_named(fault, words):
    assert check_component(Faulty(9, "")) == []
    assert any(finding.startswith(words) for finding in check_component(Faulty(9, fault)))


def test_what_else_a_problem_can_get_wrong():
    assert check_component(Faulty(0, "")) == ["n is 0, which is no whole number above 0"]
    assert "optimum is 1.0" in check_component(Faulty(9, "", optimum=1.0))[0]
    assert check_component(Broken(6)) == ["fitness is nan for 111111"]
    assert any("flip returns" in finding for finding in check_component(Lying(20)))
    assert check_component(OneMax(1)) == check_component(Sleepy(9)) == []


@kernel
class Odd(NamedTuple):
    """An operator that reports something else than it does, by name."""

    fault: str
    title: Any = "odd"

    @property
    def name(self):
        return self.title

    def forecast(self, algorithm, problem):
        if self.fault == "forecast":
            return (1, 1, 1)
        return Forecast(2 if self.fault == "candidates" else 1, 1 - (self.fault == "dear"), 0)

    def probe(self, algorithm):
        return self._replace(fault="twice" if self.fault == "probe" else self.fault), algorithm

    def apply(self, algorithm, problem, state, rng):
        if self.fault == "raises":
            raise RuntimeError("stuck")
        if self.fault == "nothing":
            return None
        f = problem.fitness(state.best_x)
        if self.fault == "twice":
            problem.fitness(state.best_x)
            return Outcome(0.0, 2, 0, state.deltas[:0])
        if self.fault == "best":
            state.best_f[0] = f + 1.0
        state.deltas[0] = np.inf if self.fault == "infinite" else 0.0
        gain = 3.0 if self.fault == "gain" else 0.0
        deltas = np.zeros(1) if self.fault == "copy" else state.deltas[:1]
        return Outcome(gain, 1 + (self.fault == "count"), -(self.fault == "touches"), deltas)


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("raises", "odd: apply, forecast or probe raises RuntimeError: stuck"),
        ("nothing", "odd: apply returns a NoneType, not an Outcome"),
        ("best", "odd: apply leaves best_f"),
        ("infinite", "odd: apply reports a Δf that is not finite"),
        ("gain", "odd: apply reports a gain of 3.0, but its deltas add up to 0.0"),
        ("copy", "odd: apply returns deltas that are no view of state.deltas"),
        ("count", "odd: apply reports 2 evaluations, but made 1"),
        ("touches", "odd: apply reports -1 touches"),
        ("forecast", "odd: forecast returns a tuple, not a Forecast"),
        ("candidates", "odd: forecast says 2 candidates, but apply has 1"),
        ("dear", "odd: forecast says 0 evaluations, but apply made 1"),
        ("probe", "odd: probe takes 2 evaluations, an application 1"),
    ],
)
def test_a_fault_of_an_operator_is_named(fault, words):
    assert check_component(Walk((Odd(""),))) == []
    findings = check_component(Walk((Odd(fault),)))
    assert any(finding.startswith(words) for finding in findings), findings


@kernel
class Begun(NamedTuple):
    """A walk whose start has one fault."""

    operators: tuple[Any, ...]
    fault: str

    def begin(self, problem, rng):
        x = np.zeros(problem.n, np.uint8)
        f = np.full(1, problem.fitness(x) + (self.fault == "best"))
        opening = 2 if self.fault == "opening" else 1
        if self.fault == "list":
            return [x, f, np.zeros(1), opening]
        if self.fault == "float":
            x = x.astype(float)
        deltas = None if self.fault == "deltas" else np.zeros(1)
        if self.fault == "random":
            x[np.random.default_rng().integers(0, problem.n, 8)] = 1
            f[0] = problem.fitness(x)
        return WalkState(x, f, deltas, opening + (self.fault == "random"))


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("best", "begin leaves best_f"),
        ("opening", "begin says 2 evaluations (state.opening), but made 1"),
        ("list", "begin returns a list, not a NamedTuple"),
        ("float", "begin returns a state whose best_x is no uint8 array of shape (24,)"),
        ("deltas", "begin returns a state whose deltas is no float64 array of one axis"),
        ("random", "begin gives two states for the same random numbers"),
    ],
)
def test_a_fault_of_a_start_is_named(fault, words):
    findings = check_component(Begun((Step(1),), fault))
    assert findings
    assert findings[0].startswith(words)


def test_portfolios_need_names_that_differ():
    for operators in ((), (Step(1), Step(1)), (Odd("", None),)):
        (finding,) = check_component(Walk(operators))
        assert "a tuple of one or more operators, each with a name of its own" in finding
    assert check_component(Walk((Rest(1),))) == ["rest: apply reports 1 evaluations, but made 0"]


@kernel
class Wrong(NamedTuple):
    """A selector with one fault."""

    fault: str

    def memory(self, hints, budget):
        if self.fault == "list":
            return [0]
        return TurnStats(np.array([0, len(hints.names)]))

    def select(self, stats, left, rng):
        if self.fault == "raises":
            raise IndexError("lost")
        if self.fault == "moody":
            return int(np.random.default_rng().integers(stats.turn[1]))
        if self.fault == "miser" and left == np.inf:
            return -1
        return stats.turn[1] if self.fault == "range" else 0

    def learn(self, stats, operator, outcome, joules):
        stats.turn[0] += 1

    def belief(self, stats, operator):
        if self.fault == "tuple":
            return (0.0,) * 5
        return Belief(0.0, 0.0, np.nan if self.fault == "half" else 1.0, 0.0, 0.0)

    def explain(self, stats, left, rng):
        if self.fault == "meddles":
            stats.turn[0] += 1
        choice = 1 if self.fault == "announces" else int(self.select(stats, left, rng))
        return Decision(choice, (), "" if self.fault == "silent" else "is the first")


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("list", "memory returns a list, not a NamedTuple of arrays"),
        ("raises", "memory, select, learn, belief or explain raises IndexError: lost"),
        ("range", "select returns 4; the operators are 0 … 3"),
        ("moody", "select differs for the same seed and the same history"),
        ("miser", "select returns -1 although the Joules have no end"),
        ("tuple", "belief returns a tuple, not a Belief"),
        ("half", "belief is (0.0, 0.0, nan, 0.0, 0.0) before the first try"),
        ("meddles", "explain changes the statistics or the random stream"),
        ("announces", "explain announces operator 1, but select takes 0"),
        ("silent", "explain gives no reason"),
    ],
)
def test_a_fault_of_a_selector_is_named(fault, words):
    assert check_component(Wrong("")) == []
    findings = check_component(Wrong(fault))
    assert any(finding.startswith(words) for finding in findings), findings


def test_a_selector_without_estimates_or_explanations():
    assert check_component(Turns(1))[0].startswith("belief is (nan,")
    assert check_component(Frugal(1.0)) == []


class Named(NamedTuple):
    """A meter that says nothing of its Joules."""

    model: Model = Model()
    info: Any = "measured"

    def attach(self, problem, algorithm, operators):
        return self.model.attach(problem, algorithm, operators)


def test_a_fault_of_a_meter_is_named():
    assert check_component(Model()) == []
    assert check_component(Named()) == ["info is a str, not an EnergyInfo"]


class Plain(NamedTuple):
    n: int

    def fitness(self, x):
        return float(x.sum())


def test_what_is_no_component_has_a_remedy():
    assert "marked @kernel" in check_component(Plain(3))[0]
    for thing, remedy in (
        (3, "an object with the hooks of a family"),
        (OneMax, "an object, not a class: OneMax"),
        (Step(1), "an algorithm that has this operator in its portfolio"),
    ):
        with pytest.raises(InputError, match=remedy):
            check_component(thing)


def test_optional_hooks_are_told_by_their_protocols():
    plus = selectors.make("eij-plus")
    assert isinstance(plus, ExplainingSelector)
    assert isinstance(plus, RepricingSelector)
    assert not isinstance(selectors.make("uniform"), RepricingSelector)
    assert not isinstance(Turns(1), ExplainingSelector)
    flip = algorithms.make("ils").operators[0]
    scan = algorithms.make("ils:operators=scan").operators[0]
    assert isinstance(flip, ProbingOperator)
    assert isinstance(scan, ForecastingOperator)
    assert not isinstance(scan, ProbingOperator)
    knapsack = problems.make("knapsack:n=12")
    assert isinstance(knapsack, FeasibilityProblem)
    assert isinstance(knapsack, OptimumProblem)
    assert not isinstance(OneMax(3), FeasibilityProblem | OptimumProblem | Interpreted)
