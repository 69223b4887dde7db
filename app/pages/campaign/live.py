"""The table of a campaign that is running: what its cells have reached so far."""

from __future__ import annotations

import json
import math
import time

import pandas as pd

from eij_core import Spec
from eij_core.campaigns import Row
from eij_core.reports.dataset import short_names
from eij_core.reports.templating import mean_sd

from ...text.escape import text
from ...text.tables import row, table


class LiveTable:
    """Collects the trials of one campaign as they are stored."""

    def __init__(self) -> None:
        self._cells: dict[tuple[str, str], list[float]] = {}
        """The best fitness of each trial by cell and method; nan if it is not feasible."""
        self._since = 0.0

    @property
    def count(self) -> int:
        """Trials so far."""
        return sum(map(len, self._cells.values()))

    def note(self, stored: Row) -> None:
        """Add a trial, done or failed."""
        self._since = self._since or time.monotonic()
        trial = json.loads(stored.spec_json)
        names = [trial[family].partition(":")[0] for family in ("problem", "algorithm")]
        selector = Spec.parse(trial["selector"])
        cell = (" · ".join([*names, trial["budget"]]), short_names([selector])[selector])
        best = stored.result["best"] if stored.state == "done" else {"feasible": False}
        fitness = float(best["fitness"]) if best["feasible"] else math.nan
        self._cells.setdefault(cell, []).append(fitness)

    def time_left(self, trials: int) -> str:
        """Say how long so many more trials take at the pace so far; empty while it is unknown."""
        seconds = time.monotonic() - self._since
        if self.count <= 3 or seconds <= 1:
            return ""
        minutes, rest = divmod(max(1, round(trials * seconds / self.count)), 60)
        return f"{minutes} min {rest} s" if minutes else f"{rest} s"

    def html(self) -> str:
        """Return one line per cell and method; empty before the first trial."""
        lines = []
        for (cell, method), found in self._cells.items():
            good = pd.Series(found).dropna()
            mean = mean_sd(good.mean(), good.std())  # nan where there are too few
            name = f"{text(cell)} · <b>{text(method)}</b>"
            lines.append(row(name, str(len(found)), mean, f"{100 * good.size / len(found):.0f} %"))
        heads = ("cell · method", "trials", "best fitness", "feasible")
        return table(heads, lines) if lines else ""
