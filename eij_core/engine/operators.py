"""The operators of a run, as the loop sees them: Python's methods, or addresses of machine code."""

from __future__ import annotations

import ctypes
import functools
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..protocols import Outcome
from .compiled.entries import Entry, find_entry, make_entry
from .compiled.layout import pack
from .kernel import kernel


class Application(NamedTuple):
    """All that one application of an operator reads and changes."""

    operator: Any
    algorithm: Any
    problem: Any
    state: Any
    rng: Any


class Addresses(NamedTuple):
    """Compiled operators: the function of each, and its application in memory."""

    functions: NDArray[np.int64]
    frames: NDArray[np.int64]


def apply(operators: Any, o: int) -> Outcome:
    """Apply operator `o`; compiled code calls it by its address."""
    return operators[o]()


@kernel
def application(frame: Any) -> Outcome:
    """Apply the operator of an application. Each class of operators is compiled by itself."""
    operator, algorithm, problem, state, rng = frame
    outcome = operator.apply(algorithm, problem, state, rng)
    return Outcome(
        float(outcome.gain), int(outcome.evaluations), int(outcome.touches), outcome.deltas
    )


def interpreted_operators(applications: list[Application]) -> Any:
    """Return operators that Python applies."""
    return tuple(functools.partial(each.operator.apply, *each[1:]) for each in applications)


class BoundOperators:
    """Compiled operators and the memory that their addresses point to."""

    def __init__(self, applications: list[Application], entries: list[Entry]) -> None:
        self._kept = (applications, entries, [pack(each) for each in applications])
        functions = np.array([entry.address for entry in entries], np.int64)
        frames = np.array([ctypes.addressof(struct) for struct in self._kept[2]], np.int64)
        self.addresses = Addresses(functions, frames)


def compiled_operators(applications: list[Application], *, wait: bool) -> BoundOperators | None:
    """Return operators as machine code; None if one is not compiled yet and nobody waits for it."""
    find = make_entry if wait else find_entry
    entries = [find(application, each) for each in applications]
    known = [entry for entry in entries if entry]
    return BoundOperators(applications, known) if len(known) == len(entries) else None
