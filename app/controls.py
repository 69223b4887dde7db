"""The side of the page: the lesson, what is run, and its budget."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import panel as pn
import panel_material_ui as pmui

from app.escape import text
from app.lessons import LESSONS
from app.pickers import NARROW, TITLES, ComponentPicker
from app.settings import Settings, split_budget
from app.theme import PAGE_CSS
from eij_core import EijError, InputError

__all__ = ["Controls"]

UNITS = {"J": 1.0, "kJ": 1e3, "mJ": 1e-3, "Wh": 3600.0, "evaluations": 1.0, "s": 1.0}
OWN = "my own settings"


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
        self.pickers = {
            family: ComponentPicker(
                family, settings, on_parameter if family == "selector" else None
            )
            for family in TITLES
        }
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
            picker["problem"],
            picker["algorithm"],
            picker["selector"],
            budget,
            self._problem,
            self.seed,
            picker["meter"],
            sizing_mode="stretch_width",
            margin=(4, 2),
        )

    def complain(self, error: EijError | None) -> None:
        """Show an error at the field that it is about; None clears all."""
        field = error.field if isinstance(error, InputError) else ""
        message = str(error) if error is not None else ""
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
        defaults = {"budget": "1 kJ", "meter": "paper", "seed": 1, "selector": "eij"}
        values = {**defaults, **lesson.values} if lesson else {}
        self.settings.param.update(**values, lesson=event.new)

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
            return
        self._story.object = (
            f"<div class='words'><p><b>Guess first.</b> {text(lesson.question)}</p>"
            f"<details><summary>What to watch</summary><p>{text(lesson.watch)}</p></details></div>"
        )
