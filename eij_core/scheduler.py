"""Energy-aware choice of operators in anybody's loop."""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from .budget import Budget
from .errors import RunError
from .protocols import Belief, Decision, Forecast
from .result import Result
from .scheduling.checkpoint import read_checkpoint, restore, write_checkpoint
from .scheduling.guard import Guard
from .scheduling.open_run import OpenRun, Overhead
from .scheduling.own_trial import OwnTrial
from .scheduling.step import Step


class Scheduler:
    """Chooses the next operator of your own loop, on a budget in Joules, and learns what it bought.

    Parameters
    ----------
    operators : iterable of str or callable
        Names, or callables, whose `__name__` is the name. A step has what was given here.
    selector : str or Spec or component
        The rule.
    budget : str or Budget
        Joules, evaluations or seconds (of the clock, from the first step); the first to be spent
        ends the loop.
    meter : str or Spec or component or Counter
        "auto" for this machine's best counter, or a counter; "model:application=…,evaluation=…" for
        a price list; "told" if every step comes with its Joules.
    seed, repetition : int
    sense : {"max", "min"}
        Whether a larger or a smaller `best` is better. A gain is how much better in either case.
    points, every : int
        Rows to record along the budget, or one each `every` decisions.
    forecasts : mapping of str to Forecast, optional
        What one application of an operator takes, where that is known beforehand.
    target : float, optional
        A `best` at which the loop ends.
    charge_overhead : bool
        Whether the budget pays for the Joules between the steps, too; needs a counter.
    compiled : bool, optional
        True: compile the rule first. False: interpret it. See `Run`.

    Notes
    -----
    With a price list or told Joules, threads and tasks may ask and tell at will, and several steps
    may be open at once. A counter sees the work of the thread that asks: one step is open at a
    time, in one thread. A forked process is refused, because both would spend the same budget.

    Examples
    --------
    >>> import random
    >>> draw = random.Random(7)
    >>> x, moves = 100.0, {"small": 0.1, "large": 5.0}
    >>> scheduler = Scheduler(moves, budget="2 J", meter="model", sense="min", compiled=False)
    >>> for step in scheduler:
    ...     new = abs(x + draw.gauss(0, moves[step.operator]))
    ...     step.gain = x - new
    ...     x = step.best = min(x, new)
    >>> result = scheduler.result()
    >>> result.reason, result.meter.provenance, result.best.fitness == x
    ('no operator fits in the Joules left', <Provenance.SIMULATED: 'simulated'>, True)
    """

    def __init__(
        self,
        operators: Iterable[str | Callable[..., Any]],
        *,
        selector: Any = "eij-plus",
        budget: str | Budget = "1 kJ",
        meter: Any = "auto",
        seed: int = 0,
        repetition: int = 0,
        sense: str = "max",
        points: int = 1000,
        every: int = 0,
        forecasts: Mapping[str, Forecast] | None = None,
        target: float | None = None,
        charge_overhead: bool = False,
        compiled: bool | None = None,
    ) -> None:
        self._operators = operators if isinstance(operators, str) else tuple(operators)
        self.trial = OwnTrial.of(
            self._operators, sense=sense, forecasts=forecasts, selector=selector, meter=meter,
            budget=budget, seed=seed, repetition=repetition, points=points, every=every,
            target=target,
        )  # fmt: skip
        self.run = OpenRun(self.trial, compiled=compiled)
        if charge_overhead:
            self.run.charge_overhead()
        self.sense = self.run.sense
        self.failures = self.run.failures
        """Steps of each operator that failed."""
        self._seconds_before, self._began_ns = 0.0, 0
        self._open: set[Step] = set()
        self._stopping = ""
        self._guard = Guard(one_thread=self.run.counted)

    # --- asking and telling ---

    def start(
        self,
        *,
        evaluations: int = 0,
        touches: int = 0,
        best: float | None = None,
        solution: Any = None,
        joules: float | None = None,
    ) -> None:
        """Book what the beginning took: on a counter, all since the scheduler was made.

        Without a call the beginning is free. It must come before the first step.
        """
        with self._guard.step_turn():
            if self.run.begun:
                raise RunError("the beginning is booked already: call start once, before any step")
            told = self.run.check_joules(joules)
            self.run.improve(best, solution)
            self.run.begin(evaluations, touches, told, charged=True)

    def ask(self) -> Step | None:
        """Return the next step, whose meter runs; None: the budget is spent, or nothing fits."""
        entered = time.perf_counter_ns()
        with self._guard.step_turn():
            if self.run.counted and self._open:
                (step,) = self._open
                raise RunError(
                    f"step {step.name} is still open, and a counter cannot tell two steps apart: "
                    f"tell it first, or use meter='told' and tell the Joules of every step"
                )
            self._begin_free()
            self._began_ns = self._began_ns or entered
            self._note_seconds(entered)
            self._end_if_stopped()
            o = -1 if self._stopping else self.run.choose()
            if o < 0:
                return None
            step = Step(self, self._operators[o], self.run.names[o], o)
            self._open.add(step)
            self.run.overhead_ns += time.perf_counter_ns() - entered
            self.run.start_clock()
            return step

    def tell(
        self,
        step: Step,
        gain: float | None = None,
        *,
        gains: Any = None,
        evaluations: int | None = None,
        touches: int | None = None,
        best: float | None = None,
        solution: Any = None,
        joules: float | None = None,
    ) -> float:
        """Say what a step did; return its Joules, on a counter provisional ones.

        What is left out stands in the step already: by default one evaluation, no touches. `Step`
        says what each of them is.
        """
        self.run.stop_clock()
        entered = time.perf_counter_ns()
        step.note(gain, gains, evaluations, touches, best, solution, joules)
        with self._guard.step_turn():
            if step.owner is not self:
                raise RunError(f"{step!r} is not an open step of this scheduler")
            total, gains = step.check()
            told = self.run.check_joules(step.joules)
            self.run.improve(step.best, step.solution)
            step.owner = None
            self._open.discard(step)
            self._note_seconds(entered)
            charged = self.run.book(
                step.number, total, gains, int(step.evaluations), int(step.touches), told
            )
            self.failures[step.number] += step.failed
            self._end_if_stopped()
            self.run.overhead_ns += time.perf_counter_ns() - entered
            return charged

    def withdraw(self, step: Step) -> None:
        """Give back a step that was not applied."""
        with self._guard.step_turn():
            step.owner = None
            self._open.discard(step)

    def __iter__(self) -> Iterator[Step]:
        while (step := self.ask()) is not None:
            try:
                yield step
            except GeneratorExit:  # break, return, or an exception in the body of the loop
                self._leave(step, failed=step.gain is None and step.gains is None)
                raise
            self._leave(step)

    @contextlib.contextmanager
    def step(self) -> Iterator[Step | None]:
        """Make one step: ``with scheduler.step() as step: …``; None: there is none left."""
        step = self.ask()
        if step is None:
            yield None
            return
        try:
            yield step
        except BaseException:
            self._leave(step, failed=True)
            raise
        self._leave(step)

    def _leave(self, step: Step, *, failed: bool = False) -> None:
        """Book a step whose body has ended; one that cannot be booked as it is has failed."""
        if step.owner is not self:
            return  # the body has told it
        try:
            if not failed:
                self.tell(step)
        finally:
            if step.owner is self:
                step.fail(needs_joules=self.run.told)
                self.tell(step)

    # --- where it stands ---

    @property
    def done(self) -> bool:
        """Whether the budget is spent, or nothing fits in what is left."""
        return self.run.done

    @property
    def left(self) -> float:
        """Joules left."""
        return self.run.left

    @property
    def spent(self) -> float:
        """Joules spent, on a counter provisional ones since its last window."""
        return float(self.run.ledger.joules[0])

    @property
    def progress(self) -> float:
        """How much of the tightest limit is spent, 0 to 1."""
        return self.run.progress

    @property
    def solution(self) -> Any:
        """The best solution that was told."""
        return self.run.solution

    @property
    def overhead(self) -> Overhead:
        """What choosing and learning took so far."""
        return self.run.overhead

    def belief(self) -> dict[str, Belief]:
        """Return what the rule thinks of each operator."""
        with self._guard.turn():
            run = self.run
            return {name: run.selector.belief(run.stats, o) for o, name in enumerate(run.names)}

    def explain(self) -> Decision:
        """Lay open the next decision, with the draws that will decide it."""
        with self._guard.turn():
            return self.run.explain()

    def adjust(self, **parameters: Any) -> None:
        """Change parameters of the rule from now on; the record keeps it."""
        with self._guard.turn():
            self.run.adjust(**parameters)

    def stop(self, reason: str = "stopped") -> None:
        """End the loop: no step comes any more; those that are open can still be told."""
        with self._guard.turn():
            self._stopping = self._stopping or reason
            self._end_if_stopped()

    def result(self) -> Result:
        """Return where the loop stands, as `solve` does: table, picture, record, report."""
        with self._guard.turn():
            self._begin_free()
            busy = self.run.counted and (self._open or self._guard.is_elsewhere())
            if not (self.done or busy):
                self.run.settle()
            return self.run.result()

    def __repr__(self) -> str:
        failed = int(self.failures.sum())
        facts = repr(self.result())[1:-1] + (f" · {failed:,} failed" if failed else "")
        return f"<Scheduler: {facts}>"

    # --- checkpoints ---

    def save(self, path: str | Path) -> None:
        """Write a checkpoint, whole or not at all, from which `Scheduler.resume` goes on.

        A solution is in it if it is an array of numbers. On a counter the open window is settled.
        """
        with self._guard.step_turn():
            if self._open:
                names = ", ".join(sorted(step.name for step in self._open))
                raise RunError(f"steps are open ({names}): tell them before the checkpoint")
            self._begin_free()
            self.run.close_window()
            write_checkpoint(Path(path), self.run)

    @classmethod
    def resume(
        cls,
        path: str | Path,
        operators: Iterable[str | Callable[..., Any]] | None = None,
        *,
        selector: Any = None,
        meter: Any = None,
        compiled: bool | None = None,
    ) -> Scheduler:
        """Go on from a checkpoint, with the same choices as if there had been none.

        Parameters
        ----------
        path : path
        operators : iterable of str or callable, optional
            The operators again, if they are callables.
        selector, meter : component, optional
            The same again, if they are objects rather than names.
        compiled : bool, optional
        """
        checkpoint = read_checkpoint(Path(path))
        given = {"operators": operators, "selector": selector, "meter": meter}
        self = cls(**checkpoint.arguments(given), compiled=compiled)
        restore(self.run, checkpoint)
        self._seconds_before = self.run.seconds
        return self

    # --- inside ---

    def _end_if_stopped(self) -> None:
        """End the run after `stop`, where that can be done: on a counter, in its own thread."""
        if self._stopping and not (self.done or self._open or self._guard.is_elsewhere()):
            self._begin_free()
            self.run.end(affordable=True, reason=self._stopping)

    def _begin_free(self) -> None:
        if not self.run.begun:
            self.run.begin(0, 0, math.nan, charged=False)

    def _note_seconds(self, now: int) -> None:
        self.run.seconds = self._seconds_before + (now - self._began_ns) * 1e-9
