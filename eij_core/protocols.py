"""The hooks of components; the values that components exchange are in `values`.

A component inherits nothing: it needs a method or field of the name given here. Problems,
algorithms, operators and selectors are NamedTuples marked `@kernel`, whose methods are plain Python
in numba's subset. Compiled code calls these methods, except those marked "in Python".

A hook that a component may leave out stands in a protocol of its own, which `isinstance` tests:
`isinstance(operator, ProbingOperator)` is true of an operator with the hooks of that protocol.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from .drawing import Drawing
from .values import Belief, Decision, EnergyInfo, Forecast, Hints, Outcome, Provenance

if TYPE_CHECKING:
    from concurrent.futures import Future

    from numpy.typing import NDArray

__all__ = [
    "Algorithm",
    "Belief",
    "CampaignExecutor",
    "CountedMeter",
    "Counter",
    "Decision",
    "EnergyInfo",
    "Executor",
    "ExplainingSelector",
    "FeasibilityProblem",
    "Forecast",
    "ForecastingOperator",
    "Hints",
    "Interpreted",
    "Operator",
    "OptimumProblem",
    "Outcome",
    "PicturedProblem",
    "ProbingOperator",
    "Problem",
    "Provenance",
    "RepricingSelector",
    "Selector",
    "Settled",
    "SimulatedMeter",
    "State",
]


# --- problems -------------------------------------------------------------------------------------


class Problem(Protocol):
    """Solutions and their fitness, which is maximised, or minimised with `sense="min"`.

    An author must write `fitness`. The other hooks are for speed; `@kernel` adds versions that
    evaluate in full where a class has none. Those of this class are for bits; what a solution is
    says `@kernel(space=…)`, and `space_hooks` has the hooks of the other spaces.
    """

    @property
    def n(self) -> int:
        """Number of bits, elements or coordinates."""

    def fitness(self, x: Any) -> float:
        """Evaluate a solution: n bits (uint8), a permutation of 0 … n − 1 (int64), or floats."""

    def prepare(self, x: Any) -> Any:
        """Return the memo: one array, of int64 or float64, that describes x."""

    def flip(self, x: Any, memo: Any, i: int) -> float:
        """Flip bit i in x and memo; return the new fitness, equal to the full evaluation."""

    def toggle(self, x: Any, memo: Any, i: int) -> None:
        """Flip bit i in x and memo, without computing the fitness."""

    def preview(self, x: Any, memo: Any, bits: Any, count: int) -> float:
        """Return the fitness with the first `count` ≥ 1 of the distinct `bits` flipped; x stays."""

    def reach(self) -> int:
        """Return up to how many flips a preview is quicker than a full evaluation.

        Where it is 0, every evaluation that an algorithm counts calls `fitness` or `flip`.
        """


@runtime_checkable
class FeasibilityProblem(Problem, Protocol):
    """A problem with solutions that break a constraint (in Python); without it all are feasible."""

    def feasible(self, x: Any) -> bool:
        """Tell whether x keeps every constraint."""


@runtime_checkable
class OptimumProblem(Problem, Protocol):
    """A problem whose best fitness is known (in Python); without it results have no gap."""

    @property
    def optimum(self) -> float:
        """The best fitness there is; nan where it is unknown."""


@runtime_checkable
class PicturedProblem(Problem, Protocol):
    """A problem that says what its solutions look like (in Python); others show plain arrays."""

    def picture(self, x: Any) -> Drawing:
        """Draw x; without one (None), the problem's own instance, before a run has begun."""


@runtime_checkable
class Interpreted(Protocol):
    """A component of any family that numba must not compile (in Python)."""

    @property
    def interpreted(self) -> bool:
        """Whether a run with this component is interpreted."""


# --- algorithms and operators ---------------------------------------------------------------------


class State(Protocol):
    """What `Algorithm.begin` returns and operators change: a NamedTuple, these fields among others.

    Operators write into the arrays; they never replace one.
    """

    @property
    def best_x(self) -> Any:
        """The best solution so far, an array of n entries."""

    @property
    def best_f(self) -> Any:
        """Its fitness, a float64 array of length one."""

    @property
    def deltas(self) -> Any:
        """Room for the Δf of one application's candidates, a float64 array."""

    @property
    def opening(self) -> int:
        """Evaluations that the start took."""


class Operator(Protocol):
    """One way to change an algorithm's state."""

    @property
    def name(self) -> str:
        """The operator's name in tables, files and messages; unique in its portfolio."""

    def apply(self, algorithm: Any, problem: Any, state: Any, rng: Any) -> Outcome:
        """Change the state's arrays in place and report what was done."""


@runtime_checkable
class ForecastingOperator(Operator, Protocol):
    """An operator whose effort is known beforehand (in Python); selectors get hints from it."""

    def forecast(self, algorithm: Any, problem: Any) -> Forecast:
        """Return what one application takes."""


@runtime_checkable
class ProbingOperator(ForecastingOperator, Protocol):
    """An operator that can be run on one candidate, to learn its price (in Python)."""

    def probe(self, algorithm: Any) -> tuple[Any, Any]:
        """Return the operator and the algorithm, both reduced to one candidate."""


class Algorithm(Protocol):
    """A portfolio of operators and the state that they change."""

    @property
    def operators(self) -> tuple[Any, ...]:
        """The portfolio; operators may be of different classes."""

    def begin(self, problem: Any, rng: Any) -> State:
        """Return the first state."""


# --- selectors ------------------------------------------------------------------------------------


class Selector(Protocol):
    """The rule that chooses the next operator."""

    def memory(self, hints: Hints, budget: float) -> Any:
        """Return the arrays that `learn` writes to (in Python)."""

    def select(self, stats: Any, left: float, rng: Any) -> int:
        """Return the number of the next operator; -1 if none fits in the Joules left."""

    def learn(self, stats: Any, operator: int, outcome: Any, joules: float) -> None:
        """Take in what one application gained and cost."""

    def belief(self, stats: Any, operator: int) -> Belief:
        """Return the estimates that plots and tables show of an operator."""


@runtime_checkable
class ExplainingSelector(Selector, Protocol):
    """A selector that can lay its next decision open (in Python)."""

    def explain(self, stats: Any, left: float, rng: Any) -> Decision:
        """Return the next decision with its draws; `stats` and `rng` stay as they are."""


@runtime_checkable
class RepricingSelector(Selector, Protocol):
    """A selector that takes prices which the run has asked for by probes."""

    @property
    def cost(self) -> bool:
        """Whether energy counts; where it does not, no price is asked for."""

    @property
    def probe(self) -> float:
        """Share of the budget between two rounds of probes; 0: none."""

    def reprice(self, stats: Any, operator: int, joules: float) -> None:
        """Take in the Joules of one application, extrapolated from a probe (in Python)."""


# --- executors of campaigns (in Python) -----------------------------------------------------------


class Executor(Protocol):
    """Computes the trials of a campaign; every `concurrent.futures.Executor` is one."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Compute `fn(*args, **kwargs)`, now or later."""

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Release what the executor holds."""


@runtime_checkable
class CampaignExecutor(Executor, Protocol):
    """An executor whose workers can be lost, replaced and ended at once."""

    @property
    def flight(self) -> int:
        """Tasks to keep under way at a time."""

    @property
    def lost(self) -> str:
        """Why no result will come any more; empty while the executor works."""

    @property
    def stalled(self) -> str:
        """What the tasks under way wait for; empty while they can be run."""

    @property
    def breaks(self) -> bool:
        """Whether the death of one worker ends all tasks under way."""

    def restart(self) -> None:
        """Replace the workers, after one has died."""

    def kill(self, patience: float = 0.0) -> None:
        """Ask the workers to end, and end those that are left after so many seconds."""


# --- meters (in Python) ---------------------------------------------------------------------------


class SimulatedMeter(Protocol):
    """Prices applications by a list or by a record (in Python); a charge is final at once."""

    @property
    def info(self) -> EnergyInfo:
        """Say how these Joules are known."""

    def attach(self, problem: str, algorithm: str, operators: tuple[Any, ...]) -> Any:
        """Return the `CompiledMeter` for these operators, which the loop calls."""


@runtime_checkable
class CountedMeter(SimulatedMeter, Protocol):
    """Prices applications by a counter of the machine (in Python).

    The compiled meter charges each application provisionally. The run calls `begin` before every
    chunk and `settle` after it, `finish` after the last chunk, `close` at the end, all from the
    thread that runs the chunks. Rows are held back until a settlement rescales them.
    """

    prior: Any
    """Powers of the operators from a profile, set before `attach`; None: nothing is known."""

    def begin(self, meter: Any, ledger: Any) -> None:
        """Note clocks and counter before a chunk."""

    def settle(self, meter: Any, ledger: Any, limits: Any) -> Settled | None:
        """Rescale the ledger to what the counter says; None while it has said too little."""

    def finish(self, meter: Any, ledger: Any, limits: Any) -> Settled:
        """Settle what is left after the last chunk."""

    def close(self) -> None:
        """Close the counter, so that the next run can be measured."""

    def summary(self) -> dict[str, Any]:
        """Return accounts, quality and uncertainty as plain data, for results and records."""


class Settled(Protocol):
    """What a counted meter settled at a time (in Python)."""

    @property
    def quality(self) -> str:
        """measured, attributed, or imputed and why."""

    def rescale(self, rows: NDArray[Any]) -> NDArray[Any]:
        """Return the rows held back since the last settlement, at their settled Joules."""


class Counter(Protocol):
    """Cumulative energy that the machine offers (in Python): whole µJ that never decrease.

    A counter undoes the wraps of its registers. Where one was reset or lost, it adds nothing and
    counts a break, so that a settlement can leave the stretch out.
    """

    info: EnergyInfo
    watts: float
    """Power at opening, with one thread busy: a first guess."""
    idle_watts: float
    """Power that an estimate adds for all the time that passes; 0 for hardware."""

    @property
    def origin_uj(self) -> int:
        """What the registers showed at opening; `origin_uj + read_uj()` compares between runs."""

    @property
    def breaks(self) -> int:
        """How often a register was reset or lost since opening."""

    def read_uj(self) -> int:
        """Return the µJ of all domains since opening; `MeterUnavailable` if that fails."""

    def close(self) -> None:
        """Close what was opened."""
