"""The side of the page: the lesson, what is run, and its budget."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

import panel as pn
import panel_material_ui as pmui

from eij_core import EijError, Spec
from eij_core.meters.paper import PROBLEMS as PRICED
from eij_core.registry import Range

from ...internals.panel import allow_no_choice
from ...text.escape import text
from ...views.panes import html_pane
from ...views.snapshot import Snapshot
from ..common.fields import number_field
from ..common.layout import FIELD, Quiet, alert_box, column, show_alert
from ..common.meters_table import MetersHere
from ..common.pickers import TITLES, ComponentPicker, complain_at
from .instance_file import InstanceFile
from .lessons.lessons import LESSONS
from .settings import Settings, split_budget

UNITS = ["J", "kJ", "mJ", "Wh", "evaluations", "s"]
OWN = "none: my own settings"
RULES = {"EI/J+": "eij-plus", "the paper's EI/J": "eij"}
LESSON_SETS = ("budget", "meter", "seed", "selector", "compare")
"""Settings that a lesson resets to their default unless it sets them."""


class Controls(pn.viewable.Viewer):
    """Widgets for the settings.

    Parameters
    ----------
    settings : Settings
    on_parameter : callable
        Called with name and value as a keyword when a visitor changes a parameter of the rule.
    """

    def __init__(self, settings: Settings, on_parameter: Callable[..., None]) -> None:
        super().__init__()
        self.settings = settings
        self._quiet = Quiet()
        self._finished: Snapshot | None = None
        self._error: EijError | None = None
        self._build_lesson()
        self._build_fields(on_parameter)
        # Otherwise a group chooses its first option once it is drawn.
        for choice in (self.guess, self.rule):
            allow_no_choice(choice)
        self._read_all()
        self.guess.param.watch(lambda _: self._show_answer(), "value")
        for widget, values_of in (
            (self.lesson, _values_of_lesson),
            (self.rule, lambda rule: {"selector": rule} if rule else {}),
            (self.target, lambda target: {"target": target}),
            (self.seed, lambda seed: {"seed": seed}),
            (self.amount, lambda _: {"budget": self._budget_now()}),
            (self.unit, lambda _: {"budget": self._budget_now()}),
            (self.compare, lambda compare: {"compare": compare}),
        ):
            widget.param.watch(partial(self._on_widget, values_of), "value")
        settings.param.watch(self._on_settings, list(Settings.FIELDS))

    def _build_lesson(self) -> None:
        titles = {lesson.title: key for key, lesson in LESSONS.items()}
        self.lesson = pmui.Select(
            label="Lesson", options={**titles, OWN: ""}, value=self.settings.lesson, **FIELD
        )
        self._question = html_pane((2, 10, 8, 10))
        self.guess = pmui.RadioBoxGroup(
            label="Your guess", options=[], value=None, visible=False, margin=(0, 10),
            sizing_mode="stretch_width",
        )  # fmt: skip
        self._answer = html_pane((2, 10, 8, 10))
        self.next = pmui.FlexBox(margin=(0, 8, 8, 8), gap="6px", visible=False)
        """What to try after the answer, a button each."""

    def _build_fields(self, on_parameter: Callable[..., None]) -> None:
        settings = self.settings
        self.pickers = {
            family: ComponentPicker(
                family, settings, on_parameter if family == "selector" else None
            )
            for family in TITLES
        }
        self.rule = pmui.RadioButtonGroup(
            options=RULES, value=None, size="small", margin=(0, 6, 4, 6),
            sizing_mode="stretch_width",
        )  # fmt: skip
        self.instance_file = InstanceFile(settings)
        self.meters_here = MetersHere(self.pickers["meter"].select)
        self.amount = number_field("Energy budget", 1.0, Range(0.0, above=True), step=1.0, **FIELD)
        self.unit = pmui.Select(label="unit", options=UNITS, value="kJ", **FIELD)
        self.seed = number_field(
            "Seed", settings.seed, Range(*Settings.param["seed"].bounds), step=1,
            description="Same settings and seed, same run", **FIELD,
        )  # fmt: skip
        self.compare = pmui.Switch(
            label="compare with baselines", value=settings.compare, margin=(4, 8),
            description="Uniform choice and each operator alone, on the same Joules",
        )  # fmt: skip
        self.target = pmui.TextInput(
            label="Stop at", value=settings.target, placeholder="optimum, 1% or a fitness",
            description="optimum, if known; a gap to it, such as 1%; a fitness; or nothing",
            **FIELD,
        )  # fmt: skip
        self._problem = alert_box()

    def __panel__(self) -> Any:
        budget = pmui.Row(self.amount, self.unit, sizing_mode="stretch_width", margin=0)
        problem, algorithm, selector, meter = self.pickers.values()
        return column(
            self.lesson, self._question, self.guess, self._answer, self.next,
            problem, self.instance_file, algorithm, selector, self.rule, budget, self._problem,
            self.target, self.seed, self.compare, meter, self.meters_here, margin=(4, 2),
        )  # fmt: skip

    def complain(self, error: EijError | None) -> None:
        """Show an error at the field that it is about; None clears all."""
        if error is self._error:
            return
        self._error = error
        show_alert(self._problem, None if complain_at(self.pickers, error) else error)

    # --- between the widgets and the settings ---

    def _on_widget(self, values_of: Callable[[Any], dict[str, Any]], event: Any) -> None:
        if not self._quiet:
            self.settings.param.update(values_of(event.new))

    def _budget_now(self) -> str:
        return f"{self.amount.value:.12g} {self.unit.value}"

    def _on_settings(self, *events: Any) -> None:
        changed = {event.name for event in events}
        lesson = LESSONS.get(self.settings.lesson)
        # A lesson with operators of its own fixes the algorithm: choosing another one leaves it.
        own = lesson is not None and lesson.build is not None
        if own and changed & {"problem", "algorithm", "meter"} and "lesson" not in changed:
            self.settings.lesson = ""
        # The paper has no prices for a problem that it did not measure; the meter's field shows it.
        priced = self.settings.problem.partition(":")[0] in PRICED
        if changed == {"problem"} and not priced and self.settings.meter.startswith("paper"):
            self.settings.meter = "model"
        self._read_all()

    def _read_all(self) -> None:
        with self._quiet:
            self.lesson.value = self.settings.lesson
            self.seed.value = self.settings.seed
            self.compare.value = self.settings.compare
            self.target.value = self.settings.target
            chosen = Spec.parse(self.settings.selector).name
            self.rule.value = chosen if chosen in RULES.values() else None
            self._read_budget()
            self._ask()

    def _read_budget(self) -> None:
        if self.settings.budget == self._budget_now():
            return
        with suppress(EijError):  # it is being typed; Run reports what is wrong with it
            self.amount.value, self.unit.value = split_budget(self.settings.budget)

    def _ask(self) -> None:
        lesson = LESSONS.get(self.settings.lesson)
        guesses = lesson.guesses if lesson else []
        if guesses != self.guess.options:
            self.guess.options = guesses
            self.guess.value = None  # new options choose their first by themselves
            self._finished = None
            self._answer.object = ""
        self.guess.visible = lesson is not None
        self._question.object = (
            f"<div class='words'><p><b>Guess first.</b> {text(lesson.question)}</p></div>"
            if lesson
            else ""
        )

    def answer(self, snapshot: Snapshot | None) -> None:
        """Answer the lesson's question from its finished run; None: there is no such run yet."""
        if snapshot is not self._finished:
            self._finished = snapshot
            self._show_answer()

    def _show_answer(self) -> None:
        lesson, snapshot = LESSONS.get(self.settings.lesson), self._finished
        guess = self.guess.value
        over = lesson is not None and snapshot is not None and len(snapshot.rows) > 0
        answered = over and guess is not None
        self.next.visible = answered
        if lesson is None or snapshot is None or not answered:
            words = "Choose your guess to see the answer." if over else "Press Run to see."
            waits = lesson is not None and (over or guess is not None)
            self._answer.object = f"<p class='words quiet'>{words}</p>" if waits else ""
            return
        verdict = lesson.judge(snapshot)
        opening = ""
        if verdict.right >= 0:
            right = text(lesson.guesses[verdict.right])
            opening = f"<b>You guessed “{text(guess)}”. It was “{right}”.</b> "
        self._answer.object = (
            f"<div class='words' role='status'><p>{opening}{text(verdict.words)}</p>"
            f"<p>{text(lesson.watch)}</p></div>"
        )
        self.next.objects = [self._attempt(**attempt) for attempt in lesson.attempts]

    def _attempt(self, label: str, **values: Any) -> Any:
        """Return a button that changes settings as a lesson suggests."""
        button = pmui.Button(
            label=label, icon="arrow_forward", size="small", variant="outlined", margin=2
        )

        def apply(_: Any) -> None:
            self.settings.param.update(**values)

        button.on_click(apply)
        return button


def _values_of_lesson(key: str) -> dict[str, Any]:
    """Return the settings that a lesson is begun with; "" changes nothing else."""
    if key not in LESSONS:
        return {"lesson": key}
    defaults = {name: Settings.param[name].default for name in LESSON_SETS}
    return {**defaults, **LESSONS[key].values, "instance_file": None, "lesson": key}
