"""The real pyRAPL, wrapped so that its defects stop here.

What is undone: its wrap-around (None or negative), its races between threads, its bare permission
errors, its warning through the root logger, its unclosed files. Its outputs and its decorator are
never used.
"""

from __future__ import annotations

import contextlib
import importlib
import logging
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..errors import MeterPermissionError, MeterUnavailable
from ..registry import meters
from .permission import permission_text
from .powercap import DEFAULT_ROOT, most_watts_of, number_in, zones
from .settle import Counted, Sharing
from .source import ALIVE_SECONDS, FIRST_WATTS, Domain, Tally, alive, package_info, watch

__all__ = ["PyRaplSource", "pyrapl"]


class PyRaplSource:
    """Package and DRAM energy as `pyRAPL.Sensor` reads it.

    Parameters
    ----------
    alive_seconds : float
        How long to watch whether the counter moves; 0 trusts it.
    """

    def __init__(self, alive_seconds: float = ALIVE_SECONDS) -> None:
        self._sensor = _sensor()
        first = self._energy()
        self._places = [place for place, value in enumerate(first) if value >= 0]
        known = {zone.label: zone.path for zone in zones(Path(DEFAULT_ROOT))}
        domains = [_domain(place, known) for place in self._places]
        self.watts, seen = FIRST_WATTS, None
        try:
            self._tally = Tally(self._read, domains)
            if alive_seconds > 0:
                seen = watch(self._tally.read_uj, alive_seconds)
                alive("pyrapl", seen, sum(domain.most_watts for domain in domains))
                self.watts = seen.watts
        except BaseException:
            self.close()
            raise
        self.info = package_info("pyrapl", [domain.name for domain in domains], seen)

    def _energy(self) -> list[float]:
        try:
            return list(self._sensor.energy())
        except (OSError, ValueError) as error:
            raise MeterUnavailable(f"pyRAPL: a counter cannot be read: {error}") from None

    def _read(self) -> list[int]:
        values = self._energy()
        return [int(values[place]) for place in self._places]

    @property
    def breaks(self) -> int:
        """Resets and losses so far."""
        return self._tally.breaks

    def read_uj(self) -> int:
        """Return the µJ of all domains since the source was opened."""
        return self._tally.read_uj()

    def read_domains_uj(self) -> dict[str, int]:
        """Return the µJ since the source was opened, by domain."""
        return self._tally.read_domains_uj()

    def close(self) -> None:
        """Close the files that pyRAPL leaves open."""
        for device in self._sensor._device_api.values():
            for file in device._sys_files:
                file.close()


def _domain(place: int, known: dict[str, Path]) -> Domain:
    socket, dram = divmod(place, 2)
    label = f"package-{socket}/dram" if dram else f"package-{socket}"
    path = known.get(label)
    if path is None:
        return Domain(label, None)
    return Domain(label, number_in(path / "max_energy_range_uj"), most_watts_of(path))


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
        except OSError as error:
            raise MeterUnavailable(f"pyRAPL: {error}") from None
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
            warnings.simplefilter("ignore", ResourceWarning)
            warnings.simplefilter("ignore", DeprecationWarning)
            warnings.simplefilter("ignore", SyntaxWarning)
            yield
    finally:
        root.removeHandler(silent)
        root.removeFilter(not_its_own)


@meters.add("pyrapl")
def pyrapl(sharing: Sharing = "exclusive") -> Counted:
    """RAPL as the pyRAPL library reads it, its defects mended."""
    return Counted(PyRaplSource(), sharing=sharing)
