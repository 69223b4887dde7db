"""A profile: what the operators of an algorithm cost on a problem; in a file, or to seed a run."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..engine.histogram import CENTRES, EDGES
from ..errors import InputError
from ..meters.counters.host import this_host
from ..meters.settlement.powers import OVERHEAD, Prior
from ..protocols import CountedMeter, EnergyInfo, Hints, SimulatedMeter
from ..registry import Spec, read_file

if TYPE_CHECKING:
    import pandas as pd

    from ..trial import Trial

COLUMNS = ["name", "applications", "mean", "median", "p5", "p95", "per_evaluation", "batch_sd"]
"""What `Profile.table` shows of an operator."""
UNITS = {"J": 1.0, "mJ": 1e-3, "µJ": 1e-6}
LEAST_SPREAD = 0.01
"""The least standard deviation of a ratio: powers differ a little from day to day."""


class Batch(NamedTuple):
    """A stretch in which one operator was applied and nothing else."""

    operator: str
    applications: int
    evaluations: int
    joules: float
    quality: str
    """measured, simulated, or imputed: and why."""


@dataclass(frozen=True)
class OperatorProfile:
    """What one operator cost, over all its batches."""

    name: str
    applications: int
    evaluations: int
    joules: float
    median: float
    p5: float
    p95: float
    batch_sd: float
    """Standard deviation of the mean Joules between batches: drift and noise."""
    ratio: float
    """Its power relative to the mean of all; 0 with a simulated meter, which has no power."""
    ratio_sd: float
    histogram: tuple[tuple[int, int], ...]
    """(bin, applications) where there are any; see `engine.histogram`."""

    @property
    def mean(self) -> float:
        """Joules per application."""
        return self.joules / self.applications if self.applications else math.nan

    @property
    def per_evaluation(self) -> float:
        """Joules per evaluation."""
        return self.joules / self.evaluations if self.evaluations else math.nan

    @property
    def log_sd(self) -> float:
        """Standard deviation of ln E."""
        if not self.histogram:
            return math.nan
        places, counts = np.array(self.histogram).T
        logs = np.log(CENTRES[places])
        mean = np.average(logs, weights=counts)
        within = np.diff(np.log(EDGES))[places] ** 2 / 12.0
        return math.sqrt(float(np.average((logs - mean) ** 2 + within, weights=counts)))


@dataclass(frozen=True)
class Profile:
    """What the operators of an algorithm cost on a problem, and how that is known."""

    problem: str
    algorithm: str
    meter: EnergyInfo
    operators: tuple[OperatorProfile, ...]
    batches: tuple[Batch, ...]
    cpu: str = ""
    """The CPU model it was taken on."""
    overhead: tuple[float, float] = (0.0, 0.0)
    """Power of the loop around the operators relative to their mean, and its sd; 0: simulated."""
    settlement: dict[str, Any] = field(default_factory=dict)
    """How a counter was settled, as in `Result.energy`; empty: simulated."""

    @property
    def title(self) -> str:
        """What was profiled, and how its Joules are known."""
        of = f"{self.problem.partition(':')[0]} · {self.algorithm.partition(':')[0]}"
        return f"{of}: {self.meter.provenance} Joules, meter {self.meter.name}"

    @property
    def unit(self) -> tuple[str, float]:
        """The largest unit in which the smallest mean is at least 1, and its size in Joules."""
        least = min((each.mean for each in self.operators if each.applications), default=1.0)
        return next((unit for unit in UNITS.items() if least >= unit[1]), ("µJ", UNITS["µJ"]))

    @property
    def imputed(self) -> float:
        """The share of its Joules that no counter confirmed."""
        total = sum(batch.joules for batch in self.batches)
        return sum(batch.joules for batch in self._imputed) / total if total else 0.0

    @property
    def _imputed(self) -> list[Batch]:
        return [batch for batch in self.batches if batch.quality.startswith("imputed")]

    @property
    def band_words(self) -> str:
        """How far its counter can be trusted, in a sentence; empty for a simulated meter."""
        band = self.meter.rel_uncertainty
        return f"The counter is right within a factor of {1.0 + band:.3g}." if band else ""

    @property
    def imputed_words(self) -> str:
        """What share no counter confirmed and why, in a sentence; empty if there is none."""
        why = sorted({batch.quality for batch in self._imputed})
        share = f"{100 * self.imputed:.3g} % of these Joules"
        return f"{share} were not confirmed by the counter ({', '.join(why)})." if why else ""

    def table(self) -> pd.DataFrame:
        """Return one row per operator, in Joules."""
        import pandas as pd  # here, because a run that has a profile does not need it

        rows = [[getattr(each, column) for column in COLUMNS] for each in self.operators]
        table = pd.DataFrame(rows, columns=COLUMNS).rename(columns={"name": "operator"})
        return table.assign(provenance=str(self.meter.provenance))

    def distribution(self) -> pd.DataFrame:
        """Return Joules per application as weighted values, for violins and histograms."""
        import pandas as pd

        return pd.DataFrame(
            [
                {"operator": each.name, "joules": CENTRES[place], "applications": count}
                for each in self.operators
                for place, count in each.histogram
            ],
            columns=["operator", "joules", "applications"],
        )

    def joules(self, names: Sequence[str]) -> NDArray[np.float64]:
        """Return Joules per application for `Hints.joules`; 0 where an operator is unknown."""
        known = {each.name: each.mean for each in self.operators if each.applications}
        return np.array([known.get(name, 0.0) for name in names])

    def hints(self, hints: Hints) -> Hints:
        """Return a run's hints with the profile's Joules in them, where it knows better."""
        known = self.joules(hints.names)
        spreads = {each.name: each.log_sd for each in self.operators if each.applications}
        return hints._replace(
            joules=np.where(known > 0, known, hints.joules),
            log_sd=np.array([spreads.get(name, 0.0) for name in hints.names]),
        )

    def prior(self, names: Sequence[str]) -> Prior:
        """Return the powers for the settlement of a run with these operators."""
        known = {each.name: (each.ratio, each.ratio_sd) for each in self.operators}
        prior = Prior.unknown(len(names))
        for o, name in enumerate(names):
            if known.get(name, (0.0, 0.0))[0] > 0:
                prior.ratio[o], sd = known[name]
                prior.spread[o] = max(sd, LEAST_SPREAD)
        if self.overhead[0] > 0:
            prior.ratio[OVERHEAD] = self.overhead[0]
            prior.spread[OVERHEAD] = max(self.overhead[1], LEAST_SPREAD)
        return prior

    def check(self, file: str, problem: Any, algorithm: Any, meter: EnergyInfo) -> None:
        """Raise if this profile does not fit a run: other components, other Joules, another CPU."""
        kinds = [f"{each.provenance} by {each.name}" for each in (self.meter, meter)]
        compared = [("Joules", kinds[0], kinds[1])]
        if isinstance(problem, Spec):
            compared.append(("problem", self.problem, str(problem)))
        if isinstance(algorithm, Spec):
            compared.append(("algorithm", self.algorithm, str(algorithm)))
        if meter.scope != "model":
            compared.append(("CPU", self.cpu or "unknown", this_host().cpu))
        said = "; ".join(f"{what} {ours}, not {run}" for what, ours, run in compared if ours != run)
        if said:
            raise InputError("profile", file, f"a profile of this run; it has {said}")

    def as_json(self) -> str:
        """Return everything as text; `from_json` reads it."""
        return json.dumps(asdict(self), indent=1) + "\n"

    @classmethod
    def from_json(cls, text: str) -> Profile:
        """Read a profile back."""
        data = json.loads(text)
        for each in data["operators"]:
            each["histogram"] = tuple(map(tuple, each["histogram"]))
        data["operators"] = tuple(OperatorProfile(**each) for each in data["operators"])
        data["batches"] = tuple(Batch(*each) for each in data["batches"])
        data["meter"] = EnergyInfo.from_data(data["meter"])
        ratio, sd = data["overhead"]
        data["overhead"] = float(ratio), float(sd)
        return cls(**data)  # profiles of 0.1 have no settlement

    @classmethod
    def read(cls, path: Path | str) -> Profile:
        """Read a file that `eij profile --out FILE.json` wrote."""
        text = read_file("profile", str(path))
        try:
            return cls.from_json(text.decode("utf-8"))
        except (ValueError, TypeError, KeyError, IndexError, AttributeError):
            expected = "a profile, as `eij profile --out FILE.json` writes it"
            raise InputError("profile", str(path), expected) from None

    def write(self, path: Path | str) -> None:
        """Write .json (everything) or .parquet (the distributions)."""
        path = Path(path)
        data = self.as_parquet() if path.suffix == ".parquet" else self.as_json().encode()
        path.write_bytes(data)

    def as_parquet(self) -> bytes:
        """Return the distributions as a Parquet file."""
        kind, name = str(self.meter.provenance), self.meter.name
        return self.distribution().assign(provenance=kind, meter=name).to_parquet()


def profile_for(
    trial: Trial, meter: SimulatedMeter | CountedMeter, names: Sequence[str]
) -> Profile:
    """Read the profile that a trial names; give its powers to a counted meter."""
    try:
        profile = Profile.read(trial.profile)
        profile.check(trial.profile, trial.problem, trial.algorithm, meter.info)
    except InputError:
        if isinstance(meter, CountedMeter):
            meter.close()
        raise
    if isinstance(meter, CountedMeter):
        meter.prior = profile.prior(names)
    return profile
