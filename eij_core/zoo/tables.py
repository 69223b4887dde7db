"""Cells of the zoo as tables: one row each, or rules × cases."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from .cases import CASES
from .cells import Cell

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["frame_of_cells", "heat_map"]


def frame_of_cells(cells: Iterable[Cell]) -> pd.DataFrame:
    """Return one row per cell, intervals as `…_low` and `…_high`."""
    import pandas as pd

    rows = []
    for cell in cells:
        row: dict[str, Any] = {}
        for name, value in asdict(cell).items():
            if isinstance(value, dict):
                row |= {name: value["mean"], f"{name}_low": value["low"]}
                row[f"{name}_high"] = value["high"]
            else:
                row[name] = value
        rows.append(row)
    return pd.DataFrame(rows)


def heat_map(frame: pd.DataFrame, value: str = "wasted_share") -> pd.DataFrame:
    """Return rules × cases, averaged over problems and algorithms, in the order of the zoo."""
    table = frame.pivot_table(index="rule", columns="case", values=value, aggfunc="mean")
    order = [name for name in CASES if name in table.columns]
    rules = list(dict.fromkeys(frame["rule"]))
    return table.loc[[rule for rule in rules if rule in table.index], order]
