"""The analysis of a dataset, as data frames: cells, comparisons in them, ranks across them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from . import statistics as st
from .anytime import Fit, Quartiles, expected_joules, first_hits, fit, quartiles_of
from .dataset import CELL, SHARES, Dataset

ROPE = 0.005
"""Methods whose means differ by less than this share of the best known value are comparable."""
EXPECTED = ("expected_joules", "expected_low", "expected_high")
"""Columns of the expected Joules and their interval."""
MOMENTS = (0.1, 0.25, 0.5, 1.0)
"""Shares of the budget for the table of fixed budgets."""


class Across(NamedTuple):
    """Methods ranked over all cells that have them all."""

    methods: list[str]
    ranking: st.Ranking
    cells: int
    control: str


class Fitted(NamedTuple):
    """A method in a cell of equal Joules: its typical curve, and the paper's fit of the mean."""

    names: dict[str, Any]
    trials: pd.DataFrame
    """All trials of the cell."""
    curve: Quartiles
    fit: Fit | None


def control_of(trials: pd.DataFrame, wanted: str = "") -> str:
    """Return the control, which others are compared with: the wanted one, EI/J or the first."""
    beginnings = [*filter(None, (wanted, "EOS", "eij")), ""]
    ordered = (m for beginning in beginnings for m in trials["method"] if m.startswith(beginning))
    return next(ordered, "")


def _by_method(dataset: Dataset) -> Iterator[tuple[dict[str, Any], pd.DataFrame, pd.DataFrame]]:
    """Yield the names of a cell and a method, the cell's trials and the method's."""
    for names, trials in dataset.cells():
        for method, runs in trials.groupby("method", sort=False):
            yield {**dict(zip(CELL, names, strict=True)), "method": method}, trials, runs


def cells(dataset: Dataset) -> pd.DataFrame:
    """Return one line per cell and method: quality, energy, feasibility."""
    lines = []
    for names, _, runs in _by_method(dataset):
        good = runs[runs["feasible"]]
        joules = st.summarise(runs["joules"])
        known = runs["optimum"].notna().all()
        lines.append(
            {
                **names,
                "runs": len(runs),
                "feasible": len(good) / len(runs),
                "optimal": float((good["gap"] <= 0).sum() / len(runs)) if known else math.nan,
                **st.summarise(good["fitness"])._asdict(),
                "joules": joules.mean,
                "joules_sd": joules.sd,
                "by_joules": bool(runs["by_joules"].iloc[0]),
            }
        )
    return pd.DataFrame(lines)


def compare(dataset: Dataset, control: str = "") -> pd.DataFrame:
    """Compare every method with the control of its cell.

    At equal Joules fitness is compared, at equal evaluations Joules. Tests by ranks use all runs,
    infeasible ones with their penalised fitness; equivalence uses the feasible ones.
    """
    lines = []
    for names, trials, runs in _by_method(dataset):
        chosen = control_of(trials, control)
        if names["method"] == chosen:
            continue
        measure = "fitness" if trials["by_joules"].iloc[0] else "joules"
        reference = _reference(trials) if measure == "fitness" else float(trials["joules"].mean())
        base = trials[trials["method"] == chosen]
        pairs = base.merge(runs, on=["seed", "repetition"], suffixes=("", "_other"))
        mine, theirs = base[measure], runs[measure]
        effect = st.a12(mine, theirs)
        shift = st.hodges_lehmann(mine, theirs)
        sound = [g[g["feasible"] | (measure == "joules")][measure] for g in (base, runs)]
        margin = ROPE * abs(reference)
        lines.append(
            {
                **names,
                "measure": measure,
                "sign": trials["sign"].iloc[0] if measure == "fitness" else -1.0,
                "control": chosen,
                "mann_whitney": st.mann_whitney(mine, theirs),
                "wilcoxon": st.wilcoxon(pairs[measure], pairs[f"{measure}_other"]),
                **dict(zip(("a12", "a12_low", "a12_high"), effect, strict=True)),
                "effect": st.magnitude(effect.value),
                **dict(zip(("shift", "shift_low", "shift_high"), shift, strict=True)),
                "margin": margin,
                "tost": st.tost(sound[0], sound[1], margin),
            }
        )
    table = pd.DataFrame(lines)
    if len(table):
        # Holm corrects per measure, because the claims about one measure are read together.
        for name in ("mann_whitney", "wilcoxon"):
            for members in table.groupby("measure").groups.values():
                table.loc[members, f"{name}_holm"] = st.holm(table.loc[members, name].to_numpy())
        table["verdict"] = [_verdict(line) for _, line in table.iterrows()]
    return table


def _verdict(line: Any) -> str:
    better = (line["a12"] > 0.5) == (line["sign"] > 0.0)
    if line["mann_whitney_holm"] < 0.05:
        return "control better" if better else "control worse"
    return "equivalent" if line["tost"] < 0.05 else "undecided"


def _reference(trials: pd.DataFrame) -> float:
    """Return the best known value of a problem: its optimum, else the best seen."""
    optimum = float(trials["optimum"].iloc[0])
    sign = float(trials["sign"].iloc[0])
    return optimum if math.isfinite(optimum) else sign * float((sign * trials["fitness"]).max())


def across(dataset: Dataset, control: str = "") -> Across | None:
    """Rank methods over cells of equal Joules, by the mean over the runs; None if too few."""
    trials = dataset.trials
    if not len(trials):
        return None
    # Ranks inside the cell, because the penalty of a few infeasible runs would decide a mean.
    trials = trials[trials["by_joules"]].copy()
    trials["upwards"] = trials["sign"] * trials["fitness"]
    trials["rank"] = trials.groupby(CELL)["upwards"].rank()
    means = trials.groupby([*CELL, "role"], sort=False)["rank"].mean().unstack("role")
    means = means.dropna(axis=1)
    if means.shape[0] < 2 or means.shape[1] < 2:
        return None
    methods = list(means.columns)
    wanted = control_of(dataset.trials, control)
    chosen = next((name for name in methods if wanted.startswith(name)), methods[0])
    ranking = st.friedman(means.to_numpy(), methods.index(chosen))
    return Across(methods, ranking, len(means), chosen)


def plausible(dataset: Dataset, runs: pd.DataFrame, trials: pd.DataFrame) -> Any:
    """Return the curves of the feasible runs, with nan where they were far below any end.

    Early values of a penalised problem lie a thousand times deeper than all that matters.
    """
    good = trials[trials["feasible"]]["fitness"]
    curves = dataset.stack(runs[runs["feasible"]]["key"])
    if len(good):
        low, high = float(good.min()), float(good.max())
        floor = low - 3 * max(high - low, 0.02 * abs(high))
        curves = np.where(curves < floor, np.nan, curves)
    return curves


def typical(curves: Any) -> Quartiles:
    """Return the quartiles of curves; nan where fewer than half of the runs have a value yet."""
    hidden = np.isnan(curves).mean(axis=0) > 0.5
    return Quartiles(*(np.where(hidden, np.nan, line) for line in quartiles_of(curves)))


def anytime(dataset: Dataset) -> pd.DataFrame:
    """Return medians at parts of the budget, and the expected Joules to a common target.

    The target is that of the trials; without one, the median of all feasible ends in the cell.
    """
    lines = []
    for names, trials, runs in _by_method(dataset):
        if not trials["by_joules"].iloc[0]:
            continue
        own = float(trials["target"].median())  # of the trials: then the very Joules are known
        target = float(trials[trials["feasible"]]["fitness"].median()) if math.isnan(own) else own
        runs = runs[runs["key"].isin(dataset.curves)]
        curves = plausible(dataset, runs, trials)
        medians = quartiles_of(curves).median
        upwards = trials["sign"].iloc[0] * dataset.stack(runs["key"])
        goal = [trials["sign"].iloc[0] * target]
        hits = first_hits(SHARES, upwards, goal)[:, 0] * runs["joules"]
        hits = hits if math.isnan(own) else runs["target_joules"].fillna(math.inf)
        moments = (round(share * (SHARES.size - 1)) for share in MOMENTS)
        lines.append(
            {
                **names,
                **{f"at {SHARES[moment]:.0%}": float(medians[moment]) for moment in moments},
                "target": target,
                "success": float(np.isfinite(hits).mean()),
                **dict(zip(EXPECTED, expected_joules(hits, runs["joules"]), strict=True)),
            }
        )
    return pd.DataFrame(lines)


def fits(dataset: Dataset) -> list[Fitted]:
    """Return the typical curve of each method at equal Joules, and the paper's fit of its mean."""
    found = []
    for names, trials, runs in _by_method(dataset):
        curves = plausible(dataset, runs, trials)
        if trials["by_joules"].iloc[0] and len(curves):
            curve = typical(curves)
            found.append(Fitted(names, trials, curve, fit(SHARES, curve.mean)))
    return found


def operators(dataset: Dataset) -> pd.DataFrame:
    """Return each operator's share of applications and of Joules, by cell and method."""
    if not len(dataset.trials):
        return pd.DataFrame()
    table = dataset.operators.merge(dataset.trials[[*CELL, "method", "key"]], on="key")
    totals = table.groupby([*CELL, "method", "operator"], sort=False)[
        ["applications", "evaluations", "joules", "gain"]
    ].sum()
    whole = totals.groupby([*CELL, "method"], sort=False).transform("sum")
    totals["share_of_applications"] = totals["applications"] / whole["applications"]
    totals["share_of_joules"] = totals["joules"] / whole["joules"]
    totals["joules_per_application"] = totals["joules"] / totals["applications"].replace(0, np.nan)
    return totals.reset_index()


def energy(dataset: Dataset) -> pd.DataFrame:
    """Return what is known of the energy figures, by source."""
    lines = []
    for source, runs in dataset.trials.groupby("source", sort=False):
        limited = runs[runs["by_joules"]]
        lines.append(
            {
                "source": source,
                "provenance": runs["provenance"].iloc[0],
                "trials": len(runs),
                "hosts": runs["host"].nunique(),
                "joules": runs["joules"].sum(),
                "uncertainty": runs["uncertainty"].max(),
                "start": (runs["start_joules"] / runs["joules"]).mean(),
                "overshoot": (limited["overshoot"] / limited["joules"]).max(),
                "joules_per_evaluation": runs["joules"].sum() / runs["evaluations"].sum(),
                "computed_seconds": runs["seconds"].sum(),
            }
        )
    return pd.DataFrame(lines)
