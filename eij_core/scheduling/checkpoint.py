"""Checkpoints of a scheduler: its arrays and a header of plain data, in one file of numpy's."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..atomic_files import open_atomically
from ..errors import InputError, RunError
from ..result import Change, finite
from .open_run import OpenRun
from .own import names_of, numbers_of
from .own_trial import arguments_of

SCHEMA = 1
HEADER, ROWS, SOLUTION = "header", "rows", "solution"


class Checkpoint(NamedTuple):
    """What a file holds."""

    header: dict[str, Any]
    arrays: dict[str, NDArray[Any]]

    def arguments(self, given: dict[str, Any]) -> dict[str, Any]:
        """Return the arguments of the scheduler; those given stand for objects of the first one."""
        known = arguments_of(self.header["trial"])
        arguments = known | {name: part for name, part in given.items() if part is not None}
        for name in ("selector", "meter"):
            if arguments[name] is None:
                raise InputError(name, None, f"the {name} of the checkpoint, which is an object")
        arguments["operators"] = tuple(arguments["operators"])
        names = list(names_of(arguments["operators"]))
        if names != known["operators"]:
            raise InputError("operators", names, f"those saved: {known['operators']}")
        return {**arguments, "charge_overhead": self.header["charge_overhead"]}


def write_checkpoint(path: Path, run: OpenRun) -> None:
    """Write a run without open steps, whole or not at all."""
    trial: Any = run.trial
    header = {
        "schema": SCHEMA,
        "trial": trial.settings(),
        "changes": [list(change) for change in run.changes],
        "seconds": run.seconds,
        "reason": run.reason,
        "overhead_ns": run.overhead_ns,
        "overhead_joules": finite(run.overhead_joules),
        "charge_overhead": run.pays_overhead,
    }
    arrays = {**dict(_arrays_of(run)), ROWS: run.rows()}
    numbers = numbers_of(run.solution)
    if numbers is not None:
        arrays[SOLUTION] = numbers
    everything: dict[str, Any] = {HEADER: np.array(json.dumps(header)), **arrays}
    with open_atomically(path) as file:
        np.savez_compressed(file, **everything)


def read_checkpoint(path: Path) -> Checkpoint:
    """Read what `write_checkpoint` wrote."""
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as content:
            arrays = dict(content)
        header = json.loads(str(arrays.pop(HEADER)))
    except (OSError, ValueError, KeyError, AttributeError, EOFError, zipfile.BadZipFile) as error:
        raise InputError("checkpoint", path, f"a file of Scheduler.save ({error})") from None
    if header["schema"] > SCHEMA:
        raise RunError(f"{path} was written by a newer version of eij: update eij to resume it")
    return Checkpoint(header, arrays)


def restore(run: OpenRun, checkpoint: Checkpoint) -> None:
    """Bring a new run to where the checkpoint was written."""
    header, arrays = checkpoint
    for name, array in _arrays_of(run):
        saved = arrays.get(name)
        if saved is None or (saved.shape, saved.dtype) != (array.shape, array.dtype):
            raise RunError(
                f"the checkpoint has no {name} like that of this scheduler: it was written with "
                f"another rule, or by another version of it"
            )
        array[...] = saved
    run.solution = arrays.get(SOLUTION)
    run.overhead_ns = header["overhead_ns"]
    run.overhead_before = header["overhead_joules"] or 0.0
    changes = tuple(Change(*change) for change in header["changes"])
    run.restore(arrays[ROWS], changes, header["seconds"], header["reason"])


def _arrays_of(run: OpenRun) -> Iterator[tuple[str, NDArray[Any]]]:
    parts = {"streams": run.streams, "stats": run.stats, "ledger": run.ledger}
    if not run.counted:  # what a counter has taught belongs to its machine and its moment
        parts["meter"] = run.charges.compiled
    for name, part in parts.items():
        yield from _leaves(name, part)
    yield "best", run.state.best_f
    yield "failures", run.failures


def _leaves(name: str, value: Any) -> Iterator[tuple[str, NDArray[Any]]]:
    if isinstance(value, np.ndarray):
        yield name, value
    elif isinstance(value, tuple):
        fields = getattr(value, "_fields", range(len(value)))
        for field, part in zip(fields, value, strict=True):
            yield from _leaves(f"{name}.{field}", part)
