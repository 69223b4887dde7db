"""MaxCut: split the vertices of a graph so that the edges between the sides weigh the most."""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray

from ...errors import InputError
from ...registry import Digest, Range, problems
from ..draws import draw, draw_pairs, stream_of
from ..reading import TOTAL, Lines, check_total, read_instance
from .quadratic import Quadratic, build

VERTICES = 100_000
EDGES = 1_000_000
# Random switches for each edge of a regular graph: enough to forget the ring it starts from.
SWITCHES = 4

Graph = Literal["random", "regular", "torus"]
Edges = tuple[int, NDArray[np.int64], NDArray[np.int64]]
"""The number of vertices, pairs of vertices from 0, and a weight for each pair."""


@problems.add("maxcut")
def maxcut(
    graph: Graph = "random",
    n: Annotated[int, Range(2, VERTICES, "number of vertices")] = 100,
    degree: Annotated[int, Range(1, 10_000, "mean edges of a vertex; torus: 4 or 6")] = 6,
    weights: Literal["ones", "signs"] = "ones",
    instance: Annotated[int, Range(0, 2**31 - 1, "seed of edges and weights")] = 1,
) -> Quadratic:
    """MaxCut on random, regular or toroidal graphs, with weights 1 or ±1.

    A torus is a grid of two dimensions (degree 4) or three (degree 6) without a border; its sides
    are as equal as the divisors of n allow. The optimum is known where a cut can hold every
    positive edge and no negative one, as on a torus of even sides and weights 1.

    Examples
    --------
    >>> problem = maxcut("torus", n=16, degree=4)
    >>> problem.optimum, problem.fitness(np.array([0, 1, 0, 1, 1, 0, 1, 0] * 2, np.uint8))
    (32.0, 32.0)
    """
    random = stream_of(instance)
    pairs = GENERATORS[graph](random, n, degree)
    signs = draw(random, 0, 1, len(pairs)) * 2 - 1
    return cut(n, pairs, signs if weights == "signs" else np.ones_like(signs))


@problems.add("maxcut-file", private=True)
def maxcut_file(
    file: Annotated[str, Range(about="path of a graph in the format of Gset")],
    sha256: Annotated[str, Digest(about="sha256 of the file's content; filled in")] = "",
) -> Quadratic:
    """MaxCut from a file as of Gset: `n m`, then a line `i j w` for each edge, from vertex 1."""
    return cut(*read_instance("maxcut-file", file, sha256, parse_graph))


def cut(n: int, pairs: NDArray[np.int64], weights: NDArray[np.int64]) -> Quadratic:
    """Make the problem: an edge adds w·(xᵢ + xⱼ − 2xᵢxⱼ), which is w between the sides, else 0."""
    linear = np.zeros(n, np.int64)
    np.add.at(linear, pairs.ravel(), np.repeat(weights, 2))
    there = weights != 0
    optimum = unfrustrated_optimum(n, pairs[there], weights[there])
    return build(linear, pairs, -2 * weights, optimum)


def unfrustrated_optimum(n: int, pairs: NDArray[np.int64], weights: NDArray[np.int64]) -> float:
    """Return the sum of the positive weights, if one cut holds these edges and no others; or nan.

    Vertices are joined to sets whose sides are known, each edge once (union and find).
    """
    parent, side = list(range(n)), [0] * n

    def root_of(i: int) -> tuple[int, int]:
        above = 0  # the side of i, seen from its root
        while parent[i] != i:
            grand = parent[parent[i]]
            side[i] ^= side[parent[i]] if grand != parent[i] else 0
            parent[i] = grand
            above ^= side[i]
            i = grand
        return i, above

    for (i, j), weight in zip(pairs.tolist(), weights.tolist(), strict=True):
        (a, left), (b, right) = root_of(i), root_of(j)
        apart = left ^ right ^ (weight > 0)
        if a != b:
            parent[a], side[a] = b, apart
        elif apart:
            return math.nan
    return float(weights[weights > 0].sum())


# --- generators -----------------------------------------------------------------------------------


def random_graph(random: np.random.PCG64, n: int, degree: int) -> NDArray[np.int64]:
    """Return n·degree/2 pairs, all different."""
    return draw_pairs(random, n, _edges(n, degree))


def regular_graph(random: np.random.PCG64, n: int, degree: int) -> NDArray[np.int64]:
    """Return the pairs of a graph in which all vertices have one degree.

    Edges of a ring, each vertex joined to its nearest, exchange their ends at random, except where
    that would make a loop or an edge twice.
    """
    count = _edges(n, degree)
    if n * degree % 2:
        raise InputError("maxcut:degree", degree, f"an even number, since n = {n} is odd")
    near = [(i, (i + d) % n) for d in range(1, degree // 2 + 1) for i in range(n)]
    across = [(i, i + n // 2) for i in range(n // 2)] if degree % 2 else []
    edges = near + across
    known = {_code(a, b) for a, b in edges}
    chosen = draw(random, 0, count - 1, (SWITCHES * count, 2)).tolist()
    for (e, f), turned in zip(chosen, draw(random, 0, 1, len(chosen)).tolist(), strict=True):
        (a, b), (c, d) = edges[e], edges[f][:: -1 if turned else 1]
        one, two = _code(a, d), _code(c, b)
        if a != d and c != b and one != two and one not in known and two not in known:
            known -= {_code(a, b), _code(c, d)}
            known |= {one, two}
            edges[e], edges[f] = (a, d), (c, b)
    return np.array(edges, np.int64)


def _code(a: int, b: int) -> int:
    """Return one number for an edge and its reverse."""
    return a * VERTICES + b if a < b else b * VERTICES + a


def torus_graph(random: np.random.PCG64, n: int, degree: int) -> NDArray[np.int64]:
    """Return the pairs of a grid of two or three dimensions without a border."""
    if degree not in (4, 6):
        raise InputError("maxcut:degree", degree, "4 or 6 on a torus: two or three dimensions")
    _edges(n, degree)
    sides = _sides(n, degree // 2)
    if min(sides) < 3:
        expected = f"a product of {len(sides)} sides of at least 3 on a torus of degree {degree}"
        raise InputError("maxcut:n", n, expected)
    places = np.arange(n).reshape(sides)
    ends = [np.roll(places, -1, axis).ravel() for axis in range(len(sides))]
    return np.stack([np.tile(places.ravel(), len(sides)), np.concatenate(ends)], axis=1)


GENERATORS: dict[Graph, Any] = {
    "random": random_graph,
    "regular": regular_graph,
    "torus": torus_graph,
}


def _edges(n: int, degree: int) -> int:
    """Return how many edges n vertices of this degree have, if they can have it."""
    if degree >= n:
        raise InputError("maxcut:degree", degree, f"a whole number below n = {n}")
    if n * degree > 2 * EDGES:
        raise InputError("maxcut:degree", degree, f"n * degree / 2 at most {EDGES}: lower either")
    return n * degree // 2


def _sides(n: int, dimensions: int) -> list[int]:
    """Split n into as many factors, the smallest as large as can be."""
    if dimensions == 1:
        return [n]
    side = max(d for d in range(1, n + 1) if n % d == 0 and d**dimensions <= n)
    return [side, *_sides(n // side, dimensions - 1)]


# --- files ----------------------------------------------------------------------------------------


def parse_graph(data: bytes) -> Edges:
    r"""Read a graph in the format of Gset: `n m`, then m lines `i j w`; w may be left out and is 1.

    Lines that begin with # or % are comments. Vertices count from 1. An edge that is there twice
    has the sum of its weights.

    Raises
    ------
    InstanceError
        With the line, the column, what was expected there and what was found.

    Examples
    --------
    >>> n, pairs, weights = parse_graph(b"3 2\n1 2 5\n3 2 -1\n")
    >>> n, pairs.tolist(), weights.tolist()
    (3, [[0, 1], [2, 1]], [5, -1])
    """
    lines = Lines(data, comment="[#%]")
    head, size = lines.take("the number of vertices n and the number of edges m", 2)
    n = head.number("the number of vertices n", 1, VERTICES)
    count = size.number("the number of edges m", 0, EDGES)
    edges = []
    for _ in range(count):
        plain = len(lines.words()) == 2
        tokens = lines.take("two vertices and a weight", 2 if plain else 3)
        i, j = (token.number("a vertex", 1, n) for token in tokens[:2])
        if i == j:
            raise tokens[1].wrong(f"another vertex than {i}")
        weight = 1 if plain else tokens[2].number("a weight", 1 - TOTAL, TOTAL - 1)
        edges.append((i - 1, j - 1, weight))
    lines.finish()
    check_total(size, "weights", sum(abs(weight) for _, _, weight in edges))
    table = np.array(edges, np.int64).reshape(-1, 3)
    return n, table[:, :2].copy(), table[:, 2].copy()
