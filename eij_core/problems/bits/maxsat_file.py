"""Formulas from files: DIMACS `cnf`, and `wcnf` in its old form and that of 2022.

- `c …`: a comment;
- `p cnf n m`, then m clauses: literals and a 0;
- `p wcnf n m top`, then m clauses, each after its weight: those of weight top are hard. Without
  top, none is;
- without a line `p`: a clause a line, after `h` (hard) or its weight.

Clauses of a file with a line `p` may go over several lines. A line that begins with % ends the
formula, as in SATLIB's files.
"""

from __future__ import annotations

from typing import Annotated

from ...registry import Digest, Range, problems
from ..reading import Lines, Words, check_total, read_instance
from .maxsat import CLAUSES, Formula, MaxSat, build, hard_weight

VARIABLES = 100_000
HARD = 0
LARGEST = 10**16 - 1


@problems.add("maxsat-file", private=True)
def maxsat_file(
    file: Annotated[str, Range(about="path of a DIMACS cnf or wcnf file")],
    sha256: Annotated[str, Digest(about="sha256 of the file's content; filled in")] = "",
) -> MaxSat:
    """MAX-SAT from a DIMACS file, cnf or wcnf: the weight of the satisfied clauses."""
    return build(read_instance("maxsat-file", file, sha256, parse_formula))


def parse_formula(data: bytes) -> Formula:
    r"""Read a formula in one of the forms of this module.

    Raises
    ------
    InstanceError
        With the line, the column, what was expected there and what was found.

    Examples
    --------
    >>> parse_formula(b"c small\np cnf 2 2\n1 -2 0\n2 0\n")
    Formula(n=2, clauses=[[1, -2], [2]], weights=[1, 1])
    >>> parse_formula(b"h 1 2 0\n5 -1 0\n")
    Formula(n=2, clauses=[[1, 2], [-1]], weights=[0, 5])
    """
    lines = Lines(data, comment="c", end="%")
    head = lines.here()
    formula = _headed(lines) if head.text == "p" else _headless(Words(lines))
    total = sum(formula.weights) + formula.weights.count(HARD) * hard_weight(formula.weights)
    check_total(head, "weights, those of hard clauses too,", total)
    return formula


def _headed(lines: Lines) -> Formula:
    head = lines.take_line("p cnf n m, or p wcnf n m top")
    if [token.text for token in head[1:2]] not in (["cnf"], ["wcnf"]):
        raise head[-1 if len(head) == 1 else 1].wrong("cnf or wcnf")
    weighted = head[1].text == "wcnf"
    if not 4 <= len(head) <= 4 + weighted:
        raise head[-1].wrong("p cnf n m, or p wcnf n m top")
    n = head[2].number("the number of variables n", 1, VARIABLES)
    count = head[3].number("the number of clauses m", 1, CLAUSES)
    top = head[4].number("the weight top", 1, LARGEST) if len(head) == 5 else LARGEST + 1
    words = Words(lines)
    clauses, weights = [], []
    for _ in range(count):
        weight = words.take("a weight").number("a weight", 1, min(top, LARGEST)) if weighted else 1
        weights.append(HARD if weight == top else weight)
        clauses.append(_clause(words, n))
    words.finish()
    return Formula(n, clauses, weights)


def _headless(words: Words) -> Formula:
    clauses: list[list[int]] = []
    weights: list[int] = []
    while not clauses or not words.done:
        token = words.take("a clause after h or its weight")
        weights.append(HARD if token.text == "h" else token.number("h or a weight", 1, LARGEST))
        clauses.append(_clause(words, VARIABLES))
        if len(clauses) > CLAUSES:
            raise token.wrong(f"at most {CLAUSES} clauses")
    n = max((abs(literal) for clause in clauses for literal in clause), default=1)
    return Formula(n, clauses, weights)


def _clause(words: Words, n: int) -> list[int]:
    """Take literals up to a 0."""
    clause = []
    while literal := words.take("a literal or 0").number("a literal or 0", -n, n):
        clause.append(literal)
    return clause
