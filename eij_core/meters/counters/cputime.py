"""An estimate where nothing can be measured: CPU time × Watts, with a wide band.

With a constant wattage EI/J is EI per CPU-second times a constant: rankings do not depend on it,
budgets in Joules do.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Annotated, ClassVar, Literal, NamedTuple

from ...protocols import EnergyInfo, Provenance
from ...registry import Range, meters
from ..settlement.counted import Counted
from .calibrate import Calibration, stored
from .counter import FIRST_WATTS, counters
from .host import this_host

FIRST_FACTOR, CALIBRATED_FACTOR = 3.0, 1.25
"""By what factor the Watts may be wrong: a guess for any CPU, and measured on this model."""


class Guess(NamedTuple):
    """Watts of one busy core, how wrong they may be, and where they come from."""

    watts: float
    factor: float
    why: str


def guess_watts(
    watts: float = 0.0, calibrations: Callable[[], list[Calibration]] = stored
) -> Guess:
    """Choose the Watts: the user's, else a calibration of this CPU model, else 10.

    Examples
    --------
    >>> guess_watts(12).why
    'given by the user'
    >>> guess_watts(0, list)
    Guess(watts=10.0, factor=3.0, why='a guess for any CPU')
    """
    if watts > 0:
        return Guess(float(watts), CALIBRATED_FACTOR, "given by the user")
    cpu = this_host().cpu
    for calibration in calibrations():
        if calibration.host.cpu == cpu and calibration.thread_watts > 0:
            return Guess(calibration.thread_watts, CALIBRATED_FACTOR, "calibrated, same CPU model")
    return Guess(FIRST_WATTS, FIRST_FACTOR, "a guess for any CPU")


@counters.add("cputime")
class CpuTimeCounter:
    """CPU time of the reading thread × Watts per busy core.

    Parameters
    ----------
    watts : float
        Watts of one busy core; 0 takes a calibration of this CPU model, else 10 W, factor 3.
    idle_watts : float
        Added for all the time that passes, busy or not.
    """

    name = "cputime"
    rank = 4
    automatic = True
    scope: ClassVar[Literal["thread"]] = "thread"
    breaks = 0
    origin_uj = 0

    def __init__(self, watts: float = 0.0, idle_watts: float = 0.0) -> None:
        guess = guess_watts(watts)
        self.watts, self.idle_watts = guess.watts, idle_watts
        self._thread, self._cpu, self._wall = self._now()
        self._nanojoules = 0.0
        idle = f" and {idle_watts:g} W idle" if idle_watts else ""
        self.info = EnergyInfo(
            self.name,
            Provenance.ESTIMATED,
            domains=("cpu time × watts",),
            scope=self.scope,
            tick_ns=1_000,
            unit_uj=1.0,
            read_cost_ns=1_000,
            rel_uncertainty=guess.factor - 1.0,
            notes=(
                f"{guess.watts:g} W per busy core{idle}, factor {guess.factor:g}: {guess.why}",
                "rankings do not depend on the Watts, budgets in Joules do",
            ),
        )

    @staticmethod
    def _now() -> tuple[int, int, int]:
        return threading.get_ident(), time.thread_time_ns(), time.monotonic_ns()

    def read_uj(self) -> int:
        """Return the estimated µJ since opening."""
        thread, cpu, wall = self._now()
        # Each thread has a clock of its own: a difference across threads means nothing.
        if thread == self._thread:
            self._nanojoules += self.watts * (cpu - self._cpu)
        self._nanojoules += self.idle_watts * (wall - self._wall)
        self._thread, self._cpu, self._wall = thread, cpu, wall
        return int(self._nanojoules / 1000.0)

    def close(self) -> None:
        """Nothing was opened."""


@meters.add("cputime")
def cputime(
    watts: Annotated[float, Range(0, 10_000, "W of one busy core; 0: calibrated, else 10")] = 0.0,
    idle: Annotated[float, Range(0, 10_000, "W drawn all the time, added")] = 0.0,
) -> Counted:
    """Estimated Joules: CPU time × Watts; right within a factor of 3, ±25 % once calibrated."""
    return Counted(CpuTimeCounter(watts, idle))
