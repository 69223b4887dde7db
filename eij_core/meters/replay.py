"""Recorded charges, repeated: the same trial takes the same decisions again.

A run that leaves the path of the record raises `metering.ReplayDiverged`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InputError
from ..protocols import EnergyInfo, Provenance
from ..registry import Range, meters
from .meter import CompiledMeter, scripted

COLUMNS = ("decision", "operator", "joules")


class Replay:
    """Charges from a record that has every decision (`every=1`).

    Parameters
    ----------
    operators : array of int
        The operator of each decision.
    joules : array of float
        Its charge, as the selector saw it.
    start : float
        The charge of the start.
    name : str
        Where all this comes from.
    prices : array of float
        Joules of an application of each operator that the selector knew beforehand, 0 for none.
    """

    def __init__(
        self,
        operators: ArrayLike,
        joules: ArrayLike,
        start: float = 0.0,
        name: str = "a record",
        prices: ArrayLike = (),
    ) -> None:
        self.operators: NDArray[np.int64] = np.asarray(operators, np.int64)
        self.joules: NDArray[np.float64] = np.asarray(joules, np.float64)
        self.start = start
        self.prices: NDArray[np.float64] = np.asarray(prices, np.float64)
        good = self.joules.size == self.operators.size and bool(np.all(self.joules > 0))
        if not good:
            raise InputError("replay", name, "one operator and Joules above 0 for every decision")
        self.info = EnergyInfo("replay", Provenance.REPLAYED, notes=(f"from {name}",))

    def attach(self, problem: str, algorithm: str, operators: tuple[Any, ...]) -> CompiledMeter:
        """Return the compiled meter that repeats the record."""
        prices = self.prices if self.prices.size == len(operators) else np.zeros(len(operators))
        return scripted(prices, self.operators, self.joules, self.start)


@meters.add("replay", private=True)
def replay(
    file: Annotated[str, Range(about="Parquet file of a run recorded with every=1")],
) -> Replay:
    """Joules from the record of an earlier run, in place of any meter."""
    import pyarrow.parquet

    path = Path(file)
    try:
        table = pyarrow.parquet.read_table(path)
        decision, operator, joules = (table[name].to_numpy() for name in COLUMNS)
        believed = [table[name] for name in table.column_names if name.startswith("cost:")]
    except (OSError, ValueError, KeyError) as error:
        expected = f"a Parquet file with decision, operator and joules ({error})"
        raise InputError("replay:file", file, expected) from None
    if decision.size == 0 or np.any(np.diff(decision) != 1) or decision[0] > 1:
        raise InputError("replay:file", file, "a record of every decision: run with every=1")
    starts = decision == 0
    start = float(joules[starts].sum())
    # Before the first charge the selector believed the prices that it had been given.
    prices = np.nan_to_num([column[0].as_py() for column in believed])
    given = prices if starts[0] else np.zeros(0)
    return Replay(operator[~starts], joules[~starts], start, path.name, given)
