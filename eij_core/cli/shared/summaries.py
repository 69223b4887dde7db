"""Tables of finished trials: result, operators, and how the Joules are known."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from .tables import Styled, print_lines, print_table

CONTENDED = 0.05
"""Above this share of our CPU time, the work of other programs is worth a line."""
MEANS = ("applications", "evaluations", "joules", "share", "eij")
"""Figures of an operator that are averaged over trials."""
MOST = 20
"""Trials that get a line of their own."""


def show(summaries: Sequence[dict[str, Any]]) -> None:
    """Print tables of one trial or of several, each as `Result.to_dict` gives it."""
    first = summaries[0]
    print_lines(_title(first), style="bold")
    several = len(summaries) > 1
    if several:
        headings = ("repetition", "best fitness", "feasible", "gap", "J", "evaluations")
        print_table(f"{len(summaries)} trials", (), headings, _trials(summaries))
    else:
        print_lines(*(f"{name:20}{value}" for name, value in _result(first)))
    print_table(
        "operators, mean of the trials" if several else "operators",
        ("operator",),
        ("applications", "evaluations", "J", "share of J", "EI/J"),
        _operators(summaries),
    )
    print_lines(*_energy(first))


def _title(summary: dict[str, Any]) -> str:
    trial = summary["trial"]
    if trial is None:
        return "a trial of objects"
    parts = (trial[key] for key in ("problem", "algorithm", "selector", "budget"))
    return f"{' · '.join(parts)} · seed {trial['seed']}"


def _energy(summary: dict[str, Any]) -> Iterator[str]:
    """Say how the Joules are known: each figure with its provenance, its error, and its gaps."""
    meter = summary["meter"]
    known = f"Joules: {meter['provenance']}, by meter {meter['name']}"
    settled = meter.get("settlement")
    if not settled:
        yield known
        return
    yield f"{known} ({' + '.join(settled['domains'])})"
    low, high = settled["band"]
    yield (
        f"the energy of the budget is known to ± {settled['quantisation_sd']:.2g} J by ticks, and "
        f"lies between {low:.4g} and {high:.4g} J by the counter's own error"
    )
    counted = settled["joules"]
    yield (
        f"beside the budget: overhead of rule and meter {counted['overhead']:.4g} J, "
        f"away from the CPU {counted['away']:.4g} J"
        + (f", other programs {counted['others']:.4g} J" if counted["others"] else "")
    )
    if settled["imputed_share"] > 0:
        why = ", ".join(
            f"{name.partition(': ')[2]} ×{count}"
            for name, count in settled["quality"].items()
            if name.startswith("imputed")
        )
        yield (
            f"imputed, no counter confirmed them: {settled['imputed_joules']:.4g} J, "
            f"{settled['imputed_share']:.1%} of the energy spent ({why})"
        )
    if settled["contention"] > CONTENDED:
        yield (
            f"other programs took {settled['contention']:.2f} times our CPU time: "
            "the Joules of the package are not ours alone"
        )


def _result(summary: dict[str, Any]) -> Iterator[tuple[str, str]]:
    best, spent = summary["best"], summary["spent"]
    yield "best fitness", _number(best["fitness"])
    yield "feasible", "yes" if best["feasible"] else "no"
    if best["gap"] is not None:
        yield "gap to the optimum", _number(best["gap"])
    if target := summary.get("target"):
        joules = target["joules"]
        reached = "not reached" if joules is None else f"reached after {joules:.6g} J"
        yield "target", f"{_number(target['fitness'])}, {reached}"
    over = f" (overshoot {spent['overshoot']:.3g} J)" if spent["overshoot"] else ""
    yield "energy", f"{spent['joules']:.6g} J{over}"
    yield "evaluations", f"{spent['evaluations']:,}"
    yield "decisions", f"{spent['decisions']:,}"
    yield "time", f"{spent['seconds']:.3g} s"
    yield "ended", summary["reason"]


def _trials(summaries: Sequence[dict[str, Any]]) -> Iterator[list[Styled]]:
    figures = [
        (best["fitness"], best["feasible"], best["gap"], spent["joules"], spent["evaluations"])
        for best, spent in ((summary["best"], summary["spent"]) for summary in summaries)
    ]
    if len(summaries) <= MOST:
        for summary, (fitness, feasible, gap, joules, evaluations) in zip(
            summaries, figures, strict=True
        ):
            yield [
                str(summary["trial"]["repetition"]),
                _number(fitness),
                "yes" if feasible else "no",
                _number(gap),
                _number(joules),
                f"{evaluations:,}",
            ]
        yield []
    fitness, feasible, *others = zip(*figures, strict=True)
    share = f"{sum(feasible)}/{len(feasible)}"
    yield ["mean ± sd", _spread(fitness), share, *map(_spread, others)]


def _operators(summaries: Sequence[dict[str, Any]]) -> Iterator[list[Styled]]:
    for same in zip(*(summary["operators"] for summary in summaries), strict=True):
        mean = {key: _mean(each[key] for each in same) for key in MEANS}
        yield [
            same[0]["name"],
            f"{mean['applications']:,.6g}",
            f"{mean['evaluations']:,.6g}",
            f"{mean['joules']:.6g}",
            f"{mean['share']:.1%}",
            _number(mean["eij"]),
        ]


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return statistics.fmean(known) if known else None


def _spread(values: Iterable[float | None]) -> str:
    known = [value for value in values if value is not None]
    deviation = statistics.stdev(known) if len(known) > 1 else 0.0
    return f"{_number(_mean(known))} ± {deviation:.3g}" if known else "–"


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.6g}"
