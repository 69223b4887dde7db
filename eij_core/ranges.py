"""What the parameters of components accept, and the files that they name."""

from __future__ import annotations

import hashlib
import math
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .errors import InputError

FILE_BYTES = 5_000_000
"""The largest file that a component reads."""


@dataclass(frozen=True)
class Range:
    """The values that a number may have, and what it is.

    Parameters
    ----------
    low, high : float
        Inclusive bounds.
    about : str
        One phrase for `--help`, tooltips and `eij list`.
    above : bool
        Whether `low` itself is excluded.
    """

    low: float = -math.inf
    high: float = math.inf
    about: str = ""
    above: bool = False

    def __contains__(self, value: float) -> bool:
        return (self.low < value if self.above else self.low <= value) and value <= self.high

    @property
    def bounded(self) -> bool:
        """Whether there is a bound on either side."""
        return math.isfinite(self.low) or math.isfinite(self.high)

    def __str__(self) -> str:
        if not self.bounded:
            return "a finite number"
        low = f"{'above ' if self.above else 'at least '}{self.low:g}"
        if math.isinf(self.high):
            return low
        if math.isinf(self.low):
            return f"at most {self.high:g}"
        return f"{'above ' if self.above else ''}{self.low:g} to {self.high:g}"


@dataclass(frozen=True)
class Digest(Range):
    """Marks a text parameter as the sha256 of the file that the parameter `of` names.

    It is filled in when a spec is checked. So a trial's key depends on the content of the file, not
    on its path, and a later change of the file is noticed.
    """

    of: str = "file"

    def fill(self, parameters: dict[str, Any], where: str) -> str:
        """Return the digest of the file that the parameters name."""
        return hashlib.sha256(read_file(f"{where}:{self.of}", parameters[self.of])).hexdigest()


@dataclass(frozen=True)
class Code(Range):
    """Marks a text parameter as `module.function`, which the component calls.

    A trial out of a store or a record calls it only if its owner has imported the module.
    """


def read_file(field: str, path: str) -> bytes:
    """Return the content of a regular file of at most `FILE_BYTES`, or raise `InputError`."""
    try:
        # Checked before opening: a pipe would block, a device may have no end.
        if not stat.S_ISREG(Path(path).stat().st_mode):
            raise InputError(field, path, "a regular file")
        with Path(path).open("rb") as file:
            data = file.read(FILE_BYTES + 1)
    except OSError as error:
        raise InputError(field, path, f"a file that can be read ({error.strerror})") from None
    if len(data) > FILE_BYTES:
        raise InputError(field, path, f"a file of at most {FILE_BYTES / 1e6:g} MB")
    return data
