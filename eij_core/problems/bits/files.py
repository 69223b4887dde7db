"""Knapsack instances from files, read strictly: a fault is reported with its place.

There are three formats, which differ in their first line:

- `n C`, then `n` lines `p w`, then optionally one line with a 0/1 vector of `n` entries;
- kplib's `.kp`: `n`, `C`, then `n` lines `p w`;
- Pisinger's csv: a name, `n …`, `c …`, `z …`, `time …`, then `n` lines `index,p,w,x`; instances
  are separated by a line of dashes.
"""

from __future__ import annotations

import logging
import re
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from ...errors import InstanceError
from ...registry import Digest, Range, problems
from ..reading import TOTAL, Lines, Token, read_instance
from .knapsack import Knapsack, build

log = logging.getLogger(__name__)

ITEMS = 100_000
DECIMAL = re.compile(r"[0-9]{1,16}(\.[0-9]{1,16})?")
CELL = re.compile(r"(?:^|(?<=,))[^,]*")

Instance = tuple[NDArray[np.int64], NDArray[np.int64], int]


@problems.add("knapsack-file", private=True)
def knapsack_file(
    file: Annotated[str, Range(about="path of a knapsack file")],
    instance: Annotated[int, Range(1, 1_000_000, "which instance of a file with several")] = 1,
    sha256: Annotated[str, Digest(about="sha256 of the file's content; filled in")] = "",
) -> Knapsack:
    """0-1 knapsack from a file: `n C` and `p w` lines, kplib's .kp, or Pisinger's csv."""
    profits, weights, capacity = read_instance(
        "knapsack-file", file, sha256, lambda data: parse_knapsack(data, instance)
    )
    if weights.min() > capacity:
        log.warning("%s: no item fits into the capacity of %d, so the optimum is 0", file, capacity)
    return build(profits, weights, capacity)


def parse_knapsack(data: bytes, instance: int = 1) -> Instance:
    r"""Read a knapsack instance: profits, weights and capacity.

    Parameters
    ----------
    data : bytes
        The content of a file in one of the formats of this module.
    instance : int
        Which instance to read, from 1, where a file holds several (Pisinger's csv); the others
        are skipped unread.

    Raises
    ------
    InstanceError
        With the line, the column, what was expected there and what was found.

    Examples
    --------
    >>> profits, weights, capacity = parse_knapsack(b"2 5\n10 4\n7 3\n")
    >>> profits.tolist(), weights.tolist(), capacity
    ([10, 7], [4, 3], 5)
    """
    lines = Lines(data)
    first = lines.words()
    if first and re.match(r"[A-Za-z]", first[0].text):
        return _pisinger(lines, instance)
    if instance != 1:
        raise lines.here().wrong(f"Pisinger's csv, to have an instance number {instance}")
    return _classic(lines, on_one_line=len(first) > 1)


# --- the formats ----------------------------------------------------------------------------------


def _classic(lines: Lines, *, on_one_line: bool) -> Instance:
    if on_one_line:
        count, capacity = lines.take("the number of items n and the capacity C", 2)
    else:
        (count,) = lines.take("the number of items n", 1)
        (capacity,) = lines.take("the capacity C", 1)
    n = count.number("the number of items n", 1, ITEMS)
    room = capacity.number("the capacity C", 0, TOTAL - 1)
    items = [_item(*lines.take("a profit and a weight", 2)) for _ in range(n)]
    if lines.words():
        for bit in lines.take(f"a solution of {n} entries 0 or 1", n):
            bit.number("an entry of the solution", 0, 1)
    lines.finish()
    return _instance(count, items, room)


def _pisinger(lines: Lines, instance: int) -> Instance:
    for _ in range(instance - 1):
        lines.skip_past_dashes(instance)
    lines.take("the name of the instance", 1)
    count = _setting(lines, "n")
    n = count.number("the number of items n", 1, ITEMS)
    room = _setting(lines, "c").number("the capacity C", 0, TOTAL - 1)
    _setting(lines, "z").number("the optimum z", 0, TOTAL - 1)
    time = _setting(lines, "time")
    if not DECIMAL.fullmatch(time.text):
        raise time.wrong("a time in seconds")
    items = []
    for i in range(1, n + 1):
        index, profit, weight, bit = lines.take("index,profit,weight,0 or 1", 4, CELL)
        index.number("the index of the item", i, i)
        bit.number("the item's place in the solution", 0, 1)
        items.append(_item(profit, weight))
    if lines.words() and not lines.at_dashes():
        raise lines.here().wrong("a line of dashes or the end of the file")
    return _instance(count, items, room)


def _setting(lines: Lines, key: str) -> Token:
    name, value = lines.take(f"{key} and its value", 2)
    if name.text != key:
        raise name.wrong(key)
    return value


def _item(profit: Token, weight: Token) -> tuple[int, int]:
    # A weight of 0 would make the paper's penalty, n·max p/w, infinite.
    return profit.number("a profit", 0, TOTAL - 1), weight.number("a weight", 1, TOTAL - 1)


def _instance(head: Token, items: list[tuple[int, int]], capacity: int) -> Instance:
    for what, total in zip(("profits", "weights"), map(sum, zip(*items, strict=True)), strict=True):
        if not 0 < total < TOTAL:
            expected = f"{what} with a total from 1 to 2^53 - 1"
            raise InstanceError(head.line, head.column, expected, str(total))
    profits, weights = np.array(items, np.int64).T.copy()
    return profits, weights, capacity
