"""The first thing a visitor sees: the page drawn at once, while the real one is on its way."""

from __future__ import annotations

import functools
import math
from pathlib import Path

from app.plots.layer import thinned
from app.welcome import welcome

__all__ = ["opening_template"]

FILE = Path(__file__).with_name("opening.html")
LEFT, RIGHT, TOP, BOTTOM = 50.0, 990.0, 10.0, 260.0


@functools.cache
def opening_template() -> str:
    """Return the template of the page, with the recorded run's curve in its sketch."""
    return FILE.read_text("utf-8").replace("@CURVE@", curve())


def curve() -> str:
    """Return the recorded run as the path of an SVG; nothing if there is no recording."""
    frame = welcome()
    if frame is None or not math.isfinite(frame.optimum):
        return ""
    rows = frame.rows[thinned(len(frame.rows), 120)]
    end = frame.budget.joules
    # The sketch shows the upper part, like the view: not the first tumble.
    floor = float(frame.rows["best"][len(frame.rows) // 30])
    height = max(frame.optimum - floor, 1e-300)
    places = [
        (
            LEFT + (RIGHT - LEFT) * float(row["spent"]) / end,
            BOTTOM - (BOTTOM - TOP) * (float(row["best"]) - floor) / height,
        )
        for row in rows
        if float(row["best"]) >= floor
    ]
    return "M" + "L".join(f"{x:.0f} {y:.0f}" for x, y in places)
