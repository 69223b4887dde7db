"""A campaign as a file: a grid of components, budgets and seeds, and its trials."""

from __future__ import annotations

import copy
import dataclasses
import hashlib
import itertools
import json
import math
import operator
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..budget import Budget
from ..errors import InputError, nearest
from ..registry import Spec
from ..target import check_target
from ..trial import FAMILIES, Trial, import_list, own_file

Check = Callable[[str, Any], Spec]
"""Reads a component of a family."""
PLURALS = {"problems": "problem", "algorithms": "algorithm", "selectors": "selector"}
NUMBERS = {"seed": 0, "points": 200, "every": 0}
"""Settings that every trial of a grid has as they are, and their defaults."""
DEFAULTS: dict[str, Any] = {"meter": "paper", "seeds": 30, **NUMBERS, "charge_start": True}
LARGEST = 1_000_000
"""Trials of one campaign, at most: they are all held in memory."""
AXES = (*PLURALS, "budgets")
KNOWN = {*AXES, *DEFAULTS, "budget", "target"}


@dataclass(frozen=True)
class Campaign:
    """Trials to be made, and the data they were multiplied out from.

    Parameters
    ----------
    data : dict
        The normal form of the file: `name`, `grid`, a list of complete grids, and `import`, the
        modules of the user's own that they need, if they need any.
    trials : tuple of Trial
        Each once, by repetition, so that an unfinished campaign is balanced; within a repetition
        in an order of its own, so that no method is always the first on a warm machine.

    Examples
    --------
    >>> campaign = Campaign.from_toml('''
    ... problems = ["nk:n=20,k=2", {name = "knapsack", instance = [1, 2]}]
    ... algorithms = ["ils"]
    ... selectors = ["eij", "uniform"]
    ... meter = "model"
    ... budget = "5 J"
    ... seeds = 3
    ... ''')
    >>> len(campaign.trials)
    18
    >>> Campaign.from_dict(campaign.data) == campaign
    True
    """

    data: dict[str, Any]
    trials: tuple[Trial, ...]

    @classmethod
    def from_toml(cls, text: str) -> Campaign:
        """Read the text of a campaign's file; what stands under `import` is not imported."""
        return cls.from_dict(parsed(text))

    @classmethod
    def from_file(cls, path: str | Path) -> Campaign:
        """Read a file of one's own, after importing what stands under `import` in it."""
        return cls.from_toml(own_file(path))

    @classmethod
    def from_dict(
        cls, data: Mapping[str, Any], most: int = LARGEST, *, stored: bool = False
    ) -> Campaign:
        """Read plain data, strictly: an unknown key is an error.

        Top level keys hold for all `[[grid]]` tables; without such a table they are the grid.
        More than `most` trials are refused before they are made. Nothing is imported; `stored`
        says that the data come out of a store, whose components may be absent here.
        """
        data = dict(data)
        imports = import_list(data.pop("import", []))

        def check(family: str, given: Any) -> Spec:
            known = FAMILIES[family]
            return known.recall(given, imports) if stored else known.check(given)

        name = data.pop("name", "")
        if not isinstance(name, str):
            raise InputError("name", name, "a text")
        tables = data.pop("grid", [{}])
        if not isinstance(tables, list) or not tables:
            raise InputError("grid", tables, "tables, each under [[grid]]")
        grids = [_normal({**data, **_table("grid", table)}, check) for table in tables]
        if (count := sum(map(_count, grids))) > most:
            raise InputError("campaign", f"{count:,} trials", f"at most {most:,}")
        unique: dict[str, Trial] = {}
        for trial in itertools.chain.from_iterable(_expand(grid, check) for grid in grids):
            unique.setdefault(trial.key, trial)
        needed = dict.fromkeys(name for grid in grids for name in _imports(grid, check))
        form = {"name": name, "grid": grids} | ({"import": list(needed)} if needed else {})
        return cls(form, tuple(_mixed(list(unique.values()))))

    def diff(self, other: Mapping[str, Any]) -> list[str]:
        """Return the differences to another campaign's data, line by line."""
        mine, theirs = _lines(self.data), _lines(other)
        return [f"- {line}" for line in theirs if line not in mine] + [
            f"+ {line}" for line in mine if line not in theirs
        ]


def parsed(text: str) -> dict[str, Any]:
    """Return the data of a campaign's file, unchecked."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError("campaign file", str(error), "a file in TOML") from None


def key_of(trial: Trial, known: dict[Spec, str] | None = None) -> str:
    """Return the key of a trial in a store: a digest of its data and of the instance itself.

    A problem read from a file has the same data when the file changes, but not the same key.

    Parameters
    ----------
    known : dict
        Digests of instances seen before, filled on the way.
    """
    known = {} if known is None else known
    if trial.problem not in known:
        hasher = hashlib.sha256()
        for value in trial.make("problem"):
            plain = value.tobytes() if isinstance(value, np.ndarray) else _plain(value).encode()
            hasher.update(plain + b"\0")
        known[trial.problem] = hasher.hexdigest()
    text = f"{trial.key} {known[trial.problem]}"
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def keyed(trials: Iterable[Trial]) -> dict[str, Trial]:
    """Return trials by their key in a store."""
    known: dict[Spec, str] = {}
    return {key_of(trial, known): trial for trial in trials}


def _plain(value: Any) -> str:
    return f"{value.__module__}.{value.__qualname__}" if callable(value) else repr(value)


def _table(field: str, value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InputError(field, value, "a table")
    return value


def _lines(data: Mapping[str, Any]) -> list[str]:
    lines = [f"name = {json.dumps(data.get('name', ''))}"]
    for grid in data.get("grid", ()):
        for key, value in grid.items():
            values = value if isinstance(value, list) else [value]
            lines += [f"{key}: {json.dumps(item, ensure_ascii=False)}" for item in values]
    return list(dict.fromkeys(lines))


def _normal(grid: dict[str, Any], check: Check) -> dict[str, Any]:
    """Return a grid with every key present and every component written out."""
    for key in grid:
        if key not in KNOWN:
            raise InputError("campaign", key, nearest(key, KNOWN | {"name", "grid"}))
    if "budget" in grid and "budgets" in grid:
        raise InputError("budget", grid["budget"], "either budget or budgets")
    grid = {**DEFAULTS, **grid}
    budgets = grid.pop("budgets", None)
    budgets = [grid.pop("budget", None)] if budgets is None else budgets
    if budgets == [None]:
        raise InputError("budget", "(missing)", 'what a run may spend, such as budget = "300 J"')
    if not isinstance(budgets, list) or not budgets:
        raise InputError("budgets", budgets, "a list of budgets")
    normal: dict[str, Any] = {
        plural: [
            str(spec)
            for item in _items(plural, grid.get(plural))
            for spec in _components(family, item, check)
        ]
        for plural, family in PLURALS.items()
    }
    normal["meter"] = str(_components("meter", grid["meter"], check)[0])
    normal["budgets"] = [str(Budget.parse(budget)) for budget in budgets]
    normal["seeds"] = _repetitions(grid["seeds"])
    normal |= {key: grid[key] for key in NUMBERS}
    if target := check_target(grid.get("target")):
        normal["target"] = target
    if not isinstance(grid["charge_start"], bool):
        raise InputError("charge_start", grid["charge_start"], "true or false")
    return normal | {"charge_start": grid["charge_start"]}


def _items(plural: str, value: Any) -> list[Any]:
    if not isinstance(value, list) or not value:
        shown = "(missing)" if value is None else value
        example = getattr(Trial(), PLURALS[plural])
        raise InputError(plural, shown, f'a list, such as {plural} = ["{example.name}"]')
    return value


def _components(family: str, item: Any, check: Check) -> list[Spec]:
    """Return the components of an item: text is one, a table with lists is several."""
    if isinstance(item, str):
        return [check(family, item)]
    table = dict(_table(family, item))
    name = table.pop("name", None)
    if not isinstance(name, str):
        raise InputError(f"{family}:name", "(missing)", f"the name of a {family}")
    choices = [value if isinstance(value, list) else [value] for value in table.values()]
    if (count := math.prod(map(len, choices))) > LARGEST:
        raise InputError(family, f"{count:,} of {name}", f"at most {LARGEST:,}")
    return [
        check(family, Spec(name, dict(zip(table, values, strict=True))))
        for values in itertools.product(*choices)
    ]


def _repetitions(seeds: Any) -> int | list[int]:
    whole = isinstance(seeds, int) and not isinstance(seeds, bool) and seeds > 0
    listed = isinstance(seeds, list) and seeds and all(type(s) is int and s >= 0 for s in seeds)
    if not (whole or listed):
        raise InputError("seeds", seeds, "how many repetitions, or a list of their numbers")
    return seeds


def _numbers(seeds: int | list[int]) -> Sequence[int]:
    return range(seeds) if isinstance(seeds, int) else seeds


def _count(grid: dict[str, Any]) -> int:
    return math.prod(len(grid[axis]) for axis in AXES) * len(_numbers(grid["seeds"]))


def _specs(grid: dict[str, Any], check: Check) -> dict[str, list[Spec]]:
    """Return the components of a grid, by axis."""
    found = {plural: [check(f, text) for text in grid[plural]] for plural, f in PLURALS.items()}
    return {**found, "meter": [check("meter", grid["meter"])]}


def _imports(grid: dict[str, Any], check: Check) -> Iterator[str]:
    """Yield the modules that register a grid's components."""
    for axis, specs in _specs(grid, check).items():
        for spec in specs:
            yield from FAMILIES[PLURALS.get(axis, axis)].imports(spec)


def _expand(grid: dict[str, Any], check: Check) -> Iterator[Trial]:
    specs = _specs(grid, check)
    axes = (*(specs[plural] for plural in PLURALS), grid["budgets"])
    for problem, algorithm, selector, budget in itertools.product(*axes):
        limits = dataclasses.replace(Budget.parse(budget), charge_start=grid["charge_start"])
        numbers = {key: grid[key] for key in NUMBERS}
        parts = (problem, algorithm, selector, specs["meter"][0], limits)
        first = Trial(*parts, **numbers, target=grid.get("target", ""))
        for repetition in _numbers(grid["seeds"]):
            # Not dataclasses.replace: checking thousands of equal trials again takes seconds.
            trial = copy.copy(first)
            object.__setattr__(trial, "repetition", repetition)
            yield trial


def _mixed(trials: list[Trial]) -> Iterator[Trial]:
    number = operator.attrgetter("repetition")
    for repetition, group in itertools.groupby(sorted(trials, key=number), number):
        block = list(group)
        order = np.random.default_rng(repetition).permutation(len(block))
        yield from (block[i] for i in order)
