"""Known optima within a minute of CPU time: python -m tests.benchmarks.worlds --instances FOLDER.

Instance files are others' and not part of the repository. They are found by name anywhere in the
folder and used only if their sha256 is the one below; what is missing is said. Generated instances
need no file. Every run has `eij-plus` and the algorithm's default portfolio, on the meter that
estimates Joules by CPU time, and ends at its target or after a minute of CPU time in its thread. A
target is met if 9 of 10 seeds reach it.
"""

from __future__ import annotations

import argparse
import hashlib
import time
from pathlib import Path
from typing import NamedTuple

from eij_core import Run, Trial

SECONDS = 60.0
SEEDS = 10
NEEDED = 9


class Target(NamedTuple):
    """What is to be reached: on a file, if there is a digest, else on a generated instance."""

    name: str
    problem: str
    """Component; `{}` is the place of the file."""
    algorithm: str
    optimum: float
    within: float = 0.0
    """Share of the optimum that may be missing."""
    sha256: str = ""


TOURS = {
    "burma14": (3323, "c2f10b100ad1a00bba19094e33ab3c05fb50203352151e23252eba6f85d5c3e7"),
    "gr17": (2085, "b18d6060189534ec7c6ea3b50b6ba793d1a3bd22b38e99bf9f422338ffa203fa"),
    "bays29": (2020, "385c381b3bf28ed9f1065cb1672d02d1909b0eb66eab111d7c9887f9a796dc8f"),
    "att48": (10628, "7a7b04423c4463e873ec5d1f0592ad4a5cba168018e3f4edfd7f7e541fde03ac"),
    "berlin52": (7542, "8496a5838133e3c3eb25a9fa8893b1ac302593fc8dc325350643a0cabd8abadc"),
    "kroA100": (21282, "e103100c1cf31dfc06be95a9d04011b5a8753bb65a3339594ca34404e574bdf5"),
    "eil101": (629, "537eb4836839ec6e4ff02fb9ca6833fa083a398b5fbb076b05954f0cbb7053c4"),
}
TAILLARD = {  # time seed: best makespan of his 20 × 5 instances
    **{873654221: 1278, 379008056: 1359, 1866992158: 1081, 216771124: 1293, 495070989: 1235},
    **{402959317: 1195, 1369363414: 1234, 2021925980: 1206, 573109518: 1230, 88325120: 1108},
}
G14 = "86eb912316eaf53d0891df905d12a42d5ee1b786df100e391a62190cac5727ab"
SKO100A = "df003c8a3db48d3b8dcc58c336b2626c74e69d163a638b2eaead322618500a12"
TARGETS = (
    *(
        Target(
            f"{name}.tsp", "tsp-file:file={}", "permutation-ils", optimum,
            0.005 if name == "eil101" else 0.0, digest,
        )
        for name, (optimum, digest) in TOURS.items()
    ),
    Target("g14.rud", "maxcut-file:file={}", "tabu", 3064, 0.003, G14),
    Target("sko100a.flp", "qap-file:file={}", "permutation-ils", 152002, 0.01, SKO100A),
    *(
        Target(f"Taillard 20 × 5, {i}", f"flowshop:seed={seed}", "permutation-ils", best, 0.01)
        for i, (seed, best) in enumerate(TAILLARD.items(), 1)
    ),
    Target("3-SAT, n 250, planted", "maxsat:n=250,planted=true", "tabu", 1050),
    Target("LABS, n 40", "labs:n=40", "tabu", 1600 / 216),
)  # fmt: skip


class Reached(NamedTuple):
    """How one run ended."""

    best: float
    seconds: float
    met: bool


def run_to(target: Target, problem: str, seed: int, seconds: float) -> Reached:
    """Run until the target is reached or the CPU time is over."""
    trial = Trial(problem, target.algorithm, "eij-plus", "cputime", "1e9 J", seed=seed, points=1000)
    run = Run(trial, compiled=True)
    upwards = run.result().sense == "max"
    slack = target.within * abs(target.optimum) + 1e-9 * abs(target.optimum)
    started, met = time.thread_time(), False
    while not met and time.thread_time() - started < seconds:
        run.advance(run.chunk)
        best = run.result().best.fitness
        met = best >= target.optimum - slack if upwards else best <= target.optimum + slack
    took = time.thread_time() - started
    run.stop("the benchmark has seen enough")
    return Reached(run.result().best.fitness, took, met)


def place_of(target: Target, folder: Path | None) -> str:
    """Return the file of a target; raise `LookupError` that says why there is none."""
    if folder is None:
        raise LookupError("no folder of instances: --instances FOLDER")
    found = next(folder.rglob(target.name), None)
    if found is None:
        raise LookupError("not in the folder")
    if hashlib.sha256(found.read_bytes()).hexdigest() != target.sha256:
        raise LookupError("another file of this name: its sha256 differs")
    return str(found)


def main() -> None:
    """Print for each target how many seeds reach it, and how long they take."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--instances", type=Path, default=None)
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--seconds", type=float, default=SECONDS)
    parser.add_argument("--only", default="", help="names that begin so")
    options = parser.parse_args()
    needed = -(-NEEDED * options.seeds // SEEDS)
    print(f"{'instance':24}{'algorithm':18}{'goal':>10}{'worst':>10}{'median s':>10}  seeds")
    for target in (each for each in TARGETS if each.name.startswith(options.only)):
        problem = target.problem
        if target.sha256:
            try:
                problem = problem.format(place_of(target, options.instances))
            except LookupError as error:
                print(f"{target.name:24}not run: {error}")
                continue
        runs = [run_to(target, problem, seed, options.seconds) for seed in range(options.seeds)]
        show(target, runs, needed)


def show(target: Target, runs: list[Reached], needed: int) -> None:
    """Print the line of a target."""
    met = sum(each.met for each in runs)
    worst = max(runs, key=lambda each: abs(each.best - target.optimum)).best
    goal = f"{target.optimum:.6g}" + (f"+{target.within:.1%}" if target.within else "")
    median = sorted(each.seconds for each in runs)[len(runs) // 2]
    verdict = "met" if met >= needed else "MISSED"
    print(
        f"{target.name:24}{target.algorithm:18}{goal:>10}{worst:>10.6g}{median:>10.1f}  "
        f"{met} of {len(runs)}  {verdict}",
        flush=True,
    )


if __name__ == "__main__":
    main()
