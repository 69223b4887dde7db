"""Inside the fake /sys: a busy second through pyRAPL, wrapped and bare, and through powercap."""

import json
import logging
import os
import sys
import threading
import time
from pathlib import Path

from eij_core.errors import MeterPermissionError, MeterUnavailable
from eij_core.meters.powercap import PowercapSource
from eij_core.meters.pyrapl import PyRaplSource


def measure(seconds):
    native, library = PowercapSource(), PyRaplSource()
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
        """The library's reading between two of the other's, however long they take."""
        return time.monotonic_ns(), native.read_uj(), library.read_uj(), native.read_uj()

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
        "seconds": (stop[0] - start[0]) / 1e9,
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
    for name, source in (("native", PowercapSource), ("pyrapl", PyRaplSource)):
        try:
            source().close()
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
