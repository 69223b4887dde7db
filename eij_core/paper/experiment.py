"""The paper's whole experiment as a campaign, and its tables with ours beside them."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import pandas as pd

from ..campaigns import Campaign, Reader
from ..reports import statistics as st
from ..reports.frames import Frames, frames_of
from ..reports.report import Report, report_of
from ..reports.tabular import Cell, Table, mean_sd
from ..run import solve
from ..trial import FAMILIES, Trial
from .published import FINAL_ENERGY, FINAL_FITNESS, HALF_DIGIT, METHODS, PROBLEMS, TRIALS, Published

__all__ = [
    "Agreement",
    "agreements",
    "is_papers",
    "name",
    "paper_campaign",
    "paper_report",
    "report_beside",
]

NAME = "The paper's experiment"
ROLES = ("EOS", "first operator", "second operator")
SAMPLE = 35_000
"""Evaluations by which another machine's Joules are related to the paper's."""


class Agreement(NamedTuple):
    """One published mean and ours."""

    problem: str
    method: str
    fixed: str
    """What is the same for all methods: joules or evaluations."""
    published: Published
    runs: int
    feasible: float
    mean: float
    sd: float
    p: float
    """Mann-Whitney against the EOS method; nan for that itself."""
    errors: float
    """Difference of the means in standard errors; nan where the paper has a dash."""
    agrees: bool
    same_machine: bool
    """Whether the Joules are those of the paper's machine, and not of the host."""

    @property
    def comparable(self) -> bool:
        """Whether the paper printed a mean, and it was the same machine."""
        return self.same_machine and not math.isnan(self.published.mean)


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

    One run of ILS-1 per problem tells what an evaluation costs here.
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


def agreements(frames: Frames) -> list[Agreement]:
    """Hold every method of a campaign against the paper's tables."""
    found = []
    trials = frames.trials
    for fixed, published in (("joules", FINAL_FITNESS), ("evaluations", FINAL_ENERGY)):
        part = trials[trials["by_joules"] == (fixed == "joules")]
        measure = "fitness" if fixed == "joules" else "joules"
        for problem, setting in PROBLEMS.items():
            scale = setting.scale if fixed == "joules" else 1.0
            here = part[part["problem"] == problem]
            for algorithm, methods in METHODS.items():
                first = next(iter(methods))
                base = here[here["method"] == first][measure]
                for method in methods:
                    runs = here[(here["method"] == method) & (here["algorithm"] == algorithm)]
                    if len(runs):
                        p = math.nan if method == first else st.mann_whitney(base, runs[measure])
                        entry = published[problem][method]
                        found.append(_agreement(problem, method, fixed, entry, runs, scale, p))
    return found


def _agreement(
    problem: str,
    method: str,
    fixed: str,
    entry: Published,
    runs: pd.DataFrame,
    scale: float,
    p: float,
) -> Agreement:
    same_machine = bool(runs["source"].str.startswith("paper ").all())
    good = runs[runs["feasible"]]["fitness"] * scale if fixed == "joules" else runs["joules"]
    ours = st.summarise(good)
    # One feasible run has no spread: then only the paper's own error counts.
    spread = 0.0 if math.isnan(ours.sd) else ours.sd
    error = math.sqrt(spread**2 / max(ours.n, 1) + entry.sd**2 / TRIALS)
    difference = ours.mean - entry.mean
    return Agreement(
        problem,
        method,
        fixed,
        entry,
        len(runs),
        float(runs["feasible"].mean()),
        ours.mean,
        ours.sd,
        p,
        difference / error,
        abs(difference) <= 3 * error + HALF_DIGIT,
        same_machine,
    )


def paper_report(folder: Any) -> Report:
    """Return the report of a paper's campaign, the paper's two tables first."""
    report = report_of(folder, control="EOS", namer=name)
    report.control = ROLES[0]
    return _with_paper(report, agreements(report.frames))


def report_beside(folder: Any, control: str = "") -> Report:
    """Return the report of any campaign, with the paper's values where it has them."""
    with Reader(folder) as reader:
        if reader.spec().get("name") == NAME and not control:
            return paper_report(folder)
    alike = frames_of(folder, namer=name, curves=False, only=is_papers)
    found = agreements(alike) if len(alike.trials) else []
    return _with_paper(report_of(folder, control=control), found)


def _with_paper(report: Report, found: list[Agreement]) -> Report:
    accounting = (
        "The paper's machine is simulated from this very table, so that agreement here checks the "
        "accounting, not the machine."
    )
    if not all(a.same_machine for a in found):
        accounting = "Another machine, other Joules: compare their ratios."
    report.lead = [
        _side_by_side(group, title, note)
        for title, note, group in (
            (
                "Final fitness at equal Joules, beside the paper",
                "Means of feasible runs, their share in brackets where it is below 100 %; NK and "
                "ECC × 100. The paper's NK instance is not "
                "published: on NK compare differences, not values.",
                [a for a in found if a.fixed == "joules"],
            ),
            (
                "Joules at equal evaluations, beside the paper",
                accounting,
                [a for a in found if a.fixed == "evaluations"],
            ),
        )
        if group
    ]
    report.remarks = _remarks(found)
    return report


def _remarks(found: list[Agreement]) -> list[str]:
    lines = []
    if not all(a.same_machine for a in found):
        lines.append(
            "These are not the Joules of the paper's machine: its values stand beside them for "
            "their order, not for their size."
        )
    for fixed, what in (("joules", "final fitness"), ("evaluations", "energy")):
        cells = [a for a in found if a.fixed == fixed and a.comparable]
        known = [a for a in cells if a.problem != "nk" or fixed == "evaluations"]
        if not known:
            continue
        missed = [f"{a.method} on {PROBLEMS[a.problem].title} ({_off(a)})" for a in known
                  if not a.agrees]  # fmt: skip
        text = f"{what}: {len(known) - len(missed)} of {len(known)} published means are within 3 "
        text += "standard errors"
        text += f"; not: {', '.join(missed)}." if missed else "."
        lines.append(text[0].upper() + text[1:])
    return lines


def _side_by_side(found: list[Agreement], title: str, note: str) -> Table:
    by_place = {(a.method, a.problem): a for a in found}
    bold = _bold(found)
    rows = []
    shown = {a.method for a in found}
    problems = [problem for problem in PROBLEMS if problem in {a.problem for a in found}]
    for methods in METHODS.values():
        for method in (method for method in methods if method in shown):
            row = [Cell(method)]
            for problem in problems:
                agreement = by_place.get((method, problem))
                row += _entries(agreement, bold) if agreement else [Cell("")] * 5
            rows.append(row)
    headings = ["method"]
    for setting in map(PROBLEMS.__getitem__, problems):
        headings += [f"{setting.title}: paper", "p", "ours", "p", "SE"]
    caption = (
        f"{note} Mean ± sd; p: Mann–Whitney against EOS; bold: the best mean and what is not told "
        f"apart from it at 5 %; SE: difference of the two means in standard errors, ✓ within 3 "
        f"(and half of the last printed digit)."
    )
    return Table(title, caption, headings, rows)


def _entries(a: Agreement, bold: set[tuple[str, str, str]]) -> list[Cell]:
    theirs, ours = _printed(a.published.mean, a.published.sd), _printed(a.mean, a.sd)
    if not a.same_machine and a.fixed == "evaluations":
        ours = mean_sd(a.mean, a.sd)
    if a.fixed == "joules" and a.feasible < 1:
        ours = f"{ours} ({a.feasible:.0%})"
    if not a.comparable:
        errors = Cell("–")
    elif a.agrees:
        errors = Cell(f"{_off(a)} ✓", mark="good")
    else:
        errors = Cell(_off(a), mark="warn" if a.problem == "nk" else "bad")
    own = "" if math.isnan(a.p) else "<0.01" if a.p < 0.01 else f"{a.p:.2f}"
    return [
        Cell(theirs, bold=("paper", a.problem, a.method) in bold),
        Cell(a.published.p),
        Cell(ours, bold=("ours", a.problem, a.method) in bold),
        Cell(own),
        errors,
    ]


def _printed(mean: float, sd: float) -> str:
    """Write mean ± sd with the paper's two digits."""
    if math.isnan(mean):
        return "–"
    return f"{mean:.2f}" if math.isnan(sd) else f"{mean:.2f} ± {sd:.2f}"


def _off(a: Agreement) -> str:
    return "none feasible" if math.isnan(a.errors) else f"{a.errors:+.1f}".replace("-", "−")


def _bold(found: list[Agreement]) -> set[tuple[str, str, str]]:
    """Return which means are best or not told apart from the best, theirs and ours."""
    chosen = set()
    for problem in PROBLEMS:
        for methods in METHODS.values():
            group = [a for a in found if a.problem == problem and a.method in methods]
            sign = 1 if group and group[0].fixed == "joules" else -1
            for whose in ("paper", "ours"):
                means = {a.method: sign * (a.published.mean if whose == "paper" else a.mean)
                         for a in group if _counts(a, whose)}  # fmt: skip
                means = {m: v for m, v in means.items() if not math.isnan(v)}
                if not means:
                    continue
                p = {a.method: _published_p(a) if whose == "paper" else a.p for a in group}
                best = max(means, key=lambda m: means[m])
                if p[best] < 0.05:  # better than EOS: alone at the top
                    chosen.add((whose, problem, best))
                else:
                    chosen |= {(whose, problem, m) for m in means if not p[m] < 0.05}
    return chosen


def _counts(a: Agreement, whose: str) -> bool:
    return whose == "paper" or a.fixed == "evaluations" or a.feasible >= 0.5


def _published_p(a: Agreement) -> float:
    text = a.published.p
    return math.nan if not text else 0.0 if text.startswith("<") else float(text)
