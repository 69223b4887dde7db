"""Flow shop from Taillard's files.

An instance is a line of text, a line with the numbers of jobs and machines, the seed, an upper and
a lower bound, another line of text, and a line of times for each machine. A file may have several.
"""

from __future__ import annotations

import math
from typing import Annotated

import numpy as np

from ...registry import Digest, Range, problems
from ..reading import Lines, check_total, read_instance
from .flowshop import JOBS, MACHINES, FlowShop

LARGEST = 10**9
HEAD = "jobs, machines, seed, upper bound and lower bound"


@problems.add("flowshop-file", private=True)
def flowshop_file(
    file: Annotated[str, Range(about="path of a file of Taillard's flow shops")],
    instance: Annotated[int, Range(1, 1_000_000, "which instance of a file with several")] = 1,
    sha256: Annotated[str, Digest(about="sha256 of the file's content; filled in")] = "",
) -> FlowShop:
    """Flow shop from a file of Taillard: the makespan of jobs that pass all machines in order."""
    return read_instance("flowshop-file", file, sha256, lambda data: parse_flowshop(data, instance))


def parse_flowshop(data: bytes, instance: int = 1) -> FlowShop:
    r"""Read an instance, by its number from 1; equal bounds are its optimum.

    Raises
    ------
    InstanceError
        With the line, the column, what was expected there and what was found.

    Examples
    --------
    >>> parse_flowshop(b"number of jobs\n2 2 1 7 7\ntimes :\n3 1\n2 4\n").fitness(np.array([0, 1]))
    9.0
    """
    lines = Lines(data, comment="[A-Za-z]")
    found = _read(lines)
    for _ in range(instance - 1):
        found = _read(lines)
    while lines.words():  # the others are read strictly, too
        _read(lines)
    return found


def _read(lines: Lines) -> FlowShop:
    head = lines.take(HEAD, 5)
    n = head[0].number("the number of jobs", 2, JOBS)
    machines = head[1].number("the number of machines", 1, MACHINES)
    _, upper, lower = (token.number(HEAD, 0, 10**15) for token in head[2:])
    rows = [lines.take("a line of times, one for each job", n) for _ in range(machines)]
    times = [[token.number("a time", 0, LARGEST) for token in row] for row in rows]
    check_total(head[0], "times", sum(map(sum, times)))
    optimum = float(upper) if upper == lower else math.nan
    return FlowShop(n, np.ascontiguousarray(np.array(times, np.int64).T), optimum)
