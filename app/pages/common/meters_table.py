"""Which energy meters are alive on this machine, and why the rest are not."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Iterable
from typing import Any

import panel as pn

from eij_core.meters.counters.detect import CounterRow, counter_table

from ...text.escape import text
from ...text.tables import table
from ...views.panes import html_pane
from .layout import Fold

LOOK_HERE = "The fold “Which meters are alive here?” says what this machine has."

SIMULATED = {
    "paper": "the paper's prices",
    "model": "a price list of your own",
    "auto": "the best that is alive",
}


@functools.cache
def found_here() -> tuple[CounterRow, ...]:
    """Try every counter of this machine, once; it takes a moment."""
    return tuple(counter_table())


def meter_labels(names: Iterable[str], rows: Iterable[CounterRow] = ()) -> dict[str, str]:
    """Return the meters by the label that a visitor reads.

    Examples
    --------
    >>> meter_labels(
    ...     ["model", "perf"], [CounterRow("perf", False, "", "", 0, 0, 0, "", "no such thing")]
    ... )
    {'model: a price list of your own': 'model', 'perf (not alive here)': 'perf'}
    """
    states = {row.name: row.provenance if row.alive else "not alive here" for row in rows}
    alive = {name: f" ({state})" for name, state in states.items()}
    return {
        f"{name}: {SIMULATED[name]}" if name in SIMULATED else f"{name}{alive.get(name, '')}": name
        for name in names
    }


class MetersHere(pn.viewable.Viewer):
    """A fold that tries the meters of this machine when it is first opened."""

    def __init__(self, select: Any) -> None:
        super().__init__()
        self._select = select
        self._table = html_pane((5, 10), "<p class='words quiet'>Looking at this machine…</p>")
        self._fold = Fold(
            "Which meters are alive here?", lambda: [self._table], margin=(0, 6, 10, 6)
        )
        self._fold.param.watch(self._look, "collapsed")
        if found_here.cache_info().currsize:
            self._show()

    def __panel__(self) -> Any:
        return self._fold

    async def _look(self, event: Any) -> None:
        if not event.new:
            await asyncio.to_thread(found_here)  # without blocking the page
            self._show()

    def _show(self) -> None:
        rows = found_here()
        self._table.object = meters_table(rows)
        names, chosen = self._select.options.values(), self._select.value
        self._select.param.update(options=meter_labels(names, rows), value=chosen)


def meters_table(rows: Iterable[CounterRow]) -> str:
    """Return the counters as HTML: live ones with their quality, dead ones with the reason."""
    lines = []
    for row in rows:
        if row.alive:
            state = f"alive, {text(row.provenance)}"
            about = f"{text(row.domains)}; within {text(row.band)}; {text(row.notes)}"
        else:
            state, about = "not alive", text(row.notes)
        lines.append(
            f"<tr><td><b>{text(row.name)}</b><br>{state}</td><td class='long'>{about}</td></tr>"
        )
    lines.append(
        "<tr><td><b>paper, model</b><br>simulated</td><td class='long'>price lists: no counter is "
        "read, the same Joules on every machine</td></tr>"
    )
    return table(("meter", "on this machine"), lines, "facts")
