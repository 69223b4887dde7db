"""Instances from files, read strictly: a fault is reported with its line and its column.

Files may come from anywhere: sizes are checked before anything is allocated, a number is read only
if it consists of decimal digits, and nothing is executed. Empty lines and lines of comments are
skipped; lines may end in CRLF, and entries be separated by blanks or tabs.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from typing import NamedTuple, TypeVar

from ..errors import InputError, InstanceError
from ..registry import FILE_BYTES, Range, read_file

T = TypeVar("T")

LINE_BYTES = 64 * 1024
TOKENS = 2_000_000
# Totals stay exact as floating-point numbers, which fitness is.
TOTAL = 2**53

DIGITS = re.compile(r"[0-9]{1,16}")
SIGNED = re.compile(r"-?[0-9]{1,16}")
REAL = re.compile(r"[-+]?([0-9]{1,16}(\.[0-9]{0,16})?|\.[0-9]{1,16})([eE][-+]?[0-9]{1,2})?")
WORD = re.compile(r"[^ \t]+")
END = "the end of the file"


def read_instance(problem: str, file: str, sha256: str, parse: Callable[[bytes], T]) -> T:
    """Return what `parse` reads in a file whose digest, where it is given, must be `sha256`."""
    data = read_file(f"{problem}:file", file)
    found = hashlib.sha256(data).hexdigest()
    if sha256 and sha256 != found:
        expected = f"{found}, which {file} has: the file has changed"
        raise InputError(f"{problem}:sha256", sha256, expected)
    try:
        return parse(data)
    except InstanceError as error:
        error.source = file
        raise


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
        written = SIGNED if low < 0 else DIGITS
        if written.fullmatch(self.text) and low <= (value := int(self.text)) <= high:
            return value
        raise self.wrong(f"{what}, a whole number, {Range(low, high) if low < high else low}")

    def real(self, what: str, most: float) -> float:
        """Return the number that this must be, with or without a fraction and an exponent."""
        if REAL.fullmatch(self.text) and abs(value := float(self.text)) <= most:
            return value
        raise self.wrong(f"{what}, a number, {Range(-most, most)}")


class Lines:
    """The lines of a file that are neither empty nor comments, taken one by one.

    Parameters
    ----------
    data : bytes
        The content of the file.
    comment : str
        A regular expression that a line of comments begins with.
    end : str
        A line that ends the file; what comes after it is not read.
    """

    def __init__(self, data: bytes, comment: str = "", end: str = "") -> None:
        self._lines: list[tuple[int, str]] = []
        self._at = 0
        is_comment = re.compile(rf"[ \t]*(?:{comment})").match if comment else lambda _: None
        number = 0
        for number, raw in enumerate(_decode(data).split("\n"), 1):
            line = raw.removesuffix("\r")
            if len(line) > LINE_BYTES or len(line.encode()) > LINE_BYTES:
                raise InstanceError(number, 1, f"at most {LINE_BYTES} bytes a line", line)
            if end and line.strip(" \t") == end:
                break
            if line.strip(" \t") and not is_comment(line):
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

    def take_line(self, what: str) -> list[Token]:
        """Return the tokens of the next line, however many, and go on."""
        return self.take(what, max(1, len(self.words())))

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


class Words:
    """The entries of a file, taken one by one, wherever its lines end."""

    def __init__(self, lines: Lines) -> None:
        self._lines = lines
        self._waiting: list[Token] = []

    def take(self, what: str) -> Token:
        """Return the next entry and go on."""
        if not self._waiting:
            self._waiting = self._lines.take_line(what)[::-1]
        return self._waiting.pop()

    @property
    def done(self) -> bool:
        """Whether nothing is left."""
        return not self._waiting and not self._lines.words()

    def finish_line(self) -> None:
        """Make sure that nothing is left on the line."""
        if self._waiting:
            raise self._waiting[-1].wrong("the end of the line")

    def finish(self) -> None:
        """Make sure that nothing is left."""
        if self._waiting:
            raise self._waiting[-1].wrong(END)
        self._lines.finish()


def one_of_several(data: bytes, instance: int, read: Callable[[Words], T]) -> T:
    """Read a file of the OR-Library: the number of its instances, then each; return one, from 1."""
    words = Words(Lines(data, comment="[#%]"))
    head = words.take("the number of instances")
    instances = head.number("the number of instances", 1, 1_000_000)
    if instance > instances:
        raise head.wrong(f"an instance number {instance}")
    found = [read(words) for _ in range(instances)]
    words.finish()
    return found[instance - 1]


def check_total(head: Token, what: str, total: int) -> None:
    """Refuse numbers whose sum is not exact in floating point; `head` is the place that is named.

    Examples
    --------
    >>> check_total(Token(1, 1, "3"), "weights", 2**53)
    Traceback (most recent call last):
    eij_core.errors.InstanceError: line 1, column 1: expected weights with a total of absolute \
values below 2^53, found '9007199254740992'
    """
    if total >= TOTAL:
        expected = f"{what} with a total of absolute values below 2^53"
        raise InstanceError(head.line, head.column, expected, str(total))


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
