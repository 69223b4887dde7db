"""Labels of what a rule believes and draws: every rule believes in terms of its own."""

from __future__ import annotations

import functools
from typing import NamedTuple

from eij_core.registry import selectors

PROVENANCE: dict[str, str] = {
    "measured": "Read from a hardware counter of this machine.",
    "attributed": "A share of a hardware counter's reading, attributed to this run.",
    "estimated": "Estimated from processor time and an assumed power; no counter is read.",
    "simulated": "Computed from a price list, the same on every machine; no counter is read.",
    "replayed": "Taken from a recording.",
}


class RuleLabels(NamedTuple):
    """The labels of one rule's beliefs and draws."""

    rule: str
    """"eij" and "eij-plus" have texts of their own; all other rules share those of ""."""
    score: str
    """Axis of the quantity that the rule compares operators by."""
    gain: str
    """Axis of its numerator."""
    gain_drawn: str
    """Axis of the numerator in the decision view."""
    short: tuple[str, str]
    """Numerator and score as heads of a table."""
    draws: dict[str, str]
    """Heads of the decision's table, by field of the rule's draws."""


PAPER = RuleLabels(
    "eij",
    "EI/J: improvement per Joule (1/J)",
    "E[Δf]: improvement per application",
    "Improvement Δf of one application",
    ("E[Δf]", "EI/J (1/J)"),
    {
        "gain": "Δf drawn",
        "joules": "E drawn (J)",
        "ratio": "Δf / E (1/J)",
        "penalty": "π",
        "priority": "Φ",
    },
)
PLUS = RuleLabels(
    "eij-plus",
    "EI/J+: credit per Joule (1/J)",
    "Expected credit per application",
    "Credit m of one application",
    ("credit", "credit per J"),
    {
        "gain": "credit m",
        "joules": "E (J)",
        "spread": "doubt s",
        "luck": "ξ drawn",
        "priority": "ln(m/E) + s·ξ",
    },
)
OTHER = PAPER._replace(rule="", score="Score of the rule")
AVERAGE = OTHER._replace(score="Mean improvement per Joule (1/J)")

LABELS = {"eij": PAPER, "eij-plus": PLUS} | dict.fromkeys(("uniform", "static", "greedy"), AVERAGE)


def labels_of(selector: str) -> RuleLabels:
    """Return the labels of a rule, by its name or, if a trial holds an object, by its class.

    Examples
    --------
    >>> labels_of("eij-plus").score
    'EI/J+: credit per Joule (1/J)'
    >>> labels_of("EijPlus") == labels_of("eij-plus")
    True
    """
    return LABELS.get(selector) or _of_class(selector)


@functools.cache
def _of_class(name: str) -> RuleLabels:
    known = (labels for rule, labels in LABELS.items() if selectors[rule].__name__ == name)
    return next(known, OTHER)
