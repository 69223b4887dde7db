"""The side of the page: the lesson, what is run, and its budget."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import panel as pn
import panel_material_ui as pmui

from app.escape import text
from app.frame import Frame
from app.instance_file import InstanceFile
from app.lessons import LESSONS
from app.meters_here import MetersHere
from app.pickers import NARROW, TITLES, ComponentPicker
from app.settings import Settings, split_budget
from app.theme import PAGE_CSS
from eij_core import EijError, InputError, MeterUnavailable, Spec

__all__ = ["Controls"]

UNITS = {"J": 1.0, "kJ": 1e3, "mJ": 1e-3, "Wh": 3600.0, "evaluations": 1.0, "s": 1.0}
OWN = "my own settings"
RULES = {"EI/J+": "eij-plus", "the paper's EI/J": "eij"}
LESSON_SETS = ("budget", "meter", "seed", "selector", "compare")
"""What a lesson brings to its default where it does not say otherwise."""


class Controls(pn.viewable.Viewer):
    """Widgets for the settings.

    Parameters
    ----------
    settings : Settings
    on_parameter : callable
        Called with name and value when a parameter of the scheduler changes by hand.
    """

    def __init__(
        self, settings: Settings, on_parameter: Callable[[str, Any], None], **params: Any
    ) -> None:
        super().__init__(**params)
        self.settings = settings
        self._quiet = False
        titles = {lesson.title: key for key, lesson in LESSONS.items()}
        self.lesson = pmui.Select(
            label="Lesson", options={**titles, OWN: ""}, value=settings.lesson, **NARROW
        )
        self._story = pn.pane.HTML(
            "", sizing_mode="stretch_width", stylesheets=[PAGE_CSS], margin=(2, 10, 8, 10)
        )
        self.guess = pmui.RadioBoxGroup(
            label="Your guess", options=[], value=None, visible=False, margin=(0, 10),
            sizing_mode="stretch_width",
        )  # fmt: skip
        self._answer = pn.pane.HTML(
            "", sizing_mode="stretch_width", stylesheets=[PAGE_CSS], margin=(2, 10, 8, 10)
        )
        self._finished: Frame | None = None
        self._recorded = False
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
        # Else the first one counts as chosen once it is drawn.
        for choice in (self.guess, self.rule):
            choice._allows_none = True  # type: ignore[misc]
        self.instance_file = InstanceFile(settings)
        self.meters_here = MetersHere(self.pickers["meter"].select)
        self.amount = pmui.FloatInput(
            label="Energy budget", value=1.0, start=0.0, step=1.0, **NARROW
        )
        self.unit = pmui.Select(label="unit", options=list(UNITS), value="kJ", **NARROW)
        self.seed = pmui.IntInput(
            label="Seed", value=settings.seed, start=0, end=2**31 - 1, step=1,
            description="Same settings and seed, same run", **NARROW,
        )  # fmt: skip
        self._problem = pmui.Alert(object="", severity="error", visible=False, margin=(2, 6))
        self._read_all()
        self.lesson.param.watch(self._on_lesson, "value")
        self.guess.param.watch(lambda _: self._tell_answer(), "value")
        self.rule.param.watch(self._on_rule, "value")
        self.amount.param.watch(self._on_budget, "value")
        self.unit.param.watch(self._on_budget, "value")
        self.seed.param.watch(self._on_seed, "value")
        settings.param.watch(self._on_settings, list(Settings.FIELDS))

    def __panel__(self) -> Any:
        budget = pmui.Row(self.amount, self.unit, sizing_mode="stretch_width", margin=0)
        picker = self.pickers
        return pmui.Column(
            self.lesson,
            self._story,
            self.guess,
            self._answer,
            picker["problem"],
            self.instance_file,
            picker["algorithm"],
            picker["selector"],
            self.rule,
            budget,
            self._problem,
            self.seed,
            picker["meter"],
            self.meters_here,
            sizing_mode="stretch_width",
            margin=(4, 2),
        )

    def complain(self, error: EijError | None) -> None:
        """Show an error at the field that it is about; None clears all."""
        field = error.field if isinstance(error, InputError) else ""
        if isinstance(error, MeterUnavailable):
            field = "meter"
        message = "<br>".join(map(text, str(error or "").splitlines()))
        home = field.partition(":")[0]
        names = {family: picker.select.value for family, picker in self.pickers.items()}
        found = next((f for f, name in names.items() if home in (f, name)), None)
        for family, picker in self.pickers.items():
            picker.complain(field, message if family == found else "")
        here = bool(message) and found is None
        self._problem.param.update(object=message if here else "", visible=here)

    # --- between the widgets and the settings ---

    def _on_lesson(self, event: Any) -> None:
        if self._quiet:
            return
        lesson = LESSONS.get(event.new)
        defaults = {name: Settings.param[name].default for name in LESSON_SETS}
        values = {**defaults, **lesson.values, "instance_file": None} if lesson else {}
        self.settings.param.update(**values, lesson=event.new)

    def _on_rule(self, event: Any) -> None:
        if not self._quiet and event.new is not None:
            self.settings.selector = event.new

    def _on_budget(self, event: Any) -> None:
        if not self._quiet:
            self.settings.budget = f"{self.amount.value or 0:g} {self.unit.value}"

    def _on_seed(self, event: Any) -> None:
        if not self._quiet and event.new is not None:
            self.settings.seed = event.new

    def _on_settings(self, *events: Any) -> None:
        changed = {event.name for event in events}
        lesson = LESSONS.get(self.settings.lesson)
        # A lesson with parts of its own stands for its algorithm: choosing another one leaves it.
        own = lesson is not None and not lesson.is_plain
        if own and changed & {"problem", "algorithm", "meter"} and "lesson" not in changed:
            self.settings.lesson = ""
        self._read_all()

    def _read_all(self) -> None:
        self._quiet = True
        try:
            self.lesson.value = self.settings.lesson
            self.seed.value = self.settings.seed
            chosen = Spec.parse(self.settings.selector).name
            self.rule.value = chosen if chosen in RULES.values() else None
            self._read_budget()
            self._tell()
        finally:
            self._quiet = False

    def _read_budget(self) -> None:
        try:
            amount, unit = split_budget(self.settings.budget)
            shown = (self.amount.value or 0) * UNITS[self.unit.value]
        except EijError:
            return  # it is being typed; Run will say what is wrong
        kind = "J" if self.unit.value in ("J", "kJ", "mJ", "Wh") else self.unit.value
        if kind == unit and shown == amount:
            return
        if unit == "J" and amount >= 1000.0:
            amount, unit = amount / 1000.0, "kJ"
        self.amount.value, self.unit.value = amount, unit

    def _tell(self) -> None:
        lesson = LESSONS.get(self.settings.lesson)
        if lesson is None:
            self._story.object = ""
            self.guess.visible = False
            self._answer.object = ""
            return
        guesses = list(lesson.guesses)
        if guesses != self.guess.options:
            self.guess.options = guesses
            self.guess.value = None  # new options choose their first by themselves
            self._finished = None
            self._answer.object = ""
        self.guess.visible = True
        self._story.object = (
            f"<div class='words'><p><b>Guess first.</b> {text(lesson.question)}</p></div>"
        )

    def answer(self, frame: Frame | None, recorded: bool = False) -> None:
        """Take the finished run of the lesson, and tell what it says; None: there is none yet.

        A recorded run was there before anybody could guess: it answers when asked.
        """
        if frame is not self._finished:
            self._finished, self._recorded = frame, recorded
            self._tell_answer()

    def _tell_answer(self) -> None:
        lesson, frame, guess = LESSONS.get(self.settings.lesson), self._finished, self.guess.value
        if lesson is None or frame is None or not len(frame.rows):
            waiting = lesson is not None and guess is not None
            words = "<p class='words quiet'>Press Run to see.</p>" if waiting else ""
            self._answer.object = words
            return
        if guess is None and self._recorded:
            self._answer.object = ""
            return
        verdict = lesson.judge(frame)
        if guess is None or verdict.right < 0:
            opening = ""
        elif guess == lesson.guesses[verdict.right]:
            opening = "<b>You were right.</b> "
        else:
            opening = f"<b>Not so:</b> {text(lesson.guesses[verdict.right])}. "
        self._answer.object = (
            f"<div class='words' role='status'><p>{opening}{text(verdict.words)}</p>"
            f"<details><summary>Why, and what to try next</summary><p>{text(lesson.watch)}</p>"
            "</details></div>"
        )
