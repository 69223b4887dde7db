"""Multidimensional knapsacks from files of the OR-Library: `mknap`, `mknapcb`.

The number of instances; for each `n m optimum` (0 where it is unknown), n profits, m rows of n
weights, m capacities. Lines may end anywhere, numbers may have decimals, and lines that begin with
# or % are comments. The optimum is believed as the file has it.
"""

from __future__ import annotations

import math
import re
from typing import Annotated, NamedTuple

import numpy as np

from ...errors import InstanceError
from ...registry import Digest, Range, problems
from ..reading import Token, Words, check_total, one_of_several, read_instance
from .mkp import MKP, WEIGHTS, build

ITEMS, CONSTRAINTS = 100_000, 10_000
DECIMAL = re.compile(r"([0-9]{1,16})(?:\.([0-9]{0,6}))?")


@problems.add("mkp-file", private=True)
def mkp_file(
    file: Annotated[str, Range(about="path of a file in the format of the OR-Library's mknap")],
    instance: Annotated[int, Range(1, 1_000_000, "which instance of a file with several")] = 1,
    sha256: Annotated[str, Digest(about="sha256 of the file's content; filled in")] = "",
) -> MKP:
    """Multidimensional knapsack from a file of the OR-Library (`mknap`, `mknapcb`)."""
    return read_instance("mkp-file", file, sha256, lambda data: parse_mkp(data, instance))


class Decimal(NamedTuple):
    """A number as it is written: its digits, and how many of them are decimals."""

    digits: int
    places: int

    def times(self, places: int) -> int:
        """Return the whole number that this is, times ten to the power of `places`."""
        return self.digits * 10 ** (places - self.places)


def parse_mkp(data: bytes, instance: int = 1) -> MKP:
    r"""Read an instance of a multidimensional knapsack.

    Raises
    ------
    InstanceError
        With the line, the column, what was expected there and what was found.

    Examples
    --------
    >>> problem = parse_mkp(b"1\n3 2 11\n4 5.5 7\n1 2 3\n3 2 1\n4 5\n")
    >>> problem.fitness(np.array([1, 1, 0], np.uint8)), problem.optimum
    (9.5, 11.0)
    """
    return one_of_several(data, instance, _instance)


def _instance(words: Words) -> MKP:
    head = words.take("the number of items n")
    n = head.number("the number of items n", 1, ITEMS)
    rows = words.take("the number of constraints m")
    m = rows.number("the number of constraints m", 1, CONSTRAINTS)
    if n * m > WEIGHTS:
        raise rows.wrong(f"n * m at most {WEIGHTS}")
    best = _numbers(words, "the optimum, 0 where it is unknown", 1)
    profits = _numbers(words, "a profit", n)
    weights = _numbers(words, "a weight", n * m)
    capacities = _numbers(words, "a capacity", m)
    worth, places = _whole(profits)
    loads, _ = _whole(weights + capacities)
    check_total(head, "profits", sum(worth))
    # Excess weight costs this much at most: it must not overflow.
    if (cost := (max(worth) + 1) * sum(loads)) >= 2**62:
        expected = "the largest profit times the sum of the weights below 2^62"
        raise InstanceError(head.line, head.column, expected, str(cost))
    unit = 10.0**places
    optimum = best[0].digits / 10.0 ** best[0].places or math.nan
    table = np.array(loads[: n * m], np.int64).reshape(m, n).T.copy()
    limits = np.array(loads[n * m :], np.int64)
    return build(np.array(worth, np.int64), table, limits, unit, optimum)


def _numbers(words: Words, what: str, count: int) -> list[Decimal]:
    return [_decimal(words.take(what), what) for _ in range(count)]


def _decimal(token: Token, what: str) -> Decimal:
    found = DECIMAL.fullmatch(token.text)
    if not found:
        raise token.wrong(f"{what}, a number of up to 16 digits and 6 decimals")
    decimals = (found[2] or "").rstrip("0")
    return Decimal(int(found[1] + decimals), len(decimals))


def _whole(numbers: list[Decimal]) -> tuple[list[int], int]:
    """Return all as whole multiples of one power of ten, and its exponent."""
    places = max(number.places for number in numbers)
    return [number.times(places) for number in numbers], places
