"""The report's tables: cells, comparisons within cells, ranks across them, energy. Frames out."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from . import statistics as st
from .anytime import Band, Fit, band, expected_joules, fit
from .frames import CELL, SHARES, Frames

__all__ = [
    "ROPE",
    "Across",
    "across",
    "anytime",
    "cells",
    "compare",
    "control_of",
    "fits",
    "honesty",
    "operators",
    "plausible",
    "typical",
]

ROPE = 0.005
"""Methods whose means differ by less than this share of the best known value are comparable."""
MOMENTS = (0.1, 0.25, 0.5, 1.0)
"""Shares of the budget for the table of fixed budgets."""


class Across(NamedTuple):
    """Methods ranked over all cells that have them all."""

    methods: list[str]
    ranking: st.Ranking
    cells: int
    control: str


def control_of(frames: Frames, wanted: str = "") -> str:
    """Return the method that others are held against: the wanted one, else EI/J, else the first."""
    methods = list(dict.fromkeys(frames.trials["method"]))
    for name in (wanted, "EOS", "eij"):
        found = [method for method in methods if name and method.startswith(name)]
        if found:
            return found[0]
    return methods[0] if methods else ""


def cells(frames: Frames) -> pd.DataFrame:
    """Return one line per cell and method: quality, energy, feasibility."""
    lines = []
    for names, trials in frames.cells():
        for method, runs in trials.groupby("method", sort=False):
            good = runs[runs["feasible"]]
            fitness, joules = st.summarise(good["fitness"]), st.summarise(runs["joules"])
            lines.append(
                {
                    **dict(zip(CELL, names, strict=True)),
                    "method": method,
                    "runs": len(runs),
                    "feasible": len(good) / len(runs),
                    "optimal": float((good["gap"] <= 0).sum() / len(runs))
                    if runs["optimum"].notna().all()
                    else math.nan,
                    "mean": fitness.mean,
                    "sd": fitness.sd,
                    "median": fitness.median,
                    "q1": fitness.q1,
                    "q3": fitness.q3,
                    "joules": joules.mean,
                    "joules_sd": joules.sd,
                    "by_joules": bool(runs["by_joules"].iloc[0]),
                }
            )
    return pd.DataFrame(lines)


def compare(frames: Frames, control: str = "") -> pd.DataFrame:
    """Hold every method against the control of its cell.

    At equal Joules fitness is compared, at equal evaluations Joules. Tests by ranks use all runs,
    infeasible ones with their penalised fitness; equivalence uses the feasible ones.
    """
    lines = []
    for names, trials in frames.cells():
        chosen = control_of(Frames("", trials, frames.operators), control)
        measure = "fitness" if trials["by_joules"].iloc[0] else "joules"
        reference = _reference(trials) if measure == "fitness" else float(trials["joules"].mean())
        base = trials[trials["method"] == chosen]
        for method, runs in trials.groupby("method", sort=False):
            if method == chosen:
                continue
            pairs = base.merge(runs, on=["seed", "repetition"], suffixes=("", "_other"))
            mine, theirs = base[measure], runs[measure]
            effect, shift = st.a12(mine, theirs), st.hodges_lehmann(mine, theirs)
            sound = [
                group[group["feasible"] | (measure == "joules")][measure] for group in (base, runs)
            ]
            equal = st.tost(sound[0], sound[1], ROPE * abs(reference))
            lines.append(
                {
                    **dict(zip(CELL, names, strict=True)),
                    "measure": measure,
                    "control": chosen,
                    "method": method,
                    "mann_whitney": st.mann_whitney(mine, theirs),
                    "wilcoxon": st.wilcoxon(pairs[measure], pairs[f"{measure}_other"]),
                    "a12": effect.value,
                    "a12_low": effect.low,
                    "a12_high": effect.high,
                    "effect": st.magnitude(effect.value),
                    "shift": shift.value,
                    "shift_low": shift.low,
                    "shift_high": shift.high,
                    "margin": ROPE * abs(reference),
                    "tost": equal,
                }
            )
    table = pd.DataFrame(lines)
    if len(table):
        # One family per measure: the claims that are read together.
        for name in ("mann_whitney", "wilcoxon"):
            for members in table.groupby("measure").groups.values():
                table.loc[members, f"{name}_holm"] = st.holm(table.loc[members, name].to_numpy())
        table["verdict"] = [_verdict(line) for _, line in table.iterrows()]
    return table


def _verdict(line: Any) -> str:
    better = (line["a12"] > 0.5) == (line["measure"] == "fitness")
    if line["mann_whitney_holm"] < 0.05:
        return "control better" if better else "control worse"
    return "equivalent" if line["tost"] < 0.05 else "undecided"


def _reference(trials: pd.DataFrame) -> float:
    """Return the best known value of a problem: its optimum, else the best seen."""
    optimum = float(trials["optimum"].iloc[0])
    return optimum if math.isfinite(optimum) else float(trials["fitness"].max())


def across(frames: Frames, control: str = "") -> Across | None:
    """Rank methods over cells of equal Joules, by the mean over the runs; None if too few."""
    trials = frames.trials
    if not len(trials):
        return None
    # A mean of ranks inside the cell: a few infeasible runs must not decide it by their penalty.
    trials = trials[trials["by_joules"]].copy()
    trials["rank"] = trials.groupby(CELL)["fitness"].rank()
    means = trials.groupby([*CELL, "role"], sort=False)["rank"].mean().unstack("role")
    means = means.dropna(axis=1)
    if means.shape[0] < 2 or means.shape[1] < 2:
        return None
    methods = list(means.columns)
    wanted = control_of(frames, control)
    chosen = next((name for name in methods if wanted.startswith(name)), methods[0])
    ranking = st.friedman(means.to_numpy(), methods.index(chosen))
    return Across(methods, ranking, len(means), chosen)


def plausible(frames: Frames, runs: pd.DataFrame, trials: pd.DataFrame) -> Any:
    """Return the curves of the feasible runs, with nan where they were far below any end.

    Early values of a penalised problem lie a thousand times deeper than all that matters.
    """
    good = trials[trials["feasible"]]["fitness"]
    curves = frames.stack(runs[runs["feasible"]]["key"])
    if len(good):
        low, high = float(good.min()), float(good.max())
        floor = low - 3 * max(high - low, 0.02 * abs(high))
        curves = np.where(curves < floor, np.nan, curves)
    return curves


def typical(curves: Any) -> Band:
    """Return the band of curves, nan where most have no value yet: the others were lucky."""
    hidden = np.isnan(curves).mean(axis=0) > 0.5
    found = band(curves)
    median, q1, q3, mean = (np.where(hidden, np.nan, line) for line in found[:4])
    return Band(median, q1, q3, mean, found.runs)


def anytime(frames: Frames) -> pd.DataFrame:
    """Return medians at parts of the budget, and the expected Joules to a common target.

    The target is the median of all feasible ends in the cell.
    """
    lines = []
    for names, trials in frames.cells():
        if not trials["by_joules"].iloc[0]:
            continue
        target = float(trials[trials["feasible"]]["fitness"].median())
        for method, runs in trials.groupby("method", sort=False):
            runs = runs[runs["key"].isin(frames.curves)]
            medians = band(plausible(frames, runs, trials)).median if len(runs) else SHARES * np.nan
            hits = []
            for key, spent in zip(runs["key"], runs["joules"], strict=True):
                reached = np.flatnonzero(frames.curves[key] >= target)
                hits.append(SHARES[reached[0]] * spent if reached.size else math.inf)
            expected = expected_joules(hits, runs["joules"])
            lines.append(
                {
                    **dict(zip(CELL, names, strict=True)),
                    "method": method,
                    **{
                        f"at {share:.0%}": float(medians[round(share * (SHARES.size - 1))])
                        for share in MOMENTS
                    },
                    "target": target,
                    "success": float(np.isfinite(hits).mean()) if hits else math.nan,
                    "expected_joules": expected.value,
                    "expected_low": expected.low,
                    "expected_high": expected.high,
                }
            )
    return pd.DataFrame(lines)


def fits(frames: Frames) -> list[tuple[tuple[str, ...], str, Fit | None]]:
    """Return the paper's fit of each method's mean curve."""
    found = []
    for names, trials in frames.cells():
        for method, runs in trials.groupby("method", sort=False):
            curves = plausible(frames, runs, trials)
            if trials["by_joules"].iloc[0] and len(curves):
                found.append((names, str(method), fit(SHARES, typical(curves).mean)))
    return found


def operators(frames: Frames) -> pd.DataFrame:
    """Return each operator's share of applications and of Joules, by cell and method."""
    if not len(frames.trials):
        return pd.DataFrame()
    table = frames.operators.merge(frames.trials[[*CELL, "method", "key"]], on="key")
    totals = table.groupby([*CELL, "method", "operator"], sort=False)[
        ["applications", "evaluations", "joules", "gain"]
    ].sum()
    whole = totals.groupby([*CELL, "method"], sort=False).transform("sum")
    totals["share_of_applications"] = totals["applications"] / whole["applications"]
    totals["share_of_joules"] = totals["joules"] / whole["joules"]
    totals["joules_per_application"] = totals["joules"] / totals["applications"].replace(0, np.nan)
    return totals.reset_index()


def honesty(frames: Frames) -> pd.DataFrame:
    """Return what is known of the energy figures, by source."""
    lines = []
    for source, runs in frames.trials.groupby("source", sort=False):
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
