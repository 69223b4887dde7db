"""A permutation that is searched in place: its changes, written down and undone, and a queue."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..engine.kernel import kernel

NOTHING, EXCHANGED, REVERSED, MOVED = range(-1, 3)
"""Kinds of changes."""
HEAD, WAITING, CHANGES, EVALUATIONS, TOUCHES = range(5)
"""The places of `OrderState.tally`."""


class OrderState(NamedTuple):
    """The incumbent, what has changed in it, and the elements that are to be looked at."""

    best_x: NDArray[np.int64]
    best_f: NDArray[np.float64]
    memo: NDArray[np.int64]
    where: NDArray[np.int64]
    """The place of each element."""
    queue: NDArray[np.int64]
    """A ring of elements whose neighbourhood may hold something better (don't-look bits)."""
    queued: NDArray[np.uint8]
    journal: NDArray[np.int64]
    """The changes of the present application: kind and places."""
    tally: NDArray[np.int64]
    deltas: NDArray[np.float64]
    opening: int
    """Evaluations that the start took."""


@kernel
def change(problem: Any, state: Any, kind: int, i: int, j: int, k: int) -> None:
    """Change the incumbent and its memo, and note where elements are now."""
    x, where, n = state.best_x, state.where, problem.n
    if kind == EXCHANGED:
        problem.exchange(x, state.memo, i, j)
        where[x[i]] = i
        where[x[j]] = j
        state.tally[TOUCHES] += 2
        return
    length = k - i
    if kind == REVERSED:
        problem.reverse(x, state.memo, i, j)
        length = j - i + 1 if i <= j else j - i + 1 + n
    else:
        problem.move(x, state.memo, i, j, k)
    state.tally[TOUCHES] += length
    p = i
    for _ in range(length):
        where[x[p]] = p
        p = p + 1 if p + 1 < n else 0


@kernel
def make(problem: Any, state: Any, kind: int, i: int, j: int, k: int) -> None:
    """Change the incumbent, write it down, and queue the elements at the ends."""
    change(problem, state, kind, i, j, k)
    entry = state.journal[state.tally[CHANGES]]
    entry[0], entry[1], entry[2], entry[3] = kind, i, j, k
    state.tally[CHANGES] += 1
    put_around(state, i)
    if kind == MOVED:
        put_around(state, i + k - j)
        put_around(state, k - 1)
    else:
        put_around(state, j)


@kernel
def undo(problem: Any, state: Any) -> None:
    """Take the changes of this application back, and empty the queue."""
    tally = state.tally
    while tally[CHANGES] > 0:
        tally[CHANGES] -= 1
        entry = state.journal[tally[CHANGES]]
        kind, i, j, k = entry[0], entry[1], entry[2], entry[3]
        change(problem, state, kind, i, i + k - j if kind == MOVED else j, k)
    while tally[WAITING] > 0:
        take(state)


@kernel
def preview(problem: Any, state: Any, kind: int, i: int, j: int, k: int) -> float:
    """Return the fitness after a change, and count the evaluation."""
    state.tally[EVALUATIONS] += 1
    if kind == EXCHANGED:
        return problem.preview_exchange(state.best_x, state.memo, i, j)
    if kind == REVERSED:
        return problem.preview_reverse(state.best_x, state.memo, i, j)
    return problem.preview_move(state.best_x, state.memo, i, j, k)


# --- the queue ------------------------------------------------------------------------------------


@kernel
def put(state: Any, a: int) -> None:
    """Queue an element, unless it waits already."""
    if state.queued[a] == 0:
        tally, size = state.tally, state.queue.size
        end = tally[HEAD] + tally[WAITING]
        state.queue[end if end < size else end - size] = a
        state.queued[a] = 1
        tally[WAITING] += 1


@kernel
def put_around(state: Any, place: int) -> None:
    """Queue the element at a place, and the two beside it."""
    x, n = state.best_x, state.best_x.size
    put(state, x[place if place < n else place - n])
    put(state, x[place - 1 if place > 0 else n - 1])
    put(state, x[place + 1 if place + 1 < n else 0])


@kernel
def take(state: Any) -> Any:
    """Return the element that has waited longest."""
    tally = state.tally
    a = state.queue[tally[HEAD]]
    tally[HEAD] = tally[HEAD] + 1 if tally[HEAD] + 1 < state.queue.size else 0
    tally[WAITING] -= 1
    state.queued[a] = 0
    return a
