"""Quadratic assignment from files: QAPLIB's `.dat`, and LibOpt's `.flp` with its keywords."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from ...registry import Digest, Range, problems
from ..reading import Lines, Token, Words, check_total, read_instance
from .qap import QAP, SIZE, build

LARGEST = 10**9
FLOWS, DISTANCES = "FLOWS_BETWEEN_FACILITIES", "DISTANCES_BETWEEN_LOCATIONS"


@problems.add("qap-file", private=True)
def qap_file(
    file: Annotated[str, Range(about="path of a QAPLIB .dat or LibOpt .flp file")],
    sha256: Annotated[str, Digest(about="sha256 of the file's content; filled in")] = "",
) -> QAP:
    """Quadratic assignment from a file: n and two matrices (QAPLIB), or LibOpt's .flp."""
    return read_instance("qap-file", file, sha256, parse_qap)


def parse_qap(data: bytes) -> QAP:
    r"""Read a file in one of the forms of this module.

    Raises
    ------
    InstanceError
        With the line, the column, what was expected there and what was found.

    Examples
    --------
    >>> parse_qap(b"2\n0 1\n2 0\n\n0 5 7 0\n").fitness(np.array([0, 1]))
    19.0
    """
    lines = Lines(data, comment="(NAME|COMMENT)", end="EOF")
    words = Words(lines)
    head = words.take("the number of facilities")
    keyed = head.text in ("N", "N:")
    if keyed:
        if head.text == "N":
            _expect(words.take(":"), ":")
        head = words.take("the number of facilities")
    n = head.number("the number of facilities", 2, SIZE)
    parts = []
    for name in (FLOWS, DISTANCES):
        if keyed:
            _expect(words.take(name), name)
        parts.append(_matrix(words, n))
    words.finish()
    flows, distances = parts
    check_total(head, "flows times distances", int(flows.sum()) * int(distances.max()))
    return build(flows, distances)


def _matrix(words: Words, n: int) -> NDArray[np.int64]:
    entries = [words.take("an entry of a matrix") for _ in range(n * n)]
    return np.array(
        [entry.number("an entry of a matrix", 0, LARGEST) for entry in entries], np.int64
    ).reshape(n, n)


def _expect(found: Token, wanted: str) -> None:
    if found.text != wanted:
        raise found.wrong(wanted)
