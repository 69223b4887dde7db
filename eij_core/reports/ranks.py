"""The report's figures of targets and ranks: frames in, SVG out."""

from __future__ import annotations

import html
import math
from typing import Any

import numpy as np
import pandas as pd

from ..svg import Axes, number
from .anytime import band, ecdf
from .comparisons import Across, plausible
from .figures import Figure, cell_title, colours, key_to, sources
from .frames import SHARES, Frames

__all__ = ["critical_difference", "expected", "reached_targets"]

TARGETS = 41


def reached_targets(frames: Frames) -> Figure:
    """Share of (run, target) pairs reached within so many Joules, by problem and algorithm."""
    places, panels = colours(frames), []
    for names, trials in frames.cells():
        keys = [key for key in trials["key"] if key in frames.curves]
        if not keys or not trials["by_joules"].iloc[0]:
            continue
        curves = frames.stack(keys)
        best = float(np.nanmax(curves[:, -1]))
        # The scale begins where the typical run is at a tenth of its budget, or has become sound.
        typical = band(plausible(frames, trials, trials)).median[20:]
        known = typical[np.isfinite(typical)]
        start = float(known[0]) if known.size else float(np.nanmin(curves[:, -1]))
        targets = best - max(best - start, 1e-12 * abs(best)) * np.logspace(0, -2, TARGETS)
        budget = float(trials["joules"].median())
        axes = Axes(cell_title(names), "J spent", "targets reached, %",
                    (budget / 100, budget), (0, 100), log_x=True)  # fmt: skip
        for method, runs in trials.groupby("method", sort=False):
            own = frames.stack(runs["key"])
            hits = np.full((len(own), TARGETS), np.inf)
            for t, target in enumerate(targets):
                reached = own >= target
                rows = reached.any(axis=1)
                hits[rows, t] = SHARES[reached[rows].argmax(axis=1)]
            axes.line(SHARES[2:] * budget, 100 * ecdf(hits, SHARES[2:]), places[str(method)])
        panels.append(axes.render())
    caption = (
        f"Empirical distribution over {TARGETS} targets and all runs: from the median at 10 % of "
        f"the budget towards the best value of the cell, in equal steps of the logarithm of the "
        f"gap, down to 1 % of it. Joules: {sources(frames)}."
    )
    return Figure("Targets reached by energy", caption, panels, key_to(places))


def expected(frames: Frames, table: pd.DataFrame) -> Figure:
    """Expected Joules to the common target of each cell, with its interval."""
    places, panels = colours(frames), []
    for names, rows in table.groupby(["problem", "algorithm", "budget"], sort=False):
        finite = rows[np.isfinite(rows["expected_joules"])]
        if not len(finite):
            continue
        ends = pd.concat([finite["expected_low"], finite["expected_high"]])
        ends = ends[np.isfinite(ends)]
        marks = [(len(rows) - 1 - i, m) for i, m in enumerate(rows["method"])]
        goal = number(float(rows["target"].iloc[0]))
        axes = Axes(
            " · ".join(map(str, names)),
            f"expected J to {goal}",
            "",
            (float(ends.min()) * 0.9, float(ends.max()) * 1.1),
            (-0.6, len(rows) - 0.4),
            size=(380.0, 80.0 + 28.0 * len(rows)),
            log_x=True,
            y_ticks=marks,
        )
        for (place, method), line in zip(marks, rows.itertuples(), strict=True):
            value: Any = line.expected_joules
            if math.isfinite(value):
                end = min(float(line.expected_high), axes.x_limits[1])  # type: ignore[arg-type]
                axes.bar(float(line.expected_low), end, place, places[method])  # type: ignore[arg-type]
                axes.dot(value, place, places[method], f"{method}: {number(value)} J")
            else:
                axes.text(axes.x_limits[0] * 1.02, place - 0.1, "target never reached")
        panels.append(axes.render())
    caption = (
        "Joules of all runs over the number of runs that reach the median end of the cell; "
        f"whiskers: 95 % bootstrap. Joules: {sources(frames)}."
    )
    return Figure("Expected Joules to a target", caption, panels)


def critical_difference(result: Across) -> Figure:
    """Mean ranks, best on the left, and bars over methods that are not told apart."""
    ranks = result.ranking.ranks
    order = np.argsort(ranks)
    count = len(order)
    width, row = 760.0, 22.0
    cliques = _cliques(ranks[order], result.ranking.critical)
    height = 78.0 + row * math.ceil(count / 2) + 8 * len(cliques)
    left, right = 190.0, width - 190.0

    def at(rank: float) -> float:
        return left + (rank - 1) / max(count - 1, 1) * (right - left)

    parts = [f'<svg viewBox="0 0 {width:g} {height:g}" width="{width:g}" height="{height:g}" '
             f'role="img" aria-label="critical difference diagram">']  # fmt: skip
    parts.append(f'<path class="axis" d="M{left:g} 46H{right:g}"/>')
    parts += [
        f'<path class="axis" d="M{at(rank):.1f} 42V50"/><text class="tick" '
        f'x="{at(rank):.1f}" y="36" text-anchor="middle">{rank}</text>'
        for rank in range(1, count + 1)
    ]
    reach = at(1 + min(result.ranking.critical, count - 1))
    parts.append(
        f'<path class="axis" d="M{left:g} 14H{reach:.1f}M{left:g} 10V18M{reach:.1f} 10V18"/>'
        f'<text class="tick" x="{reach + 8:.1f}" y="18">critical difference '
        f"{result.ranking.critical:.2f}</text>"
    )
    for level, (low, high) in enumerate(cliques):
        y = 58.0 + 8 * level
        parts.append(f'<path class="clique" d="M{at(low) - 4:.1f} {y}H{at(high) + 4:.1f}"/>')
    base = 64 + 8 * len(cliques)
    for i, o in enumerate(order):
        first = i < math.ceil(count / 2)
        y = base + row * (i if first else count - 1 - i) + 12
        edge, anchor = (left - 12, "end") if first else (right + 12, "start")
        name = html.escape(f"{result.methods[o]}  {ranks[o]:.2f}")
        mark = " strong" if result.methods[o] == result.control else ""
        parts.append(f'<path class="axis thin" d="M{at(ranks[o]):.1f} 46V{y:g}H{edge:g}"/>'
                     f'<text class="note{mark}" x="{edge + (-4 if first else 4):g}" y="{y + 4:g}" '
                     f'text-anchor="{anchor}">{name}</text>')  # fmt: skip
    caption = (
        f"Mean ranks over {result.cells} cells (1 is best). Bars join methods closer than the "
        f"critical difference (Nemenyi, 5 %). Friedman: χ² = {result.ranking.chi2:.2f}, "
        f"p = {result.ranking.p:.3g}."
    )
    return Figure("Across cells", caption, ["".join([*parts, "</svg>"])])


def _cliques(ranks: Any, critical: float) -> list[tuple[float, float]]:
    """Return the longest runs of sorted ranks that lie within the critical difference."""
    found: list[tuple[float, float]] = []
    for i, low in enumerate(ranks):
        high = max(float(r) for r in ranks[i:] if r - low < critical)
        if high > low and (not found or high > found[-1][1]):
            found.append((float(low), high))
    return found
