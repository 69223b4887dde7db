"""The result that the Zoo opens with: cells computed beforehand by `make shipped`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from eij_core.zoo import Cell, observe_at, places
from eij_core.zoo.cells import Estimate

FILE = Path(__file__).with_suffix(".json")
RULES = ("eij-plus", "eij", "ucb1", "uniform")
CASES = ("twin-10", "null", "almost", "cost-up")
SETTINGS: dict[str, Any] = {"trials": 20, "seed": 0, "costs": "hinted"}


def shipped() -> list[Cell]:
    """Return the cells; none if the file is missing."""
    if not FILE.exists():
        return []
    return [_cell(line) for line in FILE.read_text("utf-8").splitlines()]


def _cell(line: str) -> Cell:
    found = json.loads(line)
    values: dict[str, Any] = {
        name: Estimate(**{end: _real(number) for end, number in value.items()})
        if isinstance(value, dict)
        else value
        for name, value in found.items()
    }
    values["equivalent_p"] = _real(found["equivalent_p"])
    return Cell(**values)


def _real(value: float | None) -> float:
    return float("nan") if value is None else value


def make() -> None:
    """Compute the cells anew."""
    cells = [observe_at(place, **SETTINGS) for place in places(RULES, CASES)]
    lines = "".join(json.dumps(cell.to_dict()) + "\n" for cell in cells)
    FILE.write_text(lines, "utf-8")


if __name__ == "__main__":
    make()
