"""The same loop in C, on copies of the same arrays: what the machine can do."""

from __future__ import annotations

import copy
import ctypes
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from .measure import Work, cpu_seconds
from .ours import Case, Loop

__all__ = ["EXACT", "FLAGS", "Limit"]

SOURCE = Path(__file__).with_name("loops.c")
FLAGS = ("-O3", "-march=native", "-ffast-math")
EXACT = ("-O2", "-ffp-contract=off")
"""With these, results equal ours to the bit; -ffast-math rounds otherwise, and PSO drifts away."""

# The structs of loops.c, field by field.
FIELDS = {
    "knapsack": "n profits weights capacity penalty",
    "nk": "n k neighbours tables first readers weights scale",
    "ecc": "n words length cost scale worst",
    "ssga": "population crossover",
    "pso": "swarm w c1 c2 vmax",
    "ils": "steps",
    "ssga state": "best_x best_f members genes fitness heap memos bits children children_f x "
    "deltas log_keep keep_all",
    "pso state": "best_x best_f place velocity fitness own_place own_f best_place x draws deltas",
    "ils state": "best_x best_f best_memo x memo bits deltas",
    "eij": "tries gain gain_var log_joules log_joules_var joules",
    "static": "applications gain gain_squares joules joules_squares",
    "limits": "joules step",
    "meter": "per_application per_evaluation per_touch noise",
    "ledger": "joules evaluations decisions mark applications operator_joules "
    "operator_evaluations operator_gain histogram",
    "streams": "moves picks noise",
    "trace": "size decision operator gain joules spent evaluations best applications "
    "operator_joules beliefs",
}
PARAMETER = {"ssga": "children", "pso": "social", "ils": "bits"}


class Limit:
    """The loops of `loops.c`, compiled into a temporary folder."""

    def __init__(self, flags: tuple[str, ...]) -> None:
        compiler = shutil.which("gcc") or shutil.which("cc")
        if compiler is None:
            raise FileNotFoundError("no C compiler found: install gcc")
        with tempfile.TemporaryDirectory() as folder:
            library = str(Path(folder) / "loops.so")
            command = [compiler, *flags, "-fPIC", "-shared", str(SOURCE), "-o", library, "-lm"]
            subprocess.run(command, check=True)
            self._library = ctypes.CDLL(library)

    def run(self, case: Case, loop: Loop) -> tuple[Work, Loop]:
        """Run a copy of the loop to its end; return evaluations per CPU time, and how it ended."""
        loop = copy.deepcopy(loop)
        rule = "static" if case.operator else "eij"
        function = getattr(self._library, f"{case.problem}_{case.algorithm}_{rule}")
        function.restype = ctypes.c_int64
        parameter = PARAMETER[case.algorithm]
        operators = np.array([getattr(o, parameter) for o in loop.algorithm.operators], np.int64)
        arguments = [
            _struct(loop.problem, case.problem),
            _struct(loop.algorithm, case.algorithm),
            ctypes.c_void_p(operators.ctypes.data),
            ctypes.c_int64(operators.size),
            _struct(loop.state, f"{case.algorithm} state"),
            ctypes.c_void_p(loop.state.best_f.ctypes.data),
            _memory(loop, rule),
            _struct(loop.limits, "limits"),
            _struct(loop.meter, "meter"),
            _struct(loop.ledger, "ledger"),
            _struct(loop.streams, "streams"),
            _struct(loop.trace, "trace"),
        ]
        by_address = [
            ctypes.byref(argument) if isinstance(argument, ctypes.Structure) else argument
            for argument in arguments
        ]
        start = loop.ledger.evaluations[0]

        def go() -> None:
            while function(*by_address) == loop.trace.size:
                pass

        seconds = cpu_seconds(go)
        return Work(float(loop.ledger.evaluations[0] - start), seconds), loop


def _memory(loop: Loop, rule: str) -> ctypes.Structure:
    if rule == "static":
        return _struct(loop.stats.seen, rule, chosen=int(loop.stats.chosen[0]))
    return _struct(loop.stats, rule, alpha=loop.selector.alpha, least=loop.selector.tries)


def _struct(record: Any, name: str, **more: Any) -> ctypes.Structure:
    """Return the C struct of a record: arrays by address, the rest by value."""
    values = {field: getattr(record, field) for field in FIELDS[name].split()} | more
    kinds = [(field, _kind(value)) for field, value in values.items()]
    struct = type(name, (ctypes.Structure,), {"_fields_": kinds})
    return struct(*(v.ctypes.data if isinstance(v, np.ndarray) else v for v in values.values()))


def _kind(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return ctypes.c_void_p
    return ctypes.c_double if isinstance(value, float) else ctypes.c_int64
