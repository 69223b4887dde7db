"""RAPL through the library pyRAPL, with its defects mended.

These are its wrap-around (None or negative), races between threads, bare permission errors, a
warning through the root logger, and unclosed files. Its outputs and its decorator are not used.
"""

from __future__ import annotations

import contextlib
import importlib
import logging
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ...errors import MeterPermissionError, MeterUnavailable
from ...registry import meters
from ..settlement.counted import Counted, Sharing
from .counter import Domain, HardwareCounter, counters
from .powercap import DEFAULT_ROOT, domain_of, permission_text, zones


@counters.add("pyrapl")
class PyRaplCounter(HardwareCounter):
    """Package and DRAM energy as `pyRAPL.Sensor` reads it."""

    name = "pyrapl"
    rank = 3
    automatic = False  # powercap reads the same registers without the library

    _sensor: Any = None

    def _open(self) -> list[Domain]:
        self._sensor = _sensor()
        self._places = [place for place, value in enumerate(self._sensor.energy()) if value >= 0]
        known = {zone.label: zone.path for zone in zones(Path(DEFAULT_ROOT))}
        return [domain_of(label, known.get(label)) for label in map(_label, self._places)]

    def _values(self) -> list[int]:
        values = self._sensor.energy()
        return [int(values[place]) for place in self._places]

    def close(self) -> None:
        """Close the files that pyRAPL leaves open."""
        for device in self._sensor._device_api.values() if self._sensor else ():
            for file in device._sys_files:
                file.close()


def _label(place: int) -> str:
    """Return the zone that pyRAPL shows at a place: package, then DRAM, of each socket."""
    socket, dram = divmod(place, 2)
    return f"package-{socket}/dram" if dram else f"package-{socket}"


def _sensor() -> Any:
    with _quiet():
        try:
            library: Any = importlib.import_module("pyRAPL")
        except ImportError:
            raise MeterUnavailable("pyRAPL is not installed: pip install 'eij[rapl]'") from None
        try:
            return library.Sensor()
        except PermissionError as error:
            path = str(error.filename)
            raise MeterPermissionError(permission_text(path), path) from None
        except library.PyRAPLException as error:
            reason = str(error) or "it finds no RAPL domain of every socket (or the CPU has dies)"
            raise MeterUnavailable(f"pyRAPL: {type(error).__name__}: {reason}") from None


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Keep pyRAPL's import warning from the root logger, and its unclosed files from the user."""

    def not_its_own(record: logging.LogRecord) -> bool:
        return "pyRAPL" not in record.pathname

    root, silent = logging.getLogger(), logging.NullHandler()
    root.addFilter(not_its_own)
    root.addHandler(silent)  # without a handler, logging.warning would configure the root logger
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        root.removeHandler(silent)
        root.removeFilter(not_its_own)


@meters.add("pyrapl")
def pyrapl(sharing: Sharing = "exclusive") -> Counted:
    """RAPL as the pyRAPL library reads it, its defects mended."""
    return Counted(PyRaplCounter(), sharing=sharing)
