"""The paper's whole experiment as a campaign, and the names of its methods."""

from __future__ import annotations

from ..campaigns import Campaign
from ..solving import solve
from ..trial import FAMILIES, Trial
from .published import FINAL_ENERGY, METHODS, PROBLEMS, TRIALS

NAME = "The paper's experiment"
ROLES = ("EOS", "first operator", "second operator")
SAMPLE = 35_000
"""Evaluations by which another machine's Joules are related to the paper's."""


def paper_campaign(
    trials: int = TRIALS, meter: str = "paper", budgets: dict[str, str] | None = None
) -> Campaign:
    """Return the paper's two experiments: at its energy budgets, and at fixed evaluations.

    Parameters
    ----------
    trials : int
        Repetitions of each method.
    meter : str
        The paper's machine by default.
    budgets : dict
        Energy budgets by problem, for another machine; see `host_budgets`.
    """
    grids = [
        {
            "problems": [problem],
            "algorithms": [algorithm],
            "selectors": list(methods.values()),
            "budgets": [
                (budgets or {}).get(problem, f"{setting.joules:g} J"),
                f"{setting.evaluations:g} evaluations",
            ],
        }
        for problem, setting in PROBLEMS.items()
        for algorithm, methods in METHODS.items()
    ]
    common = {"name": NAME, "meter": meter, "seeds": trials, "seed": 1, "points": 100}
    return Campaign.from_dict({**common, "grid": grids})


def host_budgets(meter: str) -> dict[str, str]:
    """Return budgets in this machine's Joules that buy about as many evaluations as the paper's.

    One run of ILS-1 per problem measures what an evaluation costs here.
    """
    found = {}
    for problem, setting in PROBLEMS.items():
        probe = Trial(problem, "ils", METHODS["ils"]["ILS-1"], meter, f"{SAMPLE} evaluations")
        solve(probe)  # once for the compiler and the caches
        here = solve(probe).spent.joules / SAMPLE
        there = FINAL_ENERGY[problem]["ILS-1"].mean / setting.evaluations
        found[problem] = f"{float(f'{setting.joules * here / there:.2g}')!r} J"
    return found


def name(trial: Trial) -> tuple[str, str]:
    """Name a trial as the paper does, and its role: EOS, or which of the two operators."""
    for i, (method, text) in enumerate(METHODS.get(trial.algorithm.name, {}).items()):
        if FAMILIES["selector"].check(text) == trial.selector:
            return method, ROLES[i]
    return str(trial.selector), str(trial.selector)


def is_papers(trial: Trial) -> bool:
    """Tell whether a trial is one of the paper's: its problem, algorithm, method and budget."""
    setting = PROBLEMS.get(trial.problem.name)
    return (
        setting is not None
        and name(trial)[1] in ROLES
        and all(
            spec == FAMILIES[family].check(spec.name)
            for family in ("problem", "algorithm", "meter")
            for spec in [getattr(trial, family)]
        )
        and trial.meter.name == "paper"
        and str(trial.budget) in (f"{setting.joules:g} J", f"{setting.evaluations:g} evaluations")
    )
