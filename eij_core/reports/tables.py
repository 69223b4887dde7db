"""The report's tables: frames in, text out."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd

from ..svg import number
from . import comparisons as cmp
from .comparisons import ROPE, Across
from .frames import Frames
from .tabular import Cell, Table, mean_sd, p_value

__all__ = [
    "anytime_table",
    "cells_table",
    "comparisons_table",
    "energy_table",
    "fits_table",
    "operators_table",
    "ranks_table",
]


def _place(line: Any) -> list[Cell]:
    return [Cell(str(line[name])) for name in ("problem", "algorithm", "budget")]


def _share(value: float) -> str:
    return "–" if math.isnan(value) else f"{100 * value:.0f} %"


def _figure(value: float) -> str:
    return "–" if math.isnan(value) else "∞" if math.isinf(value) else number(value)


def cells_table(frame: pd.DataFrame) -> Table:
    """Return quality, feasibility and energy of each method in each cell."""
    rows = []
    groups = frame.groupby(["problem", "algorithm", "budget", "source"], sort=False)
    for _, group in groups:
        best = group["median"].max()
        for _, line in group.iterrows():
            rows.append(
                [
                    *_place(line),
                    Cell(line["method"]),
                    Cell(str(line["runs"])),
                    Cell(_share(line["feasible"]), mark="" if line["feasible"] > 0.99 else "warn"),
                    Cell(_share(line["optimal"])),
                    Cell(mean_sd(line["mean"], line["sd"])),
                    Cell(_figure(line["median"]), bold=bool(line["median"] == best)),
                    Cell(f"{_figure(line['q1'])} … {_figure(line['q3'])}"),
                    Cell(mean_sd(line["joules"], line["joules_sd"])),
                ]
            )
    return Table(
        "Results by cell",
        "Mean ± sd, median and quartiles are of the feasible runs; the highest median of a cell is "
        "bold. Joules: " + "; ".join(dict.fromkeys(frame["source"])) + ".",
        ["problem", "algorithm", "budget", "method", "runs", "feasible", "optimal",
         "fitness", "median", "quartiles", "J"],
        rows,
        4,
    )  # fmt: skip


def comparisons_table(frame: pd.DataFrame) -> Table:
    """Return the tests of each method against the control."""
    marks = {"control better": "good", "control worse": "bad", "equivalent": "good"}
    rows = [
        [
            *_place(line),
            Cell(f"{line['control']} vs {line['method']}"),
            Cell(line["measure"]),
            Cell(line["verdict"], mark=marks.get(line["verdict"], "")),
            Cell(p_value(line["mann_whitney"])),
            Cell(p_value(line["mann_whitney_holm"])),
            Cell(p_value(line["wilcoxon_holm"])),
            Cell(f"{line['a12']:.2f} [{line['a12_low']:.2f}, {line['a12_high']:.2f}]"),
            Cell(line["effect"]),
            Cell(
                f"{_figure(line['shift'])} [{_figure(line['shift_low'])}, "
                f"{_figure(line['shift_high'])}]"
            ),
            Cell(p_value(line["tost"])),
        ]
        for _, line in frame.iterrows()
    ]
    return Table(
        "Comparisons",
        f"At equal Joules by fitness, at equal evaluations by Joules. Mann–Whitney as in the "
        f"paper; Holm over all comparisons of a measure; Wilcoxon pairs runs by seed. A12 is the "
        f"chance that the control's value is the higher one (95 % bootstrap); shift: "
        f"Hodges–Lehmann. 'Equivalent' needs TOST below 0.05 within ±{ROPE:.1%} of the best known "
        f"value: no difference found is not equivalence.",
        ["problem", "algorithm", "budget", "control vs method", "measure", "verdict",
         "p", "p Holm", "paired, Holm", "A12", "effect", "shift", "TOST p"],
        rows,
        6,
    )  # fmt: skip


def ranks_table(across: Across) -> Table:
    """Return mean ranks and their tests against the control."""
    ranking = across.ranking
    rows = [
        [
            Cell(method, bold=method == across.control),
            Cell(f"{ranking.ranks[i]:.2f}"),
            Cell("control" if method == across.control else f"{ranking.z[i]:+.2f}"),
            Cell(p_value(float(ranking.holm[i]))),
        ]
        for i, method in enumerate(across.methods)
    ]
    return Table(
        "Ranks across cells",
        f"Friedman over {across.cells} cells at equal Joules: χ² = {ranking.chi2:.2f}, "
        f"p = {p_value(ranking.p)}; then Holm against the control.",
        ["method", "mean rank", "z", "p Holm"],
        rows,
    )


def anytime_table(frame: pd.DataFrame) -> Table:
    """Return quality along the budget and the expected Joules."""
    moments = [name for name in frame.columns if name.startswith("at ")]
    rows = [
        [
            *_place(line),
            Cell(line["method"]),
            *(Cell(_figure(line[name])) for name in moments),
            Cell(_figure(line["target"])),
            Cell(_share(line["success"])),
            Cell(
                f"{_figure(line['expected_joules'])} [{_figure(line['expected_low'])}, "
                f"{_figure(line['expected_high'])}]"
            ),
        ]
        for _, line in frame.iterrows()
    ]
    return Table(
        "Anytime",
        "Median best fitness at parts of the budget (feasible runs); target: the median of all "
        "ends in the cell; expected J: Joules of all runs over successes, 95 % bootstrap. "
        "Joules: " + "; ".join(dict.fromkeys(frame["source"])) + ".",
        ["problem", "algorithm", "budget", "method", *moments, "target", "reached", "expected J"],
        rows,
        4,
    )


def fits_table(frames: Frames) -> list[Table]:
    """Return the parameters and residuals of the paper's fit."""
    rows = []
    for names, method, found in cmp.fits(frames):
        numbers = ["–"] * 6
        if found:
            parts = (found.asymptote, found.drop, found.rate, found.residual, found.worst)
            numbers = [*map(_figure, parts), f"{found.r2:.3f}"]
        rows.append([*(Cell(name) for name in names[:3]), Cell(method), *map(Cell, numbers)])
    caption = (
        "f(E) = f∞(1 − A·exp(−k·E/B)) of the mean over feasible runs, as in the paper. Where the "
        "residual is not small against the differences between methods, do not rank by k."
    )
    headings = ["problem", "algorithm", "budget", "method", "f∞", "A", "k", "residual (rms)",
                "largest", "R²"]  # fmt: skip
    return [Table("Fits of the trajectories", caption, headings, rows, 4)] if rows else []


def operators_table(frame: pd.DataFrame) -> Table:
    """Return who was applied, and who spent the Joules."""
    rows = [
        [
            *_place(line),
            Cell(line["method"]),
            Cell(line["operator"]),
            Cell(_share(line["share_of_applications"])),
            Cell(_share(line["share_of_joules"])),
            Cell(_figure(line["joules_per_application"])),
        ]
        for _, line in frame.iterrows()
        if line["applications"] > 0
    ]
    return Table(
        "Operators",
        "Shares over all runs. Joules: " + "; ".join(dict.fromkeys(frame["source"])) + ".",
        ["problem", "algorithm", "budget", "method", "operator", "of applications", "of Joules",
         "J per application"],
        rows,
        5,
    )  # fmt: skip


def energy_table(frame: pd.DataFrame) -> Table:
    """Return what is known of the energy figures."""
    rows = [
        [
            Cell(line["source"]),
            Cell(line["provenance"], mark="" if line["provenance"] == "measured" else "warn"),
            Cell(str(line["trials"])),
            Cell(str(line["hosts"])),
            Cell(_figure(line["joules"])),
            Cell("none stated" if not line["uncertainty"] else f"±{line['uncertainty']:.0%}"),
            Cell(f"{line['start']:.1%}"),
            Cell("–" if math.isnan(line["overshoot"]) else f"{line['overshoot']:.2%}"),
            Cell(_figure(line["joules_per_evaluation"])),
            Cell(_figure(line["computed_seconds"])),
        ]
        for _, line in frame.iterrows()
    ]
    return Table(
        "Energy: how it is known",
        "Start: share of the initial population. Overshoot: the largest share that a last "
        "application took beyond its budget. Energy of different sources is never compared.",
        ["source", "provenance", "trials", "hosts", "J", "uncertainty", "start", "overshoot",
         "J per evaluation", "seconds computed"],
        rows,
        2,
    )  # fmt: skip
