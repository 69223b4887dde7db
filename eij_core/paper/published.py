"""What the paper did and printed: settings, methods, and its two tables of results."""

from __future__ import annotations

import math
from typing import NamedTuple


class Published(NamedTuple):
    """One entry of a table of the paper; nan where it prints a dash."""

    mean: float
    sd: float
    p: str
    """Mann-Whitney against the EOS method above it; "" for that method itself."""

    @property
    def p_value(self) -> float:
        """The printed p as a number: 0 for "<0.01", nan for none."""
        return float(self.p or "nan") if not self.p.startswith("<") else 0.0


class Setting(NamedTuple):
    """How the paper treats one problem."""

    title: str
    joules: float
    evaluations: float
    scale: float
    """Its table prints fitness times this."""


PROBLEMS = {
    "knapsack": Setting("KP", 1_000.0, 35_000.0, 1.0),
    "nk": Setting("NK", 1_000.0, 10_000.0, 100.0),
    "ecc": Setting("ECC", 10_000.0, 15_000.0, 100.0),
}

METHODS: dict[str, dict[str, str]] = {
    "ssga": {
        "EOS-SSGA": "eij",
        "SSGA-1": "static:operator=replace-1",
        "SSGA-5": "static:operator=replace-5",
    },
    "pso": {
        "EOS-PSO": "eij",
        "PSO-Light": "static:operator=light",
        "PSO-Full": "static:operator=full",
    },
    "ils": {
        "EOS-ILS": "eij",
        "ILS-1": "static:operator=flip-1",
        "ILS-5": "static:operator=flip-5",
    },
}
"""The selector of each method, by algorithm."""

TRIALS = 100
"""Trials per method in the paper."""
HALF_DIGIT = 0.005
"""Half of the last digit that the paper prints."""


def _number(text: str) -> float:
    return math.nan if text == "-" else float(text)


def _published(text: str) -> dict[str, dict[str, Published]]:
    """Read lines of method and, per problem, mean, sd and p."""
    table: dict[str, dict[str, Published]] = {problem: {} for problem in PROBLEMS}
    for line in text.strip().splitlines():
        method, *entries = line.split()
        for problem, mean, sd, p in zip(
            PROBLEMS, entries[0::3], entries[1::3], entries[2::3], strict=True
        ):
            table[problem][method] = Published(_number(mean), _number(sd), p.strip("-"))
    return table


FINAL_FITNESS = _published("""
EOS-SSGA   8818.55 261.56 -      72.49 1.36 -      6.29 0.03 -
SSGA-1     8793.64 298.88 0.66   72.46 1.46 0.68   6.29 0.03 0.64
SSGA-5     8834.12 284.36 0.50   72.55 1.28 0.79   6.30 0.03 0.05
EOS-PSO    8120.82 667.06 -      69.19 1.62 -      5.86 0.06 -
PSO-Light  -       -      <0.01  60.42 1.03 <0.01  5.55 0.07 <0.01
PSO-Full   8307.06 524.74 0.07   69.50 1.39 0.11   5.90 0.06 <0.01
EOS-ILS    9035.58 125.06 -      73.52 1.24 -      6.33 0.06 -
ILS-1      9031.08 112.59 0.91   73.45 1.31 0.53   6.35 0.06 <0.01
ILS-5      -       -      <0.01  67.89 0.94 <0.01  6.04 0.03 <0.01
""")
"""Table "Mean and standard deviation of the final fitness", at equal Joules."""

FINAL_ENERGY = _published("""
EOS-SSGA   688.20 55.58 -      686.57 30.17 -      7348.27 135.92 -
SSGA-1     798.84 30.42 <0.01  731.25 37.62 <0.01  7446.86 174.90 <0.01
SSGA-5     679.98 19.47 <0.01  681.25 27.80 0.08   7379.68 152.72 0.19
EOS-PSO    454.99 13.59 -      604.49 26.23 -      7062.47 143.89 -
PSO-Light  455.61 13.86 0.49   607.44 25.85 0.36   7080.38 134.86 0.43
PSO-Full   452.67 12.52 0.13   606.17 29.10 0.69   7056.78 151.06 0.64
EOS-ILS    425.98 12.02 -      615.23 24.50 -      7197.76 133.57 -
ILS-1      426.45 14.77 0.41   614.85 28.18 0.65   7194.98 134.27 0.78
ILS-5      433.55 11.76 <0.01  621.95 27.10 0.09   7220.81 137.15 0.24
""")
"""Table "Energy consumption under fixed evaluation budgets", in Joules."""
