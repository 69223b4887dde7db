"""The steps of a scheduler inside a library's loop."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ..errors import RunError
from ..result import Result
from ..scheduler import Scheduler
from ..scheduling.step import Step


class Steps:
    """One step after the other, where the loop that asks for them is a library's.

    A library asks first whether it must stop and only then for an operator. So the next step may be
    asked for ahead; its clock starts when it is taken. A copy has the same steps, because there is
    one budget.

    Parameters
    ----------
    operators : iterable of str
    judge : callable, optional
        Writes into a step that is over what it did, before the next one begins. A step that has
        then no gain has failed.
    options
        Of `Scheduler`. `sense` is "min" if it is not given, as in the libraries.
    """

    def __init__(
        self, operators: Iterable[str], judge: Callable[[Step], None] | None = None, **options: Any
    ) -> None:
        self.scheduler = Scheduler(operators, **{"sense": "min", **options})
        self._judge = judge
        self._ahead: Step | None = None
        self.open: Step | None = None
        """The step whose operator the library applies now."""

    def __deepcopy__(self, memo: Any) -> Steps:
        return self

    @property
    def is_spent(self) -> bool:
        """Whether no operator can be applied any more; ends the open step."""
        self.finish()
        if self._ahead is None:
            self._ahead = self.scheduler.ask()
        return self._ahead is None

    @property
    def progress(self) -> float:
        """How much is spent, 0 to 1, and 1 only if no operator can be applied any more."""
        return 1.0 if self.is_spent else min(self.scheduler.progress, 0.999)

    def take(self) -> Step:
        """Begin the next step."""
        self.finish()
        step, self._ahead = self._ahead, None
        if step is not None:
            self.scheduler.run.start_clock()
        else:
            step = self.scheduler.ask()
        if step is None:
            raise RunError(
                f"{self.scheduler.run.reason}: let the search stop by this budget, with the rule "
                f"for stopping that stands beside this adapter, or give it more Joules"
            )
        self.open = step
        return step

    def finish(self, **outcome: Any) -> None:
        """Tell the open step, if there is one; what is not given is the judge's to say."""
        step, self.open = self.open, None
        if step is None:
            return
        for name, value in outcome.items():
            setattr(step, name, value)
        if self._judge is not None:
            self._judge(step)
        if step.gain is None and step.gains is None:
            step.fail(needs_joules=False)
        self.scheduler.tell(step)

    def result(self) -> Result:
        """Return the result of the scheduler; a step that nobody took is given back."""
        self.finish()
        if self._ahead is not None:
            self.scheduler.withdraw(self._ahead)
            self._ahead = None
        return self.scheduler.result()


def unique_names(operators: Sequence[Any]) -> list[str]:
    """Return the names of operators, those of equal name with a number.

    Examples
    --------
    >>> unique_names([sorted, 1, 2.0, 3])
    ['sorted', 'int 1', 'float', 'int 2']
    """
    names = [getattr(each, "__name__", type(each).__name__) for each in operators]
    return [
        f"{name} {names[: i + 1].count(name)}" if names.count(name) > 1 else name
        for i, name in enumerate(names)
    ]
