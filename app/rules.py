"""What the page calls the quantities of a scheduler: every rule believes in terms of its own."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["PAPER", "PLUS", "Rule", "rule_of"]


class Rule(NamedTuple):
    """The words for one rule's beliefs and draws."""

    name: str
    score: str
    """Axis of what it compares operators by."""
    gain: str
    """Axis of the numerator."""
    gain_axis: str
    """The same in the decision view."""
    joules_axis: str
    heads: dict[str, str]
    """Columns of the decision's table, by field of the rule's draws."""
    credits: bool = False
    """Whether gains are credit, believed in by their logarithm."""
    chance: bool = False
    """Whether the paper's P(o1) speaks about it."""


IMPROVEMENT = "E[Δf]: improvement per application"
ENERGY = "Energy E of one application (J)"

PAPER = Rule(
    "the paper's EI/J",
    "EI/J: improvement per Joule (1/J)",
    IMPROVEMENT,
    "Improvement Δf of one application",
    ENERGY,
    {
        "gain": "Δf drawn",
        "joules": "E drawn (J)",
        "ratio": "Δf / E (1/J)",
        "penalty": "π",
        "priority": "Φ",
    },
    chance=True,
)
PLUS = Rule(
    "EI/J+",
    "EI/J+: credit per Joule (1/J)",
    "Expected credit per application",
    "Credit m of one application",
    ENERGY,
    {
        "gain": "credit m",
        "joules": "E (J)",
        "spread": "doubt s",
        "luck": "ξ drawn",
        "priority": "ln(m/E) + s·ξ",
    },
    credits=True,
)
AVERAGE = PAPER._replace(name="averages", score="Mean improvement per Joule (1/J)", chance=False)
OTHER = AVERAGE._replace(name="another rule", score="Score of the rule")

# A trial may name a rule or hold it as an object.
RULES = {
    **{"eij": PAPER, "EIJ": PAPER, "eij-plus": PLUS, "EijPlus": PLUS},
    **{"uniform": AVERAGE, "static": AVERAGE, "greedy": AVERAGE},
}


def rule_of(selector: str) -> Rule:
    """Return the words for a scheduler.

    Examples
    --------
    >>> rule_of("eij-plus").score
    'EI/J+: credit per Joule (1/J)'
    """
    return RULES.get(selector, OTHER)
