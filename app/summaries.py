"""Each view in words and numbers, for those who cannot see a canvas, and for those who count."""

from __future__ import annotations

from typing import Any

import numpy as np

from app.escape import text
from app.frame import Frame
from app.plots.energy import quantiles
from app.plots.layer import thinned
from app.rules import rule_of
from app.tables import number, table

__all__ = ["data_table"]

LINES = 12
"""Moments of a run that a table shows."""
GAIN, JOULES, SCORE = 0, 2, 4


def data_table(view: str, frame: Frame) -> str:
    """Return a view's summary and its data as HTML."""
    if not len(frame.rows):
        return "<p class='words quiet'>Nothing has been drawn yet.</p>"
    return VIEWS[view](frame)


def _fitness(frame: Frame) -> str:
    kept = frame.rows[thinned(len(frame.rows), LINES)]
    lanes = [(frame.selector, frame.rows), *((lane.label, lane.rows) for lane in frame.others)]
    lines = []
    for row in kept:
        cells = "".join(f"<td>{number(_best_at(rows, row['spent']), 5)}</td>" for _, rows in lanes)
        lines.append(f"<tr><td>{number(float(row['spent']))}</td>{cells}</tr>")
    last = frame.rows[-1]
    words = (
        f"Best fitness {number(float(last['best']), 5)} after {number(float(last['spent']))} "
        f"Joules ({text(frame.energy)})."
    )
    return _said(words, ("Joules spent (J)", *(text(label) for label, _ in lanes)), lines)


def _estimates(frame: Frame) -> str:
    rule = rule_of(frame.selector)
    used, axis, _ = frame.used
    lines = []
    for i in _moments(frame):
        beliefs = frame.rows["beliefs"][i]
        cells = "".join(
            f"<td>{number(float(b[SCORE]))}</td><td>{number(float(b[JOULES]))}</td>"
            for b in beliefs
        )
        lines.append(f"<tr><td>{number(float(used[i]), 3)}</td>{cells}</tr>")
    names = [text(name) for name in frame.names]
    heads = [head for name in names for head in (f"{name}: worth", f"{name}: J")]
    latest = frame.rows["beliefs"][-1, :, SCORE]
    ends = (f"{n} {number(float(v))}" for n, v in zip(names, latest, strict=True))
    return _said(f"{rule.score}, at the end: {', '.join(ends)}.", (axis, *heads), lines)


def _selection(frame: Frame) -> str:
    used, axis, _ = frame.used
    chosen, joules = frame.rows["applications"], frame.rows["operator_joules"]
    lines = []
    for i in _moments(frame):
        shares = zip(_percent(chosen[i]), _percent(joules[i]), strict=True)
        cells = "".join(f"<td>{number(a, 3)}</td><td>{number(b, 3)}</td>" for a, b in shares)
        lines.append(f"<tr><td>{number(float(used[i]), 3)}</td>{cells}</tr>")
    names = [text(name) for name in frame.names]
    heads = [head for n in names for head in (f"{n}: % of choices", f"{n}: % of Joules")]
    ends = (f"{n} {s:.0f} %" for n, s in zip(names, _percent(chosen[-1]), strict=True))
    return _said(f"Choices so far: {', '.join(ends)}.", (axis, *heads), lines)


def _energy(frame: Frame) -> str:
    if frame.tally is None:
        return "<p class='words quiet'>Known for the whole run only.</p>"
    lines, ends = [], []
    for name, counts in zip(frame.names, frame.tally.histogram, strict=True):
        low, middle, high = (number(value) for value in quantiles(counts, (0.25, 0.5, 0.75)))
        cells = f"<td>{int(counts.sum())}</td><td>{low}</td><td>{middle}</td><td>{high}</td>"
        lines.append(f"<tr><td>{text(name)}</td>{cells}</tr>")
        ends.append(f"{text(name)} {middle} J")
    heads = ("operator", "applications", "lower quartile (J)", "median (J)", "upper quartile (J)")
    return _said(f"Median energy of one application: {', '.join(ends)}.", heads, lines)


# The view of the decision has its table always beside it.
VIEWS = {
    "fitness": _fitness,
    "estimates": _estimates,
    "selection": _selection,
    "energy": _energy,
}


def _said(words: str, heads: Any, lines: list[str]) -> str:
    return f"<p class='words'>{words}</p>{table(heads, lines)}"


def _moments(frame: Frame) -> Any:
    return np.arange(len(frame.rows))[thinned(len(frame.rows), LINES)]


def _percent(totals: Any) -> list[float]:
    whole = float(totals.sum())
    return [100.0 * float(total) / whole if whole else float("nan") for total in totals]


def _best_at(rows: Any, spent: float) -> float:
    """Return a run's best when so many Joules were spent; nan before its first row."""
    place = int(np.searchsorted(rows["spent"], spent, "right")) - 1 if len(rows) else -1
    return float(rows["best"][place]) if place >= 0 else float("nan")
