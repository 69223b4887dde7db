"""Steady-state genetic algorithm (Algorithm 2): a few children at a time, the best n survive."""

from __future__ import annotations

import math
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..engine.bits import differences, invert, low_bits, pack, unpack, words_for
from ..engine.kernel import kernel
from ..engine.rng import all_miss_of, below, fill_bits, skip, uniform, word
from ..errors import InputError
from ..protocols import Forecast, Operator, Outcome
from ..registry import Range, Registry, algorithms
from .portfolio import copy, delta_of, factory_of

OPERATORS: Registry[Operator] = Registry("SSGA operator")


class SsgaState(NamedTuple):
    """The population, a heap with its worst member on top, and the newest children."""

    best_x: NDArray[np.uint8]
    best_f: NDArray[np.float64]
    members: NDArray[np.uint8]
    genes: NDArray[np.uint64]
    """The members once more, packed: crossover and comparison take a few words."""
    fitness: NDArray[np.float64]
    heap: NDArray[np.int64]
    """Members by number, the worst one first."""
    memos: NDArray[Any]
    """What the problem keeps of each member, if it can evaluate children from their parents."""
    bits: NDArray[np.int64]
    """Where a child and its parent differ."""
    children: NDArray[np.uint64]
    """Packed: few of them are read bit by bit."""
    children_f: NDArray[np.float64]
    x: NDArray[np.uint8]
    """The child that is evaluated in full."""
    deltas: NDArray[np.float64]
    flips: float
    """The algorithm's own flips per child, which the next two stand for."""
    log_keep: float
    """ln(1 − flip rate per bit)."""
    keep_all: float
    """Probability that no bit is flipped."""
    opening: int
    """Evaluations that the start took."""


KINDS = ("replace", "uniform", "two-point")
ONE_POINT, UNIFORM, TWO_POINT = range(len(KINDS))
MOST_CHILDREN = 10
"""Children of one application that the state has room for."""


@kernel
class Replace(NamedTuple):
    """Make `children` children by a crossover, then keep the best n of parents and children."""

    children: int
    kind: int = ONE_POINT
    """Which crossover: a number of `KINDS`."""

    @property
    def name(self) -> str:
        """The name used everywhere: replace-1 (one-point crossover), uniform-1, two-point-5, …"""
        return f"{KINDS[self.kind]}-{self.children}"

    def forecast(self, algorithm: Any, problem: Any) -> Forecast:
        """Return what one application takes."""
        if self.children > MOST_CHILDREN:
            raise InputError("ssga:operators", self.name, f"at most {MOST_CHILDREN} children")
        return Forecast(self.children, self.children, self.children * problem.n)

    def probe(self, algorithm: Any) -> tuple[Any, Any]:
        """Return operator and algorithm for a single child, to learn the cost cheaply."""
        return self._replace(children=1), algorithm

    def apply(self, algorithm: Any, problem: Any, state: Any, rng: Any) -> Any:
        """Breed all children from the population, then replace its worst members by better ones."""
        gain = 0.0
        log_keep, keep_all = state.log_keep, state.keep_all
        if algorithm.flips != state.flips:  # an arm with a value of its own
            log_keep, keep_all = keeping(algorithm.flips, problem.n)
        for c in range(self.children):
            child = state.children[c]
            first = tournament(state.fitness, rng)
            second = tournament(state.fitness, rng)
            recombine(self.kind, algorithm.crossover, state, child, first, second, rng)
            mutate(child, problem.n, log_keep, keep_all, rng)
            f = evaluate(problem, state, child, first, second)
            state.children_f[c] = f
            delta = delta_of(f, max(state.fitness[first], state.fitness[second]))
            state.deltas[c] = delta
            gain += delta
        for c in range(self.children):
            insert(algorithm, problem, state, state.children[c], state.children_f[c])
        return Outcome(
            gain, self.children, self.children * problem.n, state.deltas[: self.children]
        )


@kernel
def recombine(
    kind: int, probability: float, state: Any, child: Any, first: int, second: int, rng: Any
) -> None:
    """Fill `child` with genes of the first parent and, after a crossover, of the second."""
    n = state.x.size
    mother, father = state.genes[first], state.genes[second]
    if kind == ONE_POINT:
        cut = n
        if n > 1 and uniform(rng) < probability:
            cut = 1 + below(rng, n - 1)
        for w in range(child.size):
            child[w] = father[w] ^ ((mother[w] ^ father[w]) & low_bits(cut - 64 * w))
        return
    copy(child, mother)
    if uniform(rng) < probability:
        if kind == UNIFORM:
            mix(child, father, rng)
        else:
            splice(child, father, n, rng)


@kernel
def mix(child: Any, other: Any, rng: Any) -> None:
    """Take each gene from the other parent with probability one half."""
    for w in range(child.size):
        child[w] ^= (child[w] ^ other[w]) & word(rng)


@kernel
def splice(child: Any, other: Any, n: int, rng: Any) -> None:
    """Take the genes between two cuts from the other parent."""
    a = below(rng, n + 1)
    b = below(rng, n + 1)
    for w in range(child.size):
        between = low_bits(a - 64 * w) ^ low_bits(b - 64 * w)
        child[w] ^= (child[w] ^ other[w]) & between


@kernel
def keeping(flips: float, n: int) -> Any:
    """Return ln(1 − flip rate per bit), and the probability that no bit is flipped."""
    rate = min(max(flips / n, 1e-15), 1.0 - 1e-9)  # 1 - rate is neither 1 nor 0
    log_keep = math.log(1.0 - rate)
    return log_keep, all_miss_of(n, log_keep)


@kernel
def mutate(child: Any, n: int, log_keep: float, keep_all: float, rng: Any) -> None:
    """Flip each bit with the rate that `log_keep` stands for."""
    i = skip(rng, log_keep, keep_all)
    while i < n:
        invert(child, i)
        i += 1 + skip(rng, log_keep, keep_all)


@kernel
def evaluate(problem: Any, state: Any, child: Any, first: int, second: int) -> float:
    """Return the fitness of a child, from that of a parent where they differ in few places."""
    reach = problem.reach()
    if reach > 0:
        parent = first
        count = differences(child, state.genes[first], state.bits, reach)
        if count > reach:
            parent = second
            count = differences(child, state.genes[second], state.bits, reach)
        if count == 0:
            return state.fitness[parent]
        if count <= reach:
            x, memo = state.members[parent], state.memos[parent]
            return problem.preview(x, memo, state.bits, count)
    unpack(child, state.x)
    return problem.fitness(state.x)


@kernel
def tournament(fitness: Any, rng: Any) -> int:
    """Return the better of two random members."""
    a = below(rng, fitness.size)
    b = below(rng, fitness.size)
    return a if fitness[a] >= fitness[b] else b


@kernel
def insert(algorithm: Any, problem: Any, state: Any, child: Any, f: float) -> None:
    """Replace the worst member if the child is better, and restore the heap."""
    worst = state.heap[0]
    if f <= state.fitness[worst] or (algorithm.distinct and contains(state, child, f)):
        return
    copy(state.genes[worst], child)
    unpack(child, state.members[worst])
    if problem.reach() > 0:
        copy(state.memos[worst], problem.prepare(state.members[worst]))
    state.fitness[worst] = f
    if f > state.best_f[0]:
        state.best_f[0] = f
        copy(state.best_x, state.members[worst])
    sift_down(state.heap, state.fitness, 0)


@kernel
def contains(state: Any, child: Any, f: float) -> bool:
    """Tell whether the child is already a member."""
    for m in range(state.fitness.size):
        if state.fitness[m] == f:
            unlike = 0
            for w in range(child.size):
                unlike += state.genes[m, w] != child[w]
            if unlike == 0:
                return True
    return False


@kernel
def sift_down(heap: Any, fitness: Any, root: int) -> None:
    """Move the member at `root` down to its place in the heap, worst first."""
    member = heap[root]
    branch = 2 * root + 1
    while branch < heap.size:
        if branch + 1 < heap.size and fitness[heap[branch + 1]] < fitness[heap[branch]]:
            branch += 1
        if fitness[member] <= fitness[heap[branch]]:
            break
        heap[root] = heap[branch]
        root = branch
        branch = 2 * root + 1
    heap[root] = member


for _kind, _name in enumerate(KINDS):
    for _children in range(1, MOST_CHILDREN + 1):
        OPERATORS.add(f"{_name}-{_children}")(
            lambda children=_children, kind=_kind: Replace(children, kind)
        )


@kernel
class SSGA(NamedTuple):
    """Steady-state GA; an application makes k children and keeps the best of all.

    Tournaments of two, crossover, bit-flip mutation, truncation. `flips=1` is the paper's mutation
    rate of 1/D taken literally; the default 0.5 fits its tables (its library redraws a bit instead
    of flipping it). `distinct=true` refuses children that are members already.
    """

    operators: tuple[Any, ...]
    population: Annotated[int, Range(2, 100_000, "number of members")] = 100
    crossover: Annotated[float, Range(0, 1, "probability of one-point crossover")] = 0.8
    flips: Annotated[float, Range(0, 1000, "expected bit flips per child", above=True)] = 0.5
    distinct: bool = False

    @property
    def tunable(self) -> tuple[str, ...]:
        """The parameters that an operator of a portfolio may have values of its own for."""
        return "crossover", "flips", "distinct"

    def begin(self, problem: Any, rng: Any) -> Any:
        """Start from random members, heaped worst first."""
        size = self.population
        members = np.zeros((size, problem.n), np.uint8)
        genes = np.empty((size, words_for(problem.n)), np.uint64)
        fitness = np.empty(size)
        reach = problem.reach()
        memo = problem.prepare(members[0])
        memos = np.zeros((size, memo.size if reach > 0 else 0), memo.dtype)
        for m in range(size):
            fill_bits(rng, members[m])
            pack(members[m], genes[m])
            fitness[m] = problem.fitness(members[m])
            if reach > 0:
                copy(memos[m], problem.prepare(members[m]))
        bits = np.zeros(reach, np.int64)
        best = np.argmax(fitness)
        best_x = members[best].copy()
        best_f = np.full(1, fitness[best])
        heap = np.arange(size)
        for offset in range(size):
            sift_down(heap, fitness, size - 1 - offset)
        log_keep, keep_all = keeping(self.flips, problem.n)
        return SsgaState(
            best_x,
            best_f,
            members,
            genes,
            fitness,
            heap,
            memos,
            bits,
            np.zeros((MOST_CHILDREN, genes.shape[1]), np.uint64),
            np.zeros(MOST_CHILDREN),
            np.zeros(problem.n, np.uint8),
            np.zeros(MOST_CHILDREN),
            self.flips,
            log_keep,
            keep_all,
            size,
        )


about = f"replace-, uniform-, two-point- 1 … {MOST_CHILDREN}"
ssga = algorithms.add("ssga")(factory_of("ssga", SSGA, OPERATORS, "replace-1+replace-5", about))
