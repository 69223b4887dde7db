"""What a run found and what it cost."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .engine.columns import columns_of
from .engine.histogram import dense, sparse
from .engine.spaces import sense_of, sign_of
from .protocols import Belief, EnergyInfo
from .target import OPTIMUM, Reached, fitness_of, reached_in, words_of
from .trial import Trial

if TYPE_CHECKING:
    import pandas as pd

    from .figures.canvas import Picture
    from .run import Run

PORTION = 65_536
"""Rows that are digested at a time, so that a long record is not copied whole."""


class Best(NamedTuple):
    """The best solution found."""

    x: NDArray[Any]
    """Bits as uint8, a permutation as int64, or real numbers."""
    fitness: float
    feasible: bool
    gap: float
    """What is missing: |optimum − fitness|; nan where the optimum is unknown."""
    optimum: float


class Spent(NamedTuple):
    """What the run took."""

    joules: float
    evaluations: int
    decisions: int
    seconds: float
    overshoot: float
    """Joules that the last application took beyond the budget."""
    start_joules: float
    """Joules of the initial population, part of `joules`."""


class OperatorTotal(NamedTuple):
    """What one operator did over the run."""

    name: str
    applications: int
    evaluations: int
    joules: float
    gain: float
    belief: Belief
    """What the selector thinks of it at the end."""
    histogram: NDArray[np.int64]
    """Applications by Joules, see `engine.histogram`."""


JOULES_SPENT = "joules spent"


class Block(NamedTuple):
    """The rows that one stretch of a run recorded: the event that sinks receive."""

    rows: NDArray[Any]
    """Structured rows, see `engine.rows.row_dtype`; may be empty."""
    decisions: int
    """Decisions taken in this stretch."""
    done: bool


class Change(NamedTuple):
    """A parameter changed while the run was on."""

    decision: int
    name: str
    value: Any


@dataclass(frozen=True, repr=False)
class Result:
    """A run's outcome: the solution, the account, and the rows recorded on the way."""

    trial: Trial
    best: Best
    spent: Spent
    operators: tuple[OperatorTotal, ...]
    meter: EnergyInfo
    reason: str
    """Why the run ended, in words."""
    rows: NDArray[Any]
    changes: tuple[Change, ...] = ()
    energy: dict[str, Any] = field(default_factory=dict)
    """How a real counter was settled: accounts, overhead, quality, uncertainty; empty: a model."""
    sense: str = "max"
    """Whether a larger or a smaller fitness is better: "max" or "min"; `rows` have it as it is."""
    overhead_seconds: float = 0.0
    """What a `Scheduler` took for choosing and learning; 0: the loop is compiled."""

    @property
    def frame(self) -> pd.DataFrame:
        """The recorded rows as a table, see `frame_of`."""
        return frame_of(self.rows, tuple(total.name for total in self.operators))

    @property
    def reached(self) -> Reached | None:
        """When the target was reached, or without one the optimum; None if neither is known."""
        target = self.trial.target or OPTIMUM
        return reached_in(self.rows, fitness_of(target, self.best.optimum, self.sense), self.sense)

    @property
    def digest(self) -> str:
        """A digest of all that happened, wall clock excluded: equal runs, equal digests."""
        return digest_of_run(self.rows, self.best, self.operators)

    def __repr__(self) -> str:
        from .figures.result_card import sentence

        return f"<{sentence(self)}>"

    def _repr_svg_(self) -> str:
        from .figures.result_card import picture

        return picture(self).svg()

    def picture(self) -> Picture:
        """Return the best solution as its problem draws it: `.svg()`, `.png()` or `.save(path)`."""
        from .drawing import picture_of
        from .figures.solution import solution_picture

        drawing = picture_of(self.trial.make("problem"), self.best.x)
        title = f"{self.trial.name_of('problem')}: fitness {self.best.fitness:.6g}"
        return solution_picture(drawing, title)

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain data without its rows; nan and infinities become None."""
        data: dict[str, Any] = finite(describe(self))
        return data


def describe(result: Result) -> dict[str, Any]:
    """Return the one serialised form of a result: all of it but the rows.

    Stores, records and JSON output hold this form or a selection of it; `fields_of` reads it back.
    Numbers may be nan or infinite: whoever writes JSON replaces them, as `finite` does.
    """
    best = result.best._asdict()
    best["x"] = written(result.best.x)
    joules = max(result.spent.joules - result.spent.start_joules, 1e-300)
    meter = {**asdict(result.meter), "provenance": str(result.meter.provenance)}
    return {
        "trial": result.trial.to_dict() if result.trial.is_data else None,
        "best": best,
        "spent": result.spent._asdict(),
        "operators": [
            {
                **total._asdict(),
                "share": total.joules / joules,
                "eij": total.belief.score if total.applications else None,
                "belief": [float(value) for value in total.belief],
                # Bins and their counts, as the stores of 0.1 have them.
                "histogram": np.reshape(sparse(total.histogram), (-1, 2)).T.tolist(),
            }
            for total in result.operators
        ],
        "meter": meter | ({"settlement": finite(result.energy)} if result.energy else {}),
        "reason": result.reason,
        "changes": [change._asdict() for change in result.changes],
        "digest": result.digest,
        # Only where they say something, so that other results are written as before.
        **({"sense": result.sense} if result.sense != "max" else {}),
        **({"overhead_seconds": seconds} if (seconds := result.overhead_seconds) else {}),
        **({"target": result.reached._asdict()} if result.trial.target and result.reached else {}),
    }


def fields_of(form: Mapping[str, Any]) -> dict[str, Any]:
    """Read what `describe` wrote: the fields of a `Result` by name, but for the trial and the rows.

    ValueError, TypeError or LookupError where the form is not what `describe` writes.
    """
    best, meter = form["best"], dict(form["meter"])
    numbers = {key: real(best[key]) for key in ("fitness", "gap", "optimum")}
    settlement = meter.pop("settlement", {})
    return {
        "best": Best(**{**best, **numbers, "x": solution_of(best["x"])}),
        "spent": Spent(**form["spent"]),
        "operators": tuple(
            OperatorTotal(
                **{key: entry[key] for key in ("name", "applications", "evaluations", "joules")},
                gain=real(entry["gain"]),
                belief=Belief(*map(real, entry["belief"])),
                histogram=dense(zip(*entry["histogram"], strict=True)),
            )
            for entry in form["operators"]
        ),
        "meter": EnergyInfo.from_data(meter),
        "reason": form["reason"],
        "changes": tuple(Change(**change) for change in form["changes"]),
        "energy": settlement,
        "sense": form.get("sense", "max"),
        "overhead_seconds": real(form.get("overhead_seconds", 0.0)),
    }


def written(x: NDArray[Any]) -> str | list[Any]:
    """Return a solution as plain data: bits as a text of 0 and 1, numbers as a list.

    Examples
    --------
    >>> written(np.array([1, 0], np.uint8)), written(np.array([2, 0, 1]))
    ('10', [2, 0, 1])
    """
    if x.dtype != np.uint8:
        numbers: list[Any] = x.tolist()
        return numbers
    return (x + ord("0")).astype(np.uint8).tobytes().decode("ascii")


def solution_of(data: str | list[Any]) -> NDArray[Any]:
    """Read what `written` wrote."""
    if isinstance(data, str):
        return (np.frombuffer(data.encode("ascii"), np.uint8) - ord("0")).astype(np.uint8)
    return np.array(data, np.float64 if isinstance(data[0], float) else np.int64)


def real(value: float | str | None) -> float:
    """Read a number that JSON may not have: None and "nan" are nan, "inf" is infinite."""
    return math.nan if value is None else float(value)


def end_of(run: Run, *, affordable: bool) -> str:
    """Return why a run ends here; "" if it goes on."""
    budget, ledger = run.trial.budget, run.ledger
    if run.state.best_f[0] >= run.limits.target:
        return words_of(run.trial.target)
    if ledger.joules[0] >= run.limits.joules:
        return JOULES_SPENT
    if ledger.evaluations[0] >= run.limits.evaluations:
        return "evaluations spent"
    if not affordable:
        return "no operator fits in the Joules left"
    return "seconds spent" if run.seconds >= budget.seconds else ""


def best_of(run: Run) -> float:
    """Return the best fitness so far as a person reads it: the length of a tour."""
    return run.trace.sign * float(run.state.best_f[0])


def result_of(run: Run, rows: NDArray[Any] | None = None) -> Result:
    """Return where a run stands, with all of its rows or with those given."""
    ledger, spent = run.ledger, float(run.ledger.joules[0])
    fitness, x = best_of(run), run.state.best_x.copy()
    optimum = float(getattr(run.problem, "optimum", math.nan))
    feasible = bool(run.problem.feasible(x)) if hasattr(run.problem, "feasible") else True
    totals = tuple(
        OperatorTotal(
            name,
            int(ledger.applications[o]),
            int(ledger.operator_evaluations[o]),
            float(ledger.operator_joules[o]),
            float(ledger.operator_gain[o]),
            run.selector.belief(run.stats, o),
            ledger.histogram[o].copy(),
        )
        for o, name in enumerate(run.names)
    )
    return Result(
        trial=run.trial,
        best=Best(x, fitness, feasible, sign_of(run.problem) * (optimum - fitness), optimum),
        spent=Spent(
            spent,
            int(ledger.evaluations[0]),
            int(ledger.decisions[0]),
            run.seconds,
            max(0.0, spent - run.trial.budget.joules),
            run.start_joules,
        ),
        operators=totals,
        meter=run.meter.info,
        reason=run.reason or "running",
        rows=run.rows() if rows is None else rows,
        changes=tuple(run.changes),
        energy=run.charges.summary(),
        sense=sense_of(run.problem),
    )


def digest_of_run(rows: NDArray[Any], best: Best, operators: Iterable[OperatorTotal]) -> str:
    """Digest what happened: the rows, the best solution, the Joules of every application."""
    hasher = hashlib.blake2b(digest_size=16)
    for low in range(0, len(rows), PORTION):
        portion = rows[low : low + PORTION].copy()
        for name in portion.dtype.names or ():
            column = portion[name]
            if column.dtype.kind == "f":
                column[np.isnan(column)] = np.nan  # one form of nan: its sign means nothing
        hasher.update(portion.tobytes())
    hasher.update(best.x.tobytes())
    for total in operators:
        hasher.update(total.histogram.tobytes())
    return hasher.hexdigest()


def frame_of(rows: NDArray[Any], names: tuple[str, ...]) -> pd.DataFrame:
    """Turn recorded rows into a table.

    The columns of `engine.columns.columns_of`, with the operator's name instead of its number.
    """
    import pandas as pd  # here, because half of the time of `import eij_core` would be pandas

    columns = columns_of(rows, names)
    columns["operator"] = np.array([*names, ""], object)[rows["operator"]]
    return pd.DataFrame(columns)


def finite(value: Any, spelled: Callable[[float], str | None] = lambda _: None) -> Any:
    """Return plain data with None, or a spelling, for every number that JSON does not have.

    Examples
    --------
    >>> finite({"gap": math.nan, "x": [1.5, math.inf]})
    {'gap': None, 'x': [1.5, None]}
    >>> finite([math.inf], str)
    ['inf']
    """
    if isinstance(value, dict):
        return {key: finite(each, spelled) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [finite(each, spelled) for each in value]
    return spelled(value) if isinstance(value, float) and not math.isfinite(value) else value
