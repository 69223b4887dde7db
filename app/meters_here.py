"""Which energy meters are alive on this machine, and why the rest are not."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Iterable
from typing import Any

import panel as pn

from app.escape import text
from app.fold import folded
from app.tables import table
from app.theme import PAGE_CSS
from eij_core.meters.detect import SourceRow, source_table

__all__ = ["LOOK_HERE", "MetersHere", "found_here", "labels"]

LOOK_HERE = "The fold “Which meters are alive here?” says what this machine has."

SIMULATED = {
    "paper": "the paper's prices",
    "model": "a price list of your own",
    "auto": "the best that is alive",
}


@functools.cache
def found_here() -> tuple[SourceRow, ...]:
    """Try every source of this machine, once; it takes a moment."""
    return tuple(source_table())


def labels(names: Iterable[str], rows: Iterable[SourceRow] = ()) -> dict[str, str]:
    """Return the meters by what a visitor reads of them.

    Examples
    --------
    >>> labels(["model", "perf"], [SourceRow("perf", False, "", "", 0, 0, 0, "", "no such thing")])
    {'model: a price list of your own': 'model', 'perf (not alive here)': 'perf'}
    """
    alive = {row.name: f" ({row.provenance})" if row.alive else " (not alive here)" for row in rows}
    return {
        f"{name}: {SIMULATED[name]}" if name in SIMULATED else f"{name}{alive.get(name, '')}": name
        for name in names
    }


class MetersHere(pn.viewable.Viewer):
    """A fold that looks at the meters of this machine when it is opened."""

    def __init__(self, select: Any, **params: Any) -> None:
        super().__init__(**params)
        self._select = select
        self._table = pn.pane.HTML(
            "<p class='words quiet'>Looking at this machine…</p>",
            sizing_mode="stretch_width", stylesheets=[PAGE_CSS],
        )  # fmt: skip
        self._fold = folded("Which meters are alive here?", margin=(0, 6, 10, 6))
        self._fold.append(self._table)
        self._fold.param.watch(self._look, "collapsed")
        if found_here.cache_info().currsize:
            self._tell()

    def __panel__(self) -> Any:
        return self._fold

    async def _look(self, event: Any) -> None:
        if not event.new:
            await asyncio.to_thread(found_here)  # the page must not wait for it
            self._tell()

    def _tell(self) -> None:
        rows = found_here()
        self._table.object = meters_table(rows)
        chosen = self._select.value
        self._select.param.update(options=labels(_names(self._select), rows), value=chosen)


def _names(select: Any) -> list[str]:
    options = select.options
    return list(options.values()) if isinstance(options, dict) else list(options)


def meters_table(rows: Iterable[SourceRow]) -> str:
    """Return the sources as HTML: what lives with its quality, what does not with the reason."""
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
