"""Optuna: a budget in Joules.

>>> import optuna
>>> optuna.logging.set_verbosity(optuna.logging.WARNING)
>>> study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=7))
>>> stop = MaxJoules("20 mJ", "cputime:watts=10")
>>> study.optimize(lambda trial: trial.suggest_float("x", -1, 1) ** 2, callbacks=[stop])
>>> len(study.trials) > 0, study.user_attrs["joules"] >= 0.02, study.user_attrs["provenance"]
(True, True, 'estimated')
"""

from __future__ import annotations

from typing import Any

from .joules import JouleBudget
from .needed import needed

with needed("optuna"):
    import optuna  # noqa: F401  the callback below has the shape that it asks for


class MaxJoules:
    """A callback of `study.optimize` that stops the study when the budget is spent.

    It counts from its making. The study keeps what was spent, and how that is known, in its
    attributes `joules` and `provenance`. A counter of CPU time sees one thread: with `n_jobs` above
    1 use a counter of the package.

    Parameters
    ----------
    budget : str or Budget
    meter : str or Counter
        See `JouleBudget`.
    """

    def __init__(self, budget: Any, meter: Any = "auto") -> None:
        self.budget = JouleBudget(budget, meter)
        self.budget.start()

    def __call__(self, study: Any, trial: Any) -> None:
        """Stop the study if nothing is left."""
        if self.budget.is_spent:
            study.set_user_attr("joules", self.budget.spent)
            study.set_user_attr("provenance", str(self.budget.info.provenance))
            study.stop()
