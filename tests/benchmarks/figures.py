"""Measured numbers beside their targets, and tables of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from rich.table import Table


class Figure(NamedTuple):
    """One measured number, and what it should be."""

    part: str
    what: str
    column: str
    value: float
    unit: str
    target: float | None = None
    at_most: bool = False
    """Whether the target is a ceiling (else a floor)."""

    @property
    def met(self) -> bool | None:
        if self.target is None:
            return None
        return self.value <= self.target if self.at_most else self.value >= self.target

    @property
    def aim(self) -> str:
        return "" if self.target is None else f"{'≤' if self.at_most else '≥'}{_short(self.target)}"

    @property
    def said(self) -> str:
        verdict = {None: "", True: "[green]pass[/]", False: "[red]miss[/]"}[self.met]
        return f"{_short(self.value)} {self.aim} {verdict}".rstrip()


def shown(figures: list[Figure], about: dict[str, str]) -> Iterator[Table]:
    """Yield a table for each part; `about` says what it is."""
    for part in dict.fromkeys(figure.part for figure in figures):
        cells = {(f.what, f.column): f for f in figures if f.part == part}
        table = Table(title=f"{part}: {about[part]}", title_justify="left")
        table.add_column("", no_wrap=True)
        units = {column: figure.unit for (_, column), figure in cells.items()}
        for column, unit in units.items():
            table.add_column(f"{column}\n{unit}".strip(), justify="right")
        for what in dict.fromkeys(what for what, _ in cells):
            table.add_row(
                what,
                *(cells[what, column].said if (what, column) in cells else "" for column in units),
            )
        yield table


def _short(value: float) -> str:
    """Return three digits, with M or k for what is large."""
    if value >= 1e6:
        return f"{value / 1e6:.3g}M"
    if value >= 1e4:
        return f"{value / 1e3:.3g}k"
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"
