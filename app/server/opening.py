"""The opening: a sketch of the page, shown while the page itself is loading."""

from __future__ import annotations

import functools
import math
import secrets
from pathlib import Path

from ..pages.run.lessons.welcome import welcome
from ..views.layer import thinned

FILE = Path(__file__).with_name("opening.html")
STARTED = secrets.token_hex(8)
"""Names this start of the server: a page that finds another one has lost its session."""
LEFT, RIGHT, TOP, BOTTOM = 50.0, 990.0, 10.0, 260.0


@functools.cache
def opening_template() -> str:
    """Return the template of the page, with the recorded run's curve in its sketch."""
    script = FILE.with_name("connection.js").read_text("utf-8").replace("@STARTED@", STARTED)
    page = FILE.read_text("utf-8").replace("@CONNECTION@", script)
    page = page.replace("@NAMES@", FILE.with_name("names.js").read_text("utf-8"))
    return page.replace("@CURVE@", curve())


def curve() -> str:
    """Return the recorded run as the path of an SVG; nothing if there is no recording."""
    snapshot = welcome()
    if snapshot is None or not math.isfinite(snapshot.optimum):
        return ""
    rows = snapshot.rows[thinned(len(snapshot.rows), 120)]
    end = snapshot.budget.joules
    # Like the view, the sketch leaves out the steep beginning.
    floor = float(snapshot.rows["best"][len(snapshot.rows) // 30])
    height = max(snapshot.optimum - floor, 1e-300)
    places = [
        (
            LEFT + (RIGHT - LEFT) * float(row["spent"]) / end,
            BOTTOM - (BOTTOM - TOP) * (float(row["best"]) - floor) / height,
        )
        for row in rows
        if float(row["best"]) >= floor
    ]
    return "M" + "L".join(f"{x:.0f} {y:.0f}" for x, y in places)
