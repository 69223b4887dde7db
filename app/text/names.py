"""Full names of components, and the groups that menus show them in: one place for all pages.

A component that is not listed is shown by its own name. Its one-line description is the first line
of its docstring in `eij_core`.
"""

from __future__ import annotations

from collections.abc import Iterable

from eij_core.trial import FAMILIES

NAMES: dict[str, dict[str, str]] = {
    "problem": {
        "ecc": "Error-correcting code",
        "external": "A Python function",
        "knapsack": "Knapsack",
        "knapsack-file": "Knapsack from a file",
        "labs": "Low-autocorrelation sequence",
        "leading-ones": "LeadingOnes",
        "maxcut": "MaxCut",
        "maxcut-file": "MaxCut from a file",
        "maxsat": "Random MAX-SAT",
        "maxsat-file": "MAX-SAT from a file",
        "mkp": "Multidimensional knapsack",
        "mkp-file": "Multidimensional knapsack from a file",
        "nk": "NK landscape",
        "onemax": "OneMax",
        "qubo": "Quadratic binary problem",
        "qubo-file": "Quadratic binary problem from a file",
        "trap": "Deceptive traps",
    },
    "algorithm": {
        "ils": "Iterated local search",
        "pso": "Particle swarm",
        "ssga": "Steady-state genetic algorithm",
    },
    "selector": {
        "eij-plus": "EI/J+",
        "eij": "EI/J, the paper's rule",
        "log-ei": "Logarithmic EI/J",
        "greedy": "Greedy EI/J",
        "adaptive-pursuit": "Adaptive pursuit",
        "budgeted-thompson": "Budgeted Thompson sampling",
        "d-ucb": "Discounted UCB",
        "dmab": "UCB with restarts (DMAB)",
        "dynamic-thompson": "Dynamic Thompson sampling",
        "epsilon-greedy": "ε-greedy",
        "exp3": "Exp3",
        "kube": "KUBE (UCB under a budget)",
        "probability-matching": "Probability matching",
        "roulette": "Adaptive roulette of ALNS",
        "softmax": "Softmax",
        "sw-ucb": "Sliding-window UCB",
        "thompson": "Thompson sampling",
        "ucb1": "UCB1",
        "joule-round-robin": "Equal Joules",
        "static": "One operator alone",
        "uniform": "Uniform choice",
    },
    "case": {
        "twin-10": "Twin at 10 times the price",
        "twin-100": "Twin at 100 times the price",
        "null": "Does nothing",
        "cheap-null": "Does nothing, cheaply",
        "almost": "Always just short",
        "almost-noisy": "Just short, with noise",
        "shock": "Rare disasters",
        "late-bloomer": "Late bloomer",
        "cost-up": "Price rises",
        "cost-down": "Price falls",
        "twelve": "Twelve operators",
        "single": "A single operator",
        "useless": "Nothing works",
    },
}

GROUPS: dict[str, dict[str, tuple[str, ...]]] = {
    "selector": {
        "Ours": ("eij-plus",),
        "The paper's": ("eij", "greedy", "log-ei"),
        "Baselines": ("uniform", "static", "joule-round-robin"),
    },
}
REST = {"selector": "Bandits and adaptive rules"}
"""The group of what is in no other."""


def name_of(family: str, name: str) -> str:
    """Return the full name of a component, or of a case of the zoo.

    Examples
    --------
    >>> name_of("selector", "eij-plus"), name_of("problem", "yours")
    ('EI/J+', 'yours')
    """
    return NAMES.get(family, {}).get(name, name)


def about(family: str, name: str) -> str:
    """Return the one-line description of a component."""
    return FAMILIES[family].about(name)


def by_name(family: str, names: Iterable[str]) -> dict[str, str]:
    """Return components by their full names, as menus take them.

    Examples
    --------
    >>> by_name("algorithm", ["pso", "ils"])
    {'Iterated local search': 'ils', 'Particle swarm': 'pso'}
    """
    return dict(sorted((name_of(family, name), name) for name in names))


def grouped(family: str, names: Iterable[str]) -> dict[str, dict[str, str]]:
    """Return components by group and full name.

    Examples
    --------
    >>> grouped("selector", ["uniform", "ucb1", "eij-plus"])["Baselines"]
    {'Uniform choice': 'uniform'}
    """
    left = list(names)
    found = {}
    for group, members in GROUPS.get(family, {}).items():
        found[group] = {name_of(family, name): name for name in members if name in left}
        left = [name for name in left if name not in members]
    rest = {REST.get(family, "Others"): by_name(family, left)}
    return {group: members for group, members in (found | rest).items() if members}
