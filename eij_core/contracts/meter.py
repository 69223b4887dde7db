"""The contract of a meter: it says how its Joules are known, and every application costs some."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..protocols import EnergyInfo
from .findings import Findings


def check_meter(meter: Any) -> list[str]:
    """Return what is wrong with a meter, after a short run that it prices.

    Examples
    --------
    >>> from eij_core.meters.model import Model
    >>> check_meter(Model())
    []
    """
    from ..run import Run  # a run checks its trial by this package
    from ..trial import Trial

    found = Findings()
    with found.calls("info"):
        info = meter.info
        fault = f"is a {type(info).__name__}, not an EnergyInfo"
        found.expect(isinstance(info, EnergyInfo), "info", fault)
    with found.calls("a run with it"):
        trial = Trial("nk:n=20,k=2", "ils:steps=9", "uniform", meter, "600 evaluations", every=1)
        run = Run(trial, compiled=False)
        for _ in run:
            pass
        rows = run.rows()
        charged = rows["spent"][1:] - rows["spent"][:-1]
        found.expect(bool(np.isfinite(rows["spent"]).all()), "attach", "charges no finite Joules")
        fault = "returns a meter that charges an application 0 Joules, or less"
        found.expect(bool((charged > 0.0).all()), "attach", fault)
    return found.texts
