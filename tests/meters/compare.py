"""Inside the fake /sys: a busy second through pyRAPL, wrapped and bare, and through powercap."""

import json
import logging
import os
import sys
import threading
import time
from pathlib import Path

from eij_core.errors import MeterPermissionError, MeterUnavailable
from eij_core.meters.counters.powercap import PowercapCounter
from eij_core.meters.counters.pyrapl import PyRaplCounter


def witness_uj():
    """Return the zone "core", which ticks with the others, has a known power and never wraps."""
    for zone in Path("/sys/class/powercap").glob("intel-rapl:*:*"):
        if (zone / "name").read_text() == "core\n":
            return int((zone / "energy_uj").read_text())
    raise AssertionError("no zone core")


def measure(seconds):
    native, library = PowercapCounter(), PyRaplCounter()
    assert logging.getLogger().handlers == []
    failures = []

    def hammer():
        last = 0
        while time.monotonic() < end:
            try:
                value = library.read_uj()
            except Exception as error:
                failures.append(repr(error))
                return
            if value < last:
                failures.append("fell")
            last = value

    def moment():
        """Return readings of the witness and of both counters, each between two of the one before.

        However long the readings take, the middle ones lie between the outer ones.
        """
        before, first = witness_uj(), native.read_uj()
        middle = library.read_uj()
        return before, first, middle, native.read_uj(), witness_uj()

    start = moment()
    end = time.monotonic() + seconds
    threads = [threading.Thread(target=hammer) for _ in range(4)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        native.read_uj()  # small ranges wrap often
        time.sleep(0.005)
    stop = moment()
    out = {
        "witness": [(stop[0] - start[4]) / 1e6, (stop[4] - start[0]) / 1e6],
        "native": (stop[1] - start[1]) / 1e6,
        "pyrapl": (stop[2] - start[2]) / 1e6,
        "least": (stop[1] - start[3]) / 1e6,
        "most": (stop[3] - start[1]) / 1e6,
        "native_domains": native.info.domains,
        "pyrapl_domains": library.info.domains,
        "breaks": native.breaks + library.breaks,
        "failures": failures,
    }
    native.close()
    library.close()
    return out


def refused():
    """As nobody, with counters that root alone may read."""
    Path(os.environ["FAKE"]).chmod(0o755)
    os.setgid(65534)
    os.setuid(65534)
    out = {}
    for name, counter in (("native", PowercapCounter), ("pyrapl", PyRaplCounter)):
        try:
            counter().close()
            out[name] = "read it"
        except MeterPermissionError as error:
            out[name] = str(error)
        except MeterUnavailable as error:
            out[name] = f"unavailable: {error}"
    return out


if __name__ == "__main__":
    result = measure(float(sys.argv[1]))
    if "refused" in sys.argv:
        result["refused"] = refused()
    print(json.dumps(result))
