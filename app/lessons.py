"""Lessons: settings named after what they teach, with what to watch for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from app.lesson_parts import DearTwin, Idle, Tariff
from eij_core import Trial
from eij_core.algorithms.ils import ILS, Flip

__all__ = ["FIRST", "LESSONS", "Lesson"]


@dataclass(frozen=True)
class Lesson:
    """A guided run: what is set, what to guess beforehand, what to see."""

    key: str
    title: str
    question: str
    watch: str
    values: dict[str, Any] = field(default_factory=dict)
    build: Callable[[Trial], Trial] | None = None
    """Puts parts of the lesson's own into the trial; such a run has no command line."""

    @property
    def is_plain(self) -> bool:
        """Whether the lesson is made of registered components alone."""
        return self.build is None


def _dear_twin(trial: Trial) -> Trial:
    operators = (Flip(1), DearTwin(1))
    return replace(trial, algorithm=ILS(operators), meter=Tariff(dear=10.0))


def _idle(trial: Trial) -> Trial:
    return replace(trial, algorithm=ILS((Flip(1), Idle(1))), meter=Tariff())


FIRST = "first-steps"

LESSONS: dict[str, Lesson] = {
    lesson.key: lesson
    for lesson in (
        Lesson(
            FIRST,
            "First steps: which flip buys more?",
            "A local search may perturb its best solution by one bit or by five. Which of the two "
            "brings more improvement for a Joule, and how soon will the scheduler know?",
            "Watch the selection ratio: both operators are tried, then one of them takes over. "
            "The grey dashed line in the first plot is uniform choice on the same Joules.",
            {"problem": "knapsack", "algorithm": "ils", "selector": "eij", "compare": True},
        ),
        Lesson(
            "swarm",
            "A swarm that needs its leader",
            "In a particle swarm, Full looks at the best particle and Light does not. Both cost "
            "nearly the same. Will the scheduler tell them apart?",
            "The two EI/J lines part early and their bands stop overlapping: after that the choice "
            "is settled.",
            {"problem": "nk", "algorithm": "pso", "selector": "eij", "compare": True},
        ),
        Lesson(
            "too-close",
            "Too close to call",
            "A genetic algorithm makes one child at a time, or five. Per Joule they are almost "
            "equally good. What should a scheduler do then?",
            "The bands overlap all the way and the choice stays near one half. That is the right "
            "answer: there is nothing to gain by choosing.",
            {"problem": "nk", "algorithm": "ssga", "selector": "eij", "compare": True},
        ),
        Lesson(
            "dear-twin",
            "Why the dear twin wins",
            "The second operator is a copy of the first that costs ten times as much. A rule that "
            "counts Joules should never take it. What share of the Joules will it get?",
            "Late in the search almost every application makes things worse, so Δf is negative. "
            "A negative number divided by a larger energy is less negative: the ratio prefers the "
            "dear twin. Look at the draws in the decision view, then choose eij-plus as the "
            "scheduler and run again.",
            {"problem": "knapsack", "algorithm": "ils", "selector": "eij", "compare": True},
            _dear_twin,
        ),
        Lesson(
            "idle-operator",
            "An operator that does nothing",
            "The second operator spends energy and changes nothing: Δf is always 0. How often will "
            "it be chosen?",
            "Zero beats every negative number. Once flip-1 mostly fails, doing nothing looks "
            "better than trying, and about half of the Joules are wasted.",
            {"problem": "knapsack", "algorithm": "ils", "selector": "eij", "compare": True},
            _idle,
        ),
        Lesson(
            "small-budget",
            "Too small a budget",
            "With 25 J there are some twenty decisions. Is that enough to learn anything?",
            "Hardly: the first tries eat a fifth of the budget, and the bands are still wide when "
            "it ends. Uniform choice does about as well. Try 100 J, then 1 kJ.",
            {"algorithm": "ils", "selector": "eij", "budget": "25 J", "compare": True},
        ),
        Lesson(
            "small-alpha",
            "α too small",
            "α is the weight of the old estimate. With 0.05 the scheduler remembers little more "
            "than the last application of each operator. What can go wrong?",
            "It is sure of itself after two tries, and here it is sure of the wrong operator: "
            "Light keeps almost every choice, and uniform choice does better. Try other seeds: "
            "about three in ten end so. Then set α to 0.9 and run again: Full takes over.",
            {"problem": "nk", "algorithm": "pso", "selector": "eij:alpha=0.05", "seed": 2},
        ),
        Lesson(
            "paper",
            "The paper's longest run: codes in 10 kJ",
            "Designing an error-correcting code costs half a Joule per evaluation. What do 10 kJ "
            "buy?",
            "Energy per application is some 50 J here, so there are only 200 decisions; the "
            "optimum is known and shown as a dotted line.",
            {"problem": "ecc", "algorithm": "ils", "budget": "10 kJ", "compare": True},
        ),
    )
}
