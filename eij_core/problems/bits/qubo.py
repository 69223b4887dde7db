"""QUBO: quadratic functions of bits without constraints, as in the OR-Library."""

from __future__ import annotations

import math
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from ...errors import InputError
from ...registry import Digest, Range, problems
from ..draws import draw, draw_pairs, stream_of
from ..reading import TOTAL, Words, check_total, one_of_several, read_instance
from .quadratic import Quadratic, build

BITS = 100_000
ENTRIES = 1_000_000
# The entries of Beasley's instances, bqp, are from here to its negative.
LARGEST = 100

Matrix = tuple[int, NDArray[np.int64], NDArray[np.int64]]
"""The number of bits, places in the matrix from 0, and an entry for each."""


@problems.add("qubo")
def qubo(
    n: Annotated[int, Range(1, BITS, "number of bits")] = 100,
    density: Annotated[float, Range(0.0, 1.0, "share of the pairs that have an entry")] = 0.1,
    instance: Annotated[int, Range(0, 2**31 - 1, "seed of the entries")] = 1,
) -> Quadratic:
    """Quadratic binary optimisation: xᵀQx with random entries from −100 to 100, maximised.

    Density and entries are those of Beasley's instances in the OR-Library (`bqp`), which
    `qubo-file` reads.

    Examples
    --------
    >>> problem = qubo(n=50)
    >>> problem.n, problem.neighbours.size
    (50, 244)
    """
    count = round(density * n * (n - 1) / 2)
    if count > ENTRIES:
        expected = f"at most {ENTRIES} entries, density * n * (n - 1) / 2: lower n or density"
        raise InputError("qubo:density", density, expected)
    random = stream_of(instance)
    diagonal = np.stack([np.arange(n), np.arange(n)], axis=1)
    places = np.concatenate([diagonal, draw_pairs(random, n, count)])
    return matrix(n, places, draw(random, -LARGEST, LARGEST, len(places)))


@problems.add("qubo-file", private=True)
def qubo_file(
    file: Annotated[str, Range(about="path of a file in the format of the OR-Library's bqp")],
    instance: Annotated[int, Range(1, 1_000_000, "which instance of a file with several")] = 1,
    sha256: Annotated[str, Digest(about="sha256 of the file's content; filled in")] = "",
) -> Quadratic:
    """Quadratic binary optimisation from a file of the OR-Library (`bqp`), maximised."""
    return matrix(*read_instance("qubo-file", file, sha256, lambda d: parse_matrix(d, instance)))


def matrix(n: int, places: NDArray[np.int64], entries: NDArray[np.int64]) -> Quadratic:
    """Make the problem from the upper triangle of Q; entries off the diagonal count twice."""
    diagonal = places[:, 0] == places[:, 1]
    linear = np.zeros(n, np.int64)
    np.add.at(linear, places[diagonal, 0], entries[diagonal])
    # Without a negative entry off the diagonal, or without a positive one anywhere, it is known.
    optimum = math.nan
    if not (entries[~diagonal] < 0).any() and (linear >= 0).all():
        optimum = float(linear.sum() + 2 * entries[~diagonal].sum())
    elif not (entries > 0).any():
        optimum = 0.0
    return build(linear, places[~diagonal], 2 * entries[~diagonal], optimum)


def parse_matrix(data: bytes, instance: int = 1) -> Matrix:
    r"""Read a matrix of the OR-Library: its size, the places of its entries, the entries.

    The file has the number of instances, and for each `n nnz`, then nnz times `i j q`, from 1.
    Lines may end anywhere; lines that begin with # or % are comments.

    Raises
    ------
    InstanceError
        With the line, the column, what was expected there and what was found.

    Examples
    --------
    >>> n, places, entries = parse_matrix(b"1\n2 2\n1 1 4\n1 2 -3\n")
    >>> n, places.tolist(), entries.tolist()
    (2, [[0, 0], [0, 1]], [4, -3])
    """
    return one_of_several(data, instance, _matrix)


def _matrix(words: Words) -> Matrix:
    size = words.take("the number of bits n")
    n = size.number("the number of bits n", 1, BITS)
    count = words.take("the number of entries").number("the number of entries", 0, ENTRIES)
    entries = []
    for _ in range(count):
        i, j = (words.take("a bit").number("a bit", 1, n) for _ in range(2))
        q = words.take("an entry of Q").number("an entry of Q", 1 - TOTAL, TOTAL - 1)
        entries.append((i - 1, j - 1, q))
    total = sum(abs(q) if i == j else 2 * abs(q) for i, j, q in entries)
    check_total(size, "entries (twice off the diagonal)", total)
    table = np.array(entries, np.int64).reshape(-1, 3)
    return n, table[:, :2].copy(), table[:, 2].copy()
