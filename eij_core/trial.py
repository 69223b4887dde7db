"""A trial: everything that determines a run, as data."""

from __future__ import annotations

import dataclasses
import hashlib
import itertools
import json
import math
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .budget import Budget
from .errors import InputError, nearest
from .imports import import_components
from .registry import FAMILIES, Absent, Spec, read_file
from .target import check_target

if TYPE_CHECKING:
    from .engine.rows import Limits

__all__ = ["FAMILIES", "SCHEMA", "Trial"]

SCHEMA = 1
"""Version of what a trial means; part of its key."""


@dataclass(frozen=True, slots=True)
class Trial:
    """One run to be made: data only, the same everywhere.

    Components are given as text, `"nk:n=50,k=4"`, as a `Spec`, or as an object of one's own; a
    trial with objects in it runs, but cannot be written to a file.

    Parameters
    ----------
    problem, algorithm, selector, meter : str or Spec or component
    budget : str or Budget
    seed : int
    repetition : int
        Number of the repetition under this seed. Methods with equal seed and repetition pair.
    points : int
        Rows recorded along the budget.
    every : int
        Record each `every`-th decision instead; 0 for the grid of `points`.
    profile : str
        A file of `eij profile` that seeds what is believed of the operators' Joules; "": none.
    target : str or float
        The fitness at which the run stops: a number, a gap to the known optimum such as "1%", or
        "optimum", which has no effect where the optimum is unknown; "": none.

    Examples
    --------
    >>> trial = Trial("nk:n=20,k=3", "ils", budget="5 J", seed=7)
    >>> Trial.from_json(trial.to_json()) == trial
    True
    >>> Trial.from_toml(trial.to_toml()).key == trial.key
    True
    """

    problem: Any = "knapsack"
    algorithm: Any = "ils"
    selector: Any = "eij-plus"
    meter: Any = "paper"
    budget: Any = "1 kJ"
    seed: int = 0
    repetition: int = 0
    points: int = 1000
    every: int = 0
    profile: str = ""
    target: Any = ""

    def __post_init__(self) -> None:
        for name, family in FAMILIES.items():
            value = getattr(self, name)
            if isinstance(value, str | Spec):
                object.__setattr__(self, name, family.check(value))
            else:
                from .contracts.shape import require_component

                require_component(name, value)
        self._check_spaces()
        object.__setattr__(self, "budget", Budget.parse(self.budget))
        _whole("seed", self.seed, 0, 2**128)
        _whole("repetition", self.repetition, 0, 2**31)
        _whole("points", self.points, 1, 1_000_000)
        _whole("every", self.every, 0, 2**62)
        if not isinstance(self.profile, str):
            raise InputError("profile", self.profile, "the name of a file")
        object.__setattr__(self, "target", check_target(self.target))

    def _check_spaces(self) -> None:
        """Refuse an algorithm that does not make solutions of the problem; name those that do."""
        if isinstance(self.problem, Absent) or isinstance(self.algorithm, Absent):
            return  # what it is made for is not known here
        wanted, made = self.space_of("problem"), self.space_of("algorithm")
        if wanted != made:
            from .engine.spaces import WORDS

            fitting = ", ".join(FAMILIES["algorithm"].of_space(wanted))
            expected = (
                f"one for {WORDS[wanted]}, as {self.name_of('problem')} has them: {fitting}; "
                f"{self.name_of('algorithm')} is for {WORDS[made]}"
            )
            raise InputError("algorithm", self.name_of("algorithm"), expected)

    def space_of(self, family: str) -> str:
        """Return the space of the problem or of the algorithm."""
        from .engine.spaces import space_of  # here: `eij --help` needs no numpy

        value = getattr(self, family)
        known = FAMILIES[family]
        return known.space(value.name) if isinstance(value, Spec) else space_of(value)

    @property
    def is_data(self) -> bool:
        """Whether every component is named, so that the trial can be written down."""
        return all(isinstance(getattr(self, name), Spec) for name in FAMILIES)

    @property
    def imports(self) -> tuple[str, ...]:
        """The modules of somebody's own that register its components, or whose functions it calls.

        A named trial is read everywhere; it runs where these were imported.
        """
        named = ((known, getattr(self, family)) for family, known in FAMILIES.items())
        found = (known.imports(value) for known, value in named if isinstance(value, Spec))
        return tuple(dict.fromkeys(itertools.chain.from_iterable(found)))

    def make(self, family: str) -> Any:
        """Build one component: "problem", "algorithm", "selector" or "meter"."""
        value = getattr(self, family)
        return FAMILIES[family].make(value) if isinstance(value, Spec) else value

    def name_of(self, family: str) -> str:
        """Return the name of a component, for tables and titles."""
        value = getattr(self, family)
        return value.name if isinstance(value, Spec) else type(value).__name__

    def parameters(self, family: str) -> tuple[Any, ...]:
        """Return the declared parameters of a component; none of an object, or of an absent one."""
        spec = getattr(self, family)
        known = isinstance(spec, Spec) and not isinstance(spec, Absent)
        return FAMILIES[family].parameters(spec.name) if known else ()

    def limits(self) -> Limits:
        """Return what the loop checks, and the grid on which it records."""
        from .engine.rows import Limits

        budget = self.budget
        by_joules = math.isfinite(budget.joules)
        end = budget.joules if by_joules else budget.evaluations
        step = end / self.points if math.isfinite(end) else 0.0
        return Limits(budget.joules, budget.evaluations, step, by_joules, self.every)

    def to_dict(self) -> dict[str, Any]:
        """Return the trial as plain data."""
        if not self.is_data:
            objects = [name for name in FAMILIES if not isinstance(getattr(self, name), Spec)]
            raise InputError(
                "trial", ", ".join(objects), "named components: register your own to save trials"
            )
        data = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}
        data |= {name: str(data[name]) for name in FAMILIES}
        data["budget"] = str(self.budget)
        data["charge_start"] = self.budget.charge_start
        for name in ("profile", "target"):
            if not data[name]:
                del data[name]
        return data | ({"import": list(imports)} if (imports := self.imports) else {})

    @classmethod
    def from_dict(cls, data: Any, *, stored: bool = False) -> Trial:
        """Read plain data, strictly: an unknown field is an error.

        Nothing is imported. `stored`: the data come out of a store or a record, so a component that
        is not here is `Absent`, and the trial can be shown but not run.
        """
        if not isinstance(data, dict):
            raise InputError("trial", data, "a table of fields")
        data = dict(data)
        imports = import_list(data.pop("import", []))
        if stored:
            data |= {f: FAMILIES[f].recall(data[f], imports) for f in FAMILIES if f in data}
        known = {f.name for f in dataclasses.fields(cls)} | {"charge_start"}
        for key in data:
            if key not in known:
                raise InputError("trial", key, nearest(key, known))
        charge_start = data.pop("charge_start", True)
        if not isinstance(charge_start, bool):
            raise InputError("charge_start", charge_start, "true or false")
        trial = cls(**data)
        budget = dataclasses.replace(trial.budget, charge_start=charge_start)
        return dataclasses.replace(trial, budget=budget)

    def to_json(self) -> str:
        """Write the trial as one line of JSON."""
        return json.dumps(self.to_dict(), sort_keys=True, allow_nan=False, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str, *, stored: bool = False) -> Trial:
        """Read what `to_json` wrote; see `from_dict`."""
        return cls.from_dict(json.loads(text), stored=stored)

    def to_toml(self) -> str:
        """Write the trial as TOML."""
        lines = (f"{key} = {json.dumps(value)}" for key, value in self.to_dict().items())
        return "\n".join(lines) + "\n"

    @classmethod
    def from_toml(cls, text: str) -> Trial:
        """Read what `to_toml` wrote."""
        return cls.from_dict(tomllib.loads(text))

    @classmethod
    def from_file(cls, path: str | Path) -> Trial:
        """Read a TOML file of one's own; what stands under `import` in it is imported first."""
        text = own_file(path)
        return cls.from_toml(text)

    @property
    def key(self) -> str:
        """The digest of the trial's canonical form: equal trials, equal keys.

        A file that a component reads enters by its content, not by its path.
        """
        data = self.to_dict()
        data.pop("import", None)  # where a component lives is not what it is
        data |= {name: str(known.identity(getattr(self, name))) for name, known in FAMILIES.items()}
        if self.profile:
            content = read_file("profile", self.profile)
            data["profile"] = hashlib.blake2b(content, digest_size=16).hexdigest()
        text = f"{SCHEMA}\n{json.dumps(data, sort_keys=True, ensure_ascii=False)}"
        return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def own_file(path: str | Path) -> str:
    """Return the text of the user's own TOML file, after importing what it names under `import`."""
    path = Path(path)
    try:
        text = path.read_text("utf-8")
        data = tomllib.loads(text)
    except (OSError, UnicodeError, tomllib.TOMLDecodeError) as error:
        raise InputError("FILE", path, f"a readable file in TOML ({error})") from None
    import_components(import_list(data.get("import", [])), "import", path.parent)
    return text


def import_list(value: Any) -> list[str]:
    """Return the modules and files under `import`, as they stand there."""
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise InputError("import", value, 'a list of modules and files, such as ["mine.py"]')
    return value


def _whole(field: str, value: Any, low: int, high: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value < high:
        raise InputError(field, value, f"a whole number, at least {low} and below {high}")
