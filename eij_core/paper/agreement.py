"""The paper's published values beside those of a campaign."""

from __future__ import annotations

import itertools
import math
from pathlib import Path
from typing import NamedTuple

from ..campaigns import Reader
from ..reports import statistics as st
from ..reports.dataset import Dataset, read_dataset
from ..reports.report import Beside
from ..reports.templating import Entry, Table, mean_sd
from .experiment import NAME, ROLES, is_papers, name
from .published import FINAL_ENERGY, FINAL_FITNESS, HALF_DIGIT, METHODS, PROBLEMS, TRIALS, Published


class Agreement(NamedTuple):
    """One published mean and ours."""

    problem: str
    method: str
    fixed: str
    """What is the same for all methods: joules or evaluations."""
    published: Published
    same_machine: bool
    """Whether the Joules are those of the paper's machine, and not of the host."""
    feasible: float
    """The share of runs that found a feasible solution."""
    p: float
    """Mann-Whitney against the EOS method; nan for that method itself."""
    n: int
    """Runs in the mean: of fitness, the feasible ones."""
    mean: float
    sd: float

    @property
    def comparable(self) -> bool:
        """Whether the paper printed a mean, and the Joules are those of its machine."""
        return self.same_machine and not math.isnan(self.published.mean)

    @property
    def error(self) -> float:
        """Standard error of the difference of the two means."""
        # One feasible run has no spread: then only the paper's own error counts.
        spread = 0.0 if math.isnan(self.sd) else self.sd
        return math.sqrt(spread**2 / max(self.n, 1) + self.published.sd**2 / TRIALS)

    @property
    def errors(self) -> float:
        """Difference of the means in standard errors; nan where a mean is missing."""
        return (self.mean - self.published.mean) / self.error

    @property
    def agrees(self) -> bool:
        """Whether the means differ by at most 3 standard errors and half of a printed digit."""
        return abs(self.mean - self.published.mean) <= 3 * self.error + HALF_DIGIT


def beside(folder: str | Path, control: str = "") -> Beside:
    """Return what the paper published of a campaign's cells, for `report_of(…, beside=beside)`.

    In the paper's own campaign methods also have the paper's names, and are compared with its EOS
    methods unless another `control` is given.
    """
    with Reader(folder) as reader:
        whole = reader.spec().get("name") == NAME and not control
    alike = read_dataset(
        folder, namer=name, curves=False, only=(lambda _: True) if whole else is_papers
    )
    found = agreements(alike) if len(alike.trials) else []
    accounting = (
        "The simulation of the paper's machine is built from this table, so agreement here checks "
        "the accounting, not the machine."
    )
    if not all(a.same_machine for a in found):
        accounting = "These are the Joules of another machine: compare their ratios."
    fitness = (
        "Means of feasible runs, their share in brackets where it is below 100 %; NK and ECC "
        "× 100. The paper's NK instance is not published: on NK compare differences, not values."
    )
    tables = [
        _side_by_side(group, title, note)
        for title, note, fixed in (
            ("Final fitness at equal Joules, beside the paper", fitness, "joules"),
            ("Joules at equal evaluations, beside the paper", accounting, "evaluations"),
        )
        if (group := [a for a in found if a.fixed == fixed])
    ]
    return Beside(tables, _remarks(found), *((name, ROLES[0]) if whole else (None, "")))


def agreements(dataset: Dataset) -> list[Agreement]:
    """Compare every method of a campaign with the paper's tables."""
    found = []
    trials = dataset.trials
    for fixed, measure, published in (
        ("joules", "fitness", FINAL_FITNESS),
        ("evaluations", "joules", FINAL_ENERGY),
    ):
        part = trials[trials["by_joules"] == (fixed == "joules")]
        for problem, methods in itertools.product(PROBLEMS, METHODS.values()):
            here = part[part["problem"] == problem]
            samples = {method: here[here["method"] == method] for method in methods}
            base = next(iter(samples.values()))
            for method, runs in samples.items():
                if runs.empty:
                    continue
                good = runs["joules"]
                if fixed == "joules":
                    good = runs[runs["feasible"]]["fitness"] * PROBLEMS[problem].scale
                found.append(
                    Agreement(
                        problem,
                        method,
                        fixed,
                        published[problem][method],
                        bool(runs["source"].str.startswith("paper ").all()),
                        float(runs["feasible"].mean()),
                        math.nan if runs is base else st.mann_whitney(base[measure], runs[measure]),
                        len(good),
                        *st.summarise(good)[:2],
                    )
                )
    return found


def _remarks(found: list[Agreement]) -> list[str]:
    lines = []
    if not all(a.same_machine for a in found):
        lines.append(
            "These are not the Joules of the paper's machine: compare the order of the values, "
            "not their size."
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
            row = [Entry(method)]
            for problem in problems:
                agreement = by_place.get((method, problem))
                row += _entries(agreement, bold) if agreement else [Entry("")] * 5
            rows.append(row)
    headings = ["method"]
    for setting in map(PROBLEMS.__getitem__, problems):
        headings += [f"{setting.title}: paper", "p", "ours", "p", "SE"]
    caption = (
        f"{note} Mean ± sd; p: Mann–Whitney against EOS; bold: the best mean and those that do "
        f"not differ from it at 5 %; SE: difference of the two means in standard errors, ✓ within "
        f"3 (and half of the last printed digit)."
    )
    return Table(title, caption, headings, rows)


def _entries(a: Agreement, bold: set[tuple[str, str, str]]) -> list[Entry]:
    theirs, ours = _printed(a.published.mean, a.published.sd), _printed(a.mean, a.sd)
    if not a.same_machine and a.fixed == "evaluations":
        ours = mean_sd(a.mean, a.sd)
    if a.fixed == "joules" and a.feasible < 1:
        ours = f"{ours} ({a.feasible:.0%})"
    if not a.comparable:
        errors = Entry("–")
    elif a.agrees:
        errors = Entry(f"{_off(a)} ✓", mark="good")
    else:
        errors = Entry(_off(a), mark="warn" if a.problem == "nk" else "bad")
    own = "" if math.isnan(a.p) else "<0.01" if a.p < 0.01 else f"{a.p:.2f}"
    return [
        Entry(theirs, bold=("paper", a.problem, a.method) in bold),
        Entry(a.published.p),
        Entry(ours, bold=("ours", a.problem, a.method) in bold),
        Entry(own),
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
    """Return the means that are best or not significantly worse than the best, theirs and ours."""
    chosen = set()
    for problem, methods in itertools.product(PROBLEMS, METHODS.values()):
        group = [a for a in found if a.problem == problem and a.method in methods]
        theirs = [(a, a.published.mean, a.published.p_value) for a in group]
        counted = (a for a in group if a.fixed == "evaluations" or a.feasible >= 0.5)
        ours = [(a, a.mean, a.p) for a in counted]
        for whose, entries in (("paper", theirs), ("ours", ours)):
            known = [entry for entry in entries if not math.isnan(entry[1])]
            if not known:
                continue
            best, _, p = max(known, key=lambda e: e[1] if e[0].fixed == "joules" else -e[1])
            # A best mean that differs from EOS stands alone; otherwise all that do not differ.
            top = [best] if p < 0.05 else [a for a, _, p in known if not p < 0.05]
            chosen |= {(whose, problem, a.method) for a in top}
    return chosen
