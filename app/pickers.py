"""Widgets for a component, made from what the registry knows of it."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from typing import Any

import panel as pn
import panel_material_ui as pmui

from app.fold import fill_when_opened, folded
from app.meters_here import labels
from app.settings import Settings, brief, offered, operators_of
from eij_core import Spec
from eij_core.registry import Parameter
from eij_core.trial import FAMILIES

__all__ = ["ComponentPicker", "widget_for"]

NARROW = {"sizing_mode": "stretch_width", "size": "small", "margin": (6, 6)}
TITLES = {
    "problem": "Problem",
    "algorithm": "Algorithm",
    "selector": "Scheduler",
    "meter": "Energy meter",
}


FIRST = ("alpha", "operators", "instance")
"""Parameters that are shown at once; the others are folded away."""


def widget_for(parameter: Parameter, value: Any, operators: tuple[str, ...] = ()) -> Any:
    """Return a widget that fits one parameter: its type, range, choices and help."""
    label = parameter.name.replace("_", " ")
    about = parameter.range.about or parameter.expected
    common: dict[str, Any] = {"label": label, "value": value, "description": about, **NARROW}
    if operators and parameter.name == "operators":
        chosen = [name for name in str(value).split("+") if name in operators]
        return pmui.MultiChoice(
            label="portfolio of operators", options=list(operators), value=chosen,
            sizing_mode="stretch_width", margin=(6, 6), description=about,
        )  # fmt: skip
    if parameter.choices:
        return pmui.Select(options=list(parameter.choices), **common)
    if parameter.kind is bool:
        return pmui.Switch(label=label, value=bool(value), margin=(8, 10))
    if parameter.kind is int:
        low, high = _bounds(parameter)
        return pmui.IntInput(start=_whole(low), end=_whole(high), step=1, **common)
    if parameter.kind is float:
        low, high = _bounds(parameter)
        if high - low <= 1.0:
            return pmui.FloatSlider(
                start=low, end=high, step=0.01, label=label, value=value, margin=(6, 16),
                sizing_mode="stretch_width", size="small", description=about,
            )  # fmt: skip
        return pmui.FloatInput(start=_open(low), end=_open(high), step=0.1, **common)
    return pmui.TextInput(max_length=200, **common)


class ComponentPicker(pn.viewable.Viewer):
    """Chooses a component and its parameters, and keeps `settings` and widgets alike.

    Parameters
    ----------
    family : str
        "problem", "algorithm", "selector" or "meter".
    settings : Settings
    on_parameter : callable, optional
        Called with name and value when a parameter changes by hand, not by a link or a lesson.
    """

    def __init__(
        self,
        family: str,
        settings: Settings,
        on_parameter: Callable[[str, Any], None] | None = None,
        **params: Any,
    ) -> None:
        super().__init__(**params)
        self.family, self.settings, self._on_parameter = family, settings, on_parameter
        self._quiet = False
        self._widgets: dict[str, Any] = {}
        self.select = pmui.Select(
            label=TITLES[family], options=_options(family), value=offered(family)[0], **NARROW
        )
        self._parameters = pmui.Column(sizing_mode="stretch_width", margin=0)
        self._more: list[Any] = []
        self._fold = folded("more parameters", margin=(0, 6, 10, 6))
        self._problem = pmui.Alert(object="", severity="error", visible=False, margin=(2, 6))
        fill_when_opened(self._fold, lambda: self._more)
        self._read(getattr(settings, family))
        self.select.param.watch(self._on_select, "value")
        settings.param.watch(lambda event: self._read(event.new), family)

    def __panel__(self) -> Any:
        return pmui.Column(
            self.select, self._parameters, self._fold, self._problem, sizing_mode="stretch_width",
            margin=0,
        )  # fmt: skip

    def widget(self, name: str) -> Any:
        """Return the widget of a parameter, if there is one."""
        return self._widgets.get(name)

    def complain(self, field: str, message: str) -> None:
        """Show an error at the field that it is about; "" clears it."""
        self._problem.param.update(object=message, visible=bool(message))
        name = field.partition(":")[2]
        for key, widget in self._widgets.items():
            if "error_state" in widget.param:
                widget.error_state = bool(message) and key == name

    def _read(self, spec_text: str) -> None:
        """Show a component given as text."""
        if self._quiet:
            return
        spec = FAMILIES[self.family].check(spec_text)
        self._quiet = True
        try:
            self.select.value = spec.name
            self._build(spec)
        finally:
            self._quiet = False

    def _on_select(self, event: Any) -> None:
        if not self._quiet:
            spec = FAMILIES[self.family].check(event.new)
            self._build(spec)
            self._write()

    def _build(self, spec: Spec) -> None:
        registry = FAMILIES[self.family]
        operators = tuple(operators_of(spec.name)) if self.family == "algorithm" else ()
        known = {widget: w for widget, w in self._widgets.items()}
        parameters = registry.parameters(spec.name)
        if list(known) == [p.name for p in parameters] and self._built == spec.name:
            for parameter in parameters:
                known[parameter.name].value = _shown(known[parameter.name], spec, parameter)
            return
        self._built = spec.name
        self._widgets = {
            p.name: widget_for(p, spec.parameters[p.name], operators)
            for p in parameters
            if p.default is not inspect.Parameter.empty
        }
        for name, widget in self._widgets.items():
            widget.param.watch(lambda event, name=name: self._on_value(name, event.new), "value")
        first = [w for name, w in self._widgets.items() if name in FIRST]
        more = {name: w for name, w in self._widgets.items() if name not in FIRST}
        rest = list(more.values())
        self._parameters.objects = first
        self._more = rest
        named = ", ".join(name.replace("_", " ") for name in list(more)[:3])
        self._fold.title = f"{spec.name}: {named}{', …' if len(more) > 3 else ''}"
        self._fold.visible = bool(rest)
        self._fold.objects = [] if self._fold.collapsed else rest
        self.select.description = registry.about(spec.name)

    _built = ""

    def _on_value(self, name: str, value: Any) -> None:
        if self._quiet:
            return
        self._write()
        if self._on_parameter is not None:
            self._on_parameter(name, value)

    def _write(self) -> None:
        values = {
            name: "+".join(w.value) if isinstance(w.value, list) else w.value
            for name, w in self._widgets.items()
        }
        kept = {name: value for name, value in values.items() if value not in (None, "")}
        self._quiet = True
        try:
            setattr(self.settings, self.family, brief(self.family, Spec(self.select.value, kept)))
        finally:
            self._quiet = False


def _options(family: str) -> Any:
    return labels(offered(family)) if family == "meter" else offered(family)


def _shown(widget: Any, spec: Spec, parameter: Parameter) -> Any:
    value = spec.parameters[parameter.name]
    return str(value).split("+") if isinstance(widget.value, list) else value


def _bounds(parameter: Parameter) -> tuple[float, float]:
    return parameter.range.low, parameter.range.high


def _whole(bound: float) -> int | None:
    return int(bound) if math.isfinite(bound) else None


def _open(bound: float) -> float | None:
    return bound if math.isfinite(bound) else None
