"""Knapsack instances from files, read strictly: a fault is reported with its place.

There are three formats, which differ in their first line:

- `n C`, then `n` lines `p w`, then optionally one line with a 0/1 vector of `n` entries;
- kplib's `.kp`: `n`, `C`, then `n` lines `p w`;
- Pisinger's csv: a name, `n …`, `c …`, `z …`, `time …`, then `n` lines `index,p,w,x`; instances
  are separated by a line of dashes.

Empty lines are skipped. Files may come from anywhere: sizes are checked before anything is
allocated, and a number is read only if it consists of decimal digits.
"""

from __future__ import annotations

import hashlib
import logging
import re
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...errors import InputError, InstanceError
from ...registry import FILE_BYTES, Digest, Range, problems, read_file
from .knapsack import Knapsack, build

log = logging.getLogger(__name__)

LINE_BYTES = 64 * 1024
TOKENS = 2_000_000
ITEMS = 100_000
# Totals stay exact as floating-point numbers, which fitness is.
TOTAL = 2**53

DIGITS = re.compile(r"[0-9]{1,16}")
DECIMAL = re.compile(r"[0-9]{1,16}(\.[0-9]{1,16})?")
WORD = re.compile(r"[^ \t]+")
CELL = re.compile(r"(?:^|(?<=,))[^,]*")
END = "the end of the file"

Instance = tuple[NDArray[np.int64], NDArray[np.int64], int]


@problems.add("knapsack-file", private=True)
def knapsack_file(
    file: Annotated[str, Range(about="path of a knapsack file")],
    instance: Annotated[int, Range(1, 1_000_000, "which instance of a file with several")] = 1,
    sha256: Annotated[str, Digest(about="sha256 of the file's content; filled in")] = "",
) -> Knapsack:
    """0-1 knapsack from a file: `n C` and `p w` lines, kplib's .kp, or Pisinger's csv."""
    data = read_file("knapsack-file:file", file)
    found = hashlib.sha256(data).hexdigest()
    if sha256 and sha256 != found:
        raise InputError(
            "knapsack-file:sha256", sha256, f"{found}, which {file} has: the file has changed"
        )
    try:
        profits, weights, capacity = parse_knapsack(data, instance)
    except InstanceError as error:
        error.source = file
        raise
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
    lines = Lines(_decode(data))
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


# --- text, lines, tokens --------------------------------------------------------------------------


def _decode(data: bytes) -> str:
    if len(data) > FILE_BYTES:
        raise InstanceError(1, 1, f"at most {FILE_BYTES} bytes", f"{len(data)} bytes")
    if (nul := data.find(b"\0")) >= 0:
        raise InstanceError(*_place(data, nul), "a text file", f"a NUL byte at offset {nul}")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        # The position is that in the bytes after a mark of byte order, if there is one.
        at = len(data) - len(error.object) + error.start
        found = f"byte 0x{data[at]:02x} at offset {at}"
        raise InstanceError(*_place(data, at), "a text file in UTF-8", found) from None
    # Two million tokens take four million characters: smaller files need no counting.
    if len(text) >= 2 * TOKENS and (count := len(re.findall(r"[^\s,]+", text))) > TOKENS:
        raise InstanceError(1, 1, f"at most {TOKENS} entries", f"{count} entries")
    return text


def _place(data: bytes, offset: int) -> tuple[int, int]:
    before = data[:offset]
    return before.count(b"\n") + 1, offset - before.rfind(b"\n")


class Token(NamedTuple):
    """An entry of the file and its place, counted from 1."""

    line: int
    column: int
    text: str

    def wrong(self, expected: str) -> InstanceError:
        """Return the error of having found this."""
        return InstanceError(self.line, self.column, expected, self.text)

    def number(self, what: str, low: int, high: int) -> int:
        """Return the whole number that this must be."""
        if DIGITS.fullmatch(self.text) and low <= (value := int(self.text)) <= high:
            return value
        raise self.wrong(f"{what}, a whole number, {Range(low, high) if low < high else low}")


class Lines:
    """The lines of a text that are not empty, taken one by one."""

    def __init__(self, text: str) -> None:
        self._lines: list[tuple[int, str]] = []
        self._at = 0
        number = 0
        for number, raw in enumerate(text.split("\n"), 1):
            line = raw.removesuffix("\r")
            if len(line) > LINE_BYTES or len(line.encode()) > LINE_BYTES:
                raise InstanceError(number, 1, f"at most {LINE_BYTES} bytes a line", line)
            if line.strip(" \t"):
                self._lines.append((number, line))
        self._end = Token(number, 1, END)

    def words(self, pattern: re.Pattern[str] = WORD) -> list[Token]:
        """Return the tokens of the line that comes next; none at the end of the file."""
        if self._at == len(self._lines):
            return []
        number, line = self._lines[self._at]
        return [Token(number, m.start() + 1, m[0].strip(" \t")) for m in pattern.finditer(line)]

    def here(self) -> Token:
        """Return the token that comes next, or the end of the file."""
        return next(iter(self.words()), self._end)

    def take(self, what: str, count: int, pattern: re.Pattern[str] = WORD) -> list[Token]:
        """Return the tokens of the next line, which must be so many, and go on."""
        tokens = self.words(pattern)
        if not tokens:
            raise self._end.wrong(what)
        if len(tokens) > count:
            raise tokens[count].wrong(f"the end of the line after {what}")
        if len(tokens) < count:
            number, line = self._lines[self._at]
            raise InstanceError(number, len(line) + 1, what, "the end of the line")
        self._at += 1
        return tokens

    def at_dashes(self) -> bool:
        """Tell whether the next line separates two instances."""
        return not self._lines[self._at][1].strip(" \t-")

    def skip_past_dashes(self, instance: int) -> None:
        """Go to the line after the next one of dashes."""
        while self._at < len(self._lines) and not self.at_dashes():
            self._at += 1
        self._at += 1
        if self._at >= len(self._lines):
            raise self._end.wrong(f"an instance number {instance}")

    def finish(self) -> None:
        """Make sure that nothing is left."""
        if self.words():
            raise self.here().wrong(END)
