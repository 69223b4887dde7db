"""Travelling salesman: the shortest round trip through all cities; random and regular maps."""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...engine.kernel import kernel
from ...engine.orders import exchange_places, move_segment, reverse_segment
from ...errors import InputError
from ...registry import Range, problems
from ..draws import draw, stream_of

CITIES = 100_000
TABLED = 2000
"""Up to so many cities the distances stand in a table; of more they are computed anew."""
NEAREST = 10
"""Neighbours of a city that are worth standing beside it."""
SIDE = 1_000_000
STEP = 1000

RULES = ("EUC_2D", "CEIL_2D", "ATT", "GEO", "EXPLICIT")
"""How TSPLIB rounds the distance between two places."""
EUCLIDEAN, CEILING, ATT, GEO, EXPLICIT = range(len(RULES))


@kernel(space="permutation", sense="min")
class TSP(NamedTuple):
    """The length of the round trip that visits the cities in the order of x.

    The memo holds the length. Reversing or moving a segment replaces two or three distances, so a
    preview takes the same time whatever n is.
    """

    n: int
    rule: int
    """A number of `RULES`."""
    places: NDArray[np.float64]
    """Row i: where city i lies; without rows, if only distances are known."""
    table: NDArray[np.int64]
    """Distances; without entries where they are computed."""
    nearest: NDArray[np.int64]
    """Row a: the cities nearest to a, nearest first."""
    optimum: float

    def link(self, a: int, b: int) -> float:
        """Return the distance between two cities."""
        if self.table.size > 0:
            return float(self.table[a, b])
        across = self.places[a, 0] - self.places[b, 0]
        along = self.places[a, 1] - self.places[b, 1]
        return rounded(self.rule, across * across + along * along)

    def near(self) -> Any:
        """Return for each city those nearest to it."""
        return self.nearest

    def fitness(self, x: Any) -> float:
        """Evaluate in full."""
        total = self.link(x[self.n - 1], x[0])
        for p in range(self.n - 1):
            total += self.link(x[p], x[p + 1])
        return total

    def prepare(self, x: Any) -> Any:
        """Return the memo of x: its length."""
        return np.full(1, np.int64(self.fitness(x)))

    def exchange(self, x: Any, memo: Any, i: int, j: int) -> None:
        """Exchange two cities in x and memo."""
        memo[0] = np.int64(self.preview_exchange(x, memo, i, j))
        exchange_places(x, i, j)

    def reverse(self, x: Any, memo: Any, i: int, j: int) -> None:
        """Reverse a segment in x and memo."""
        memo[0] = np.int64(self.preview_reverse(x, memo, i, j))
        reverse_segment(x, i, j)

    def move(self, x: Any, memo: Any, i: int, j: int, k: int) -> None:
        """Move a segment in x and memo."""
        memo[0] = np.int64(self.preview_move(x, memo, i, j, k))
        move_segment(x, i, j, k)

    def preview_reverse(self, x: Any, memo: Any, i: int, j: int) -> float:
        """Return the length after reversing a segment: two distances change."""
        n = self.n
        before = x[i - 1] if i > 0 else x[n - 1]
        after = x[j + 1] if j + 1 < n else x[0]
        if before == x[j]:  # the segment is the whole trip
            return float(memo[0])
        gone = self.link(before, x[i]) + self.link(x[j], after)
        return memo[0] - gone + self.link(before, x[j]) + self.link(x[i], after)

    def preview_move(self, x: Any, memo: Any, i: int, j: int, k: int) -> float:
        """Return the length after moving a segment: three distances change."""
        n = self.n
        if k - i == n:  # the two segments are the whole trip
            return float(memo[0])
        before = x[i - 1] if i > 0 else x[n - 1]
        after = x[k] if k < n else x[0]
        gone = self.link(before, x[i]) + self.link(x[j - 1], x[j]) + self.link(x[k - 1], after)
        come = self.link(before, x[j]) + self.link(x[k - 1], x[i]) + self.link(x[j - 1], after)
        return memo[0] - gone + come

    def preview_exchange(self, x: Any, memo: Any, i: int, j: int) -> float:
        """Return the length after exchanging two cities: four distances change."""
        n = self.n
        i, j = min(i, j), max(i, j)
        if i == j:
            return float(memo[0])
        if j == i + 1:
            return self.preview_reverse(x, memo, i, j)
        if i == 0 and j == n - 1:
            return self.preview_reverse(x, memo, j, i)
        before = x[i - 1] if i > 0 else x[n - 1]
        after = x[j + 1] if j + 1 < n else x[0]
        gone = self.link(before, x[i]) + self.link(x[i], x[i + 1])
        gone += self.link(x[j - 1], x[j]) + self.link(x[j], after)
        come = self.link(before, x[j]) + self.link(x[j], x[i + 1])
        come += self.link(x[j - 1], x[i]) + self.link(x[i], after)
        return memo[0] - gone + come


@kernel
def rounded(rule: int, square: float) -> float:
    """Return the whole distance of two places, from its square, by a rule of TSPLIB."""
    if rule == ATT:
        return math.ceil(math.sqrt(square / 10.0))
    if rule == CEILING:
        return math.ceil(math.sqrt(square))
    return math.floor(math.sqrt(square) + 0.5)


def build(
    rule: int,
    places: NDArray[np.float64],
    table: NDArray[np.int64] | None = None,
    optimum: float = math.nan,
) -> TSP:
    """Make the problem from places, or from a table of distances.

    Examples
    --------
    >>> problem = build(EUCLIDEAN, np.array([[0.0, 0.0], [3.0, 0.0], [3.0, 4.0]]))
    >>> problem.fitness(np.array([2, 0, 1])), problem.nearest[0].tolist()
    (12.0, [1, 2])
    """
    n = len(places) if table is None else len(table)
    if table is None and (n <= TABLED or rule == GEO):
        table = _table(rule, places)
    if table is not None:
        kept = table.copy()
        np.fill_diagonal(kept, np.iinfo(np.int64).max)  # a city is not its own neighbour
        near = np.argsort(kept, axis=1, kind="stable")[:, : min(NEAREST, n - 1)]
    else:
        from scipy.spatial import cKDTree  # here, because only large maps need it

        _, found = cKDTree(places).query(places, NEAREST + 1)
        # Of cities at the same place a city need not come first among its own neighbours.
        self_at = np.where(found == np.arange(n)[:, None], np.arange(NEAREST + 1), NEAREST)
        drop = self_at.min(axis=1)
        near = found[np.arange(NEAREST + 1) != drop[:, None]].reshape(n, NEAREST)
        table = np.zeros((0, 0), np.int64)
    return TSP(n, rule, places, table, np.ascontiguousarray(near, np.int64), optimum)


def _table(rule: int, places: NDArray[np.float64]) -> NDArray[np.int64]:
    if rule == GEO:
        return _on_earth(places)
    across, along = (places[:, None, c] - places[None, :, c] for c in (0, 1))
    square = across * across + along * along
    if rule == EUCLIDEAN:
        return np.floor(np.sqrt(square) + 0.5).astype(np.int64)
    return np.ceil(np.sqrt(square / 10.0 if rule == ATT else square)).astype(np.int64)


def _on_earth(places: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return distances on the sphere, as TSPLIB has them: places in degrees.minutes."""
    degrees = np.trunc(places)
    latitude, longitude = (3.141592 * (degrees + 5.0 * (places - degrees) / 3.0) / 180.0).T
    q1 = np.cos(longitude[:, None] - longitude)
    q2 = np.cos(latitude[:, None] - latitude)
    q3 = np.cos(latitude[:, None] + latitude)
    angle = np.arccos(np.clip(0.5 * ((1.0 + q1) * q2 - (1.0 - q1) * q3), -1.0, 1.0))
    table = (6378.388 * angle + 1.0).astype(np.int64)
    np.fill_diagonal(table, 0)
    return table


@problems.add("tsp")
def tsp(
    layout: Literal["uniform", "clusters", "grid"] = "uniform",
    n: Annotated[int, Range(3, CITIES, "number of cities")] = 100,
    instance: Annotated[int, Range(0, 2**31 - 1, "seed of the places")] = 1,
) -> TSP:
    """Travelling salesman: the shortest round trip through uniform, clustered or regular cities.

    The optimum is known on a grid with an even number of cities: every step goes to a neighbour.

    Examples
    --------
    >>> problem = tsp("grid", n=4)
    >>> problem.optimum, problem.fitness(np.array([0, 1, 3, 2]))
    (4000.0, 4000.0)
    """
    random = stream_of(instance)
    if layout == "grid":
        rows = max(d for d in range(1, math.isqrt(n) + 1) if n % d == 0)
        if rows == 1 or n % 2:
            raise InputError("tsp:n", n, "an even number with divisors, such as 100, for a grid")
        grid = np.stack(np.divmod(np.arange(n), n // rows), axis=1)
        return build(EUCLIDEAN, STEP * grid.astype(float), optimum=float(STEP * n))
    places = draw(random, 0, SIDE - 1, (n, 2))
    if layout == "clusters":  # a sum of four draws is near to its middle
        centres = draw(random, 0, SIDE - 1, (max(1, n // 25), 2))
        spread = SIDE // 40
        places = centres[draw(random, 0, len(centres) - 1, n)]
        places = places + draw(random, -spread, spread, (4, n, 2)).sum(axis=0) // 2
    return build(EUCLIDEAN, places.astype(float))
