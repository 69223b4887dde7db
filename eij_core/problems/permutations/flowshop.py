"""Flow shop: jobs pass all machines in one order; the last one is to be done early."""

from __future__ import annotations

import math
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...engine.kernel import kernel
from ...engine.orders import exchange_places, move_segment
from ...registry import Range, problems

JOBS, MACHINES = 1000, 200
MODULUS, FACTOR = 2**31 - 1, 16807


@kernel(space="permutation", sense="min")
class FlowShop(NamedTuple):
    """The makespan of the jobs in the order of x: c(p, k) = max(c(p−1, k), c(p, k−1)) + time.

    The memo holds the completion times c of the places one after another, and a row for previews:
    a change is evaluated from the first place that it touches.
    """

    n: int
    times: NDArray[np.int64]
    """Row i: the times of job i on the machines."""
    optimum: float

    def fitness(self, x: Any) -> float:
        """Evaluate in full."""
        return float(self.prepare(x)[self.n * self.times.shape[1] - 1])

    def prepare(self, x: Any) -> Any:
        """Return the memo of x."""
        machines = self.times.shape[1]
        memo = np.zeros((self.n + 1) * machines, np.int64)
        complete(self, x, memo, 0)
        return memo

    def exchange(self, x: Any, memo: Any, i: int, j: int) -> None:
        """Exchange two jobs in x and memo."""
        exchange_places(x, i, j)
        complete(self, x, memo, min(i, j))

    def move(self, x: Any, memo: Any, i: int, j: int, k: int) -> None:
        """Move a segment in x and memo."""
        move_segment(x, i, j, k)
        complete(self, x, memo, i)

    def preview_exchange(self, x: Any, memo: Any, i: int, j: int) -> float:
        """Return the makespan after exchanging two jobs."""
        exchange_places(x, i, j)
        f = makespan(self, x, memo, min(i, j))
        exchange_places(x, i, j)
        return f

    def preview_move(self, x: Any, memo: Any, i: int, j: int, k: int) -> float:
        """Return the makespan after moving a segment."""
        move_segment(x, i, j, k)
        f = makespan(self, x, memo, i)
        move_segment(x, i, i + k - j, k)
        return f


@kernel
def complete(problem: Any, x: Any, memo: Any, first: int) -> None:
    """Compute the completion times from place `first` on."""
    machines = problem.times.shape[1]
    for p in range(first, problem.n):
        done: Any = 0
        row = p * machines
        for k in range(machines):
            ready = memo[row - machines + k] if p > 0 else 0
            done = max(done, ready) + problem.times[x[p], k]
            memo[row + k] = done


@kernel
def makespan(problem: Any, x: Any, memo: Any, first: int) -> float:
    """Return the makespan of x, which equals the x of the memo before place `first`."""
    machines = problem.times.shape[1]
    row = problem.n * machines
    for k in range(machines):
        memo[row + k] = memo[(first - 1) * machines + k] if first > 0 else 0
    done: Any = 0
    for p in range(first, problem.n):
        done = 0
        for k in range(machines):
            done = max(done, memo[row + k]) + problem.times[x[p], k]
            memo[row + k] = done
    for k in range(machines):
        memo[row + k] = 0
    return float(done)


def taillard(jobs: int, machines: int, seed: int) -> NDArray[np.int64]:
    """Return the times of Taillard's generator, a row for each job.

    É. Taillard, Benchmarks for basic scheduling problems, EJOR 64 (1993): whole numbers of 1 to 99,
    machine by machine.

    Examples
    --------
    >>> taillard(20, 5, 873654221)[0].tolist()
    [54, 79, 16, 66, 58]
    """
    drawn = []
    for _ in range(jobs * machines):
        seed = FACTOR * seed % MODULUS
        drawn.append(1 + 99 * seed // MODULUS)
    return np.ascontiguousarray(np.array(drawn, np.int64).reshape(machines, jobs).T)


@problems.add("flowshop")
def flowshop(
    jobs: Annotated[int, Range(2, JOBS, "number of jobs")] = 20,
    machines: Annotated[int, Range(1, MACHINES, "number of machines")] = 5,
    seed: Annotated[int, Range(1, MODULUS - 1, "time seed of Taillard's generator")] = 873654221,
) -> FlowShop:
    """Flow shop of Taillard's generator: the makespan of jobs that pass all machines in order.

    The default is the first of his instances with 20 jobs and 5 machines.

    Examples
    --------
    >>> flowshop().fitness(np.arange(20))
    1448.0
    """
    return FlowShop(jobs, taillard(jobs, machines, seed), math.nan)
