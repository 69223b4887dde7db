"""Travelling salesman from TSPLIB files: places, or explicit distances."""

from __future__ import annotations

import re
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from ...registry import Digest, Range, problems
from ..reading import Lines, Token, Words, check_total, read_instance
from .tsp import CITIES, EXPLICIT, GEO, RULES, TABLED, TSP, build

HEADER = re.compile(r"[^ \t:]+")
LARGEST = 10**9
FORMATS = {
    "FULL_MATRIX": ("full", 0),
    **dict.fromkeys(("UPPER_ROW", "LOWER_COL"), ("upper", 1)),
    **dict.fromkeys(("LOWER_ROW", "UPPER_COL"), ("lower", 1)),
    **dict.fromkeys(("UPPER_DIAG_ROW", "LOWER_DIAG_COL"), ("upper", 0)),
    **dict.fromkeys(("LOWER_DIAG_ROW", "UPPER_DIAG_COL"), ("lower", 0)),
}
"""Which part of the table stands in the file, and whether without its diagonal."""
FIELDS = {
    "TYPE": ("TSP",),
    "EDGE_WEIGHT_TYPE": RULES,
    "EDGE_WEIGHT_FORMAT": (*FORMATS, "FUNCTION"),
    "NODE_COORD_TYPE": ("TWOD_COORDS",),
}
SECTIONS = ("NODE_COORD_SECTION", "EDGE_WEIGHT_SECTION", "DISPLAY_DATA_SECTION")


@problems.add("tsp-file", private=True)
def tsp_file(
    file: Annotated[str, Range(about="path of a TSPLIB file")],
    sha256: Annotated[str, Digest(about="sha256 of the file's content; filled in")] = "",
) -> TSP:
    """Travelling salesman from a TSPLIB file: EUC_2D, CEIL_2D, ATT, GEO or EXPLICIT distances."""
    return read_instance("tsp-file", file, sha256, parse_tsp)


def parse_tsp(data: bytes) -> TSP:
    r"""Read a file of TSPLIB.

    Raises
    ------
    InstanceError
        With the line, the column, what was expected there and what was found.

    Examples
    --------
    >>> head = b"TYPE: TSP\nDIMENSION: 3\nEDGE_WEIGHT_TYPE: EUC_2D\nNODE_COORD_SECTION\n"
    >>> parse_tsp(head + b"1 0 0\n2 3 0\n3 3 4\nEOF\n").fitness(np.array([0, 1, 2]))
    12.0
    """
    lines = Lines(data, comment="(NAME|COMMENT|DISPLAY_DATA_TYPE)", end="EOF")
    head: dict[str, Token] = {}
    n, places, table = 0, np.zeros((0, 2)), None
    while lines.words():
        words = lines.take("a keyword", len(lines.words(HEADER)), HEADER)
        key = words[0]
        if key.text in SECTIONS:
            if n == 0:
                raise key.wrong("DIMENSION before the sections")
            if key.text == "EDGE_WEIGHT_SECTION":
                table = _distances(lines, key, head, n)
            elif key.text == "NODE_COORD_SECTION":
                places = _places(lines, n)
            else:
                for _ in range(n):
                    lines.take("the number of a city and its place", 3)
            continue
        if len(words) != 2:
            raise words[-1].wrong("a keyword and its value")
        if key.text in head:
            raise key.wrong(f"{key.text} once")
        if key.text == "DIMENSION":
            n = words[1].number("the number of cities", 3, CITIES)
        elif words[1].text not in FIELDS.get(key.text, ()):
            known = FIELDS.get(key.text)
            wanted = known or (*FIELDS, "DIMENSION", *SECTIONS)
            raise words[1 if known else 0].wrong(f"one of {', '.join(wanted)}")
        head[key.text] = words[1]
    return _made(lines.here(), head, n, places, table)


def _made(
    end: Token,
    head: dict[str, Token],
    n: int,
    places: NDArray[np.float64],
    table: NDArray[np.int64] | None,
) -> TSP:
    if "EDGE_WEIGHT_TYPE" not in head:
        raise end.wrong("EDGE_WEIGHT_TYPE before the end of the file")
    kind = head["EDGE_WEIGHT_TYPE"]
    rule = RULES.index(kind.text)
    if rule == EXPLICIT and table is None:
        raise end.wrong("EDGE_WEIGHT_SECTION before the end of the file")
    if rule != EXPLICIT and len(places) == 0:
        raise end.wrong("NODE_COORD_SECTION before the end of the file")
    if rule == GEO and n > TABLED:
        raise kind.wrong(f"GEO distances of at most {TABLED} cities")
    return build(rule, places, table if rule == EXPLICIT else None)


def _places(lines: Lines, n: int) -> NDArray[np.float64]:
    """Take a line for each city: its number from 1, in any order, and two coordinates."""
    places = np.full((n, 2), np.nan)
    for _ in range(n):
        number, *place = lines.take("the number of a city and its place", 3)
        city = number.number("the number of a city", 1, n) - 1
        if not np.isnan(places[city, 0]):
            raise number.wrong("each city once")
        places[city] = [word.real("a coordinate", LARGEST) for word in place]
    return places


def _distances(lines: Lines, key: Token, head: dict[str, Token], n: int) -> NDArray[np.int64]:
    """Take the entries of a table, in the form that EDGE_WEIGHT_FORMAT says."""
    form = head.get("EDGE_WEIGHT_FORMAT")
    if form is None or form.text not in FORMATS:
        raise (form or key).wrong(f"EDGE_WEIGHT_FORMAT as one of {', '.join(FORMATS)}")
    part, off = FORMATS[form.text]
    words = Words(lines)
    table, total = np.zeros((n, n), np.int64), 0
    for i in range(n):
        low, high = {"full": (0, n), "upper": (i + off, n), "lower": (0, i + 1 - off)}[part]
        for j in range(low, high):
            entry = words.take("a distance")
            value = entry.number("a distance", 0, LARGEST)
            if part == "full" and j < i and table[j, i] != value:
                raise entry.wrong(f"{table[j, i]}, the distance of the way back")
            table[i, j] = value
            total += value
            if part != "full":
                table[j, i] = value
    words.finish_line()
    check_total(key, "distances", total)
    np.fill_diagonal(table, 0)
    return table
