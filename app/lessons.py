"""Lessons: settings named after what they teach, a guess beforehand, and the answer afterwards."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from app.frame import Frame
from app.lesson_parts import DearTwin, Idle, Tariff
from app.verdicts import Verdict, choices_of, gap_of_choices, versus_uniform
from eij_core import Trial
from eij_core.algorithms.ils import ILS, Flip

__all__ = ["FIRST", "LESSONS", "Lesson"]


@dataclass(frozen=True)
class Lesson:
    """A guided run: what is set, what to guess beforehand, what to see, and what came of it."""

    key: str
    title: str
    question: str
    guesses: tuple[str, ...]
    watch: str
    judge: Callable[[Frame], Verdict]
    """From the finished run to the guess that was right, and what the run shows."""
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
            "will the scheduler choose more often?",
            ("flip-1", "flip-5", "about equally often"),
            "Watch the choices: both operators are tried, then one of them takes over. "
            "The grey dashed line in the first plot is uniform choice on the same Joules.",
            gap_of_choices(("flip-1", "flip-5"), even=10.0),
            {"problem": "knapsack", "algorithm": "ils", "selector": "eij-plus"},
        ),
        Lesson(
            "swarm",
            "A swarm that needs its leader",
            "In a particle swarm, Full looks at the best particle and Light does not. Both cost "
            "nearly the same. Will the scheduler tell them apart?",
            ("yes, Full wins", "yes, Light wins", "no"),
            "The two EI/J lines part early and their bands stop overlapping: after that the choice "
            "is settled.",
            gap_of_choices(("full", "light"), even=20.0),
            {"problem": "nk", "algorithm": "pso", "selector": "eij-plus"},
        ),
        Lesson(
            "too-close",
            "Too close to call",
            "A genetic algorithm makes one child at a time, or five. Per Joule they are almost "
            "equally good. Which of them will the paper's rule choose more often?",
            ("one child", "five children", "both about equally"),
            "The bands overlap all the way and the choice stays near one half. That is the right "
            "answer: there is little to gain by choosing.",
            gap_of_choices(("replace-1", "replace-5"), even=20.0),
            {"problem": "nk", "algorithm": "ssga", "selector": "eij"},
        ),
        Lesson(
            "dear-twin",
            "Why the dear twin wins",
            "The second operator is a copy of the first that costs ten times as much. A rule that "
            "counts Joules should never take it. What share of the Joules will it get?",
            ("less than a tenth", "a tenth to a half", "more than half"),
            "Improvements are rare, so a draw of Δf is about as often negative as positive. Where "
            "both draws are negative the ratio prefers the dear twin: −2 / 10 J is more than "
            "−2 / 1 J. So it gets about half of the choices, and nine tenths of the Joules. Look "
            "at the draws in the decision view. Then choose EI/J+ as the scheduler, whose credit "
            "is never negative, and run again.",
            choices_of("dear-twin-1", (10.0, 50.0), "operator_joules"),
            {"problem": "knapsack", "algorithm": "ils", "selector": "eij"},
            _dear_twin,
        ),
        Lesson(
            "idle-operator",
            "An operator that does nothing",
            "The second operator spends energy and changes nothing: Δf is always 0. What share of "
            "the choices will it get?",
            ("less than a tenth", "a tenth to a third", "more than a third"),
            "Zero beats every negative number. Once flip-1 mostly fails, doing nothing looks "
            "better than trying, and a good part of the Joules is wasted. EI/J+ gives no credit "
            "for doing nothing: choose it and run again.",
            choices_of("idle", (10.0, 100.0 / 3.0), "applications"),
            {"problem": "knapsack", "algorithm": "ils", "selector": "eij"},
            _idle,
        ),
        Lesson(
            "small-budget",
            "Too small a budget",
            "With 25 J there are some twenty decisions. Will the scheduler do better than uniform "
            "choice on the same Joules?",
            ("yes, clearly", "about the same", "no, worse"),
            "The first tries eat a fifth of the budget, and the bands are still wide when it ends: "
            "what was learned comes too late, and chance decides. Of the seeds 1 to 30, the "
            "scheduler ended clearly better than uniform choice with 15 and clearly worse with 13. "
            "Try other seeds, then 100 J and 1 kJ.",
            versus_uniform(),
            {"problem": "knapsack", "algorithm": "ils", "selector": "eij", "budget": "25 J"},
        ),
        Lesson(
            "small-alpha",
            "α too small",
            "α is the weight of the old estimate. With 0.05 the scheduler remembers little more "
            "than the last application of each operator. Full is the better one here. What share "
            "of the choices will Light get?",
            ("less than a third", "a third to two thirds", "more than two thirds"),
            "It is sure of itself after two tries. On some seeds it is sure of the wrong operator "
            "and keeps it: with 15 of the seeds 1 to 30 Light gets more than two thirds. Try other "
            "seeds, then set α to 0.9 and run again: Full takes over.",
            choices_of("light", (100.0 / 3.0, 200.0 / 3.0), "applications"),
            {"problem": "nk", "algorithm": "pso", "selector": "eij:alpha=0.05", "seed": 2},
        ),
        Lesson(
            "paper",
            "The paper's longest run: codes in 10 kJ",
            "Designing an error-correcting code costs half a Joule per evaluation. Will 10 kJ do "
            "better with the scheduler than with uniform choice?",
            ("yes, clearly", "about the same", "no, worse"),
            "Energy per application is some 50 J here, so there are only 200 decisions; the "
            "optimum is known and shown as a dotted line.",
            versus_uniform(),
            {"problem": "ecc", "algorithm": "ils", "selector": "eij", "budget": "10 kJ"},
        ),
    )
}
