"""Widgets for a component, made from its parameters in the registry."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import panel as pn
import panel_material_ui as pmui
import param

from eij_core import EijError, InputError, MeterUnavailable, Spec
from eij_core.registry import Parameter
from eij_core.trial import FAMILIES

from ...text.escape import text
from ...text.names import about, by_name, grouped
from ...views.panes import html_pane
from .fields import number_field
from .layout import FIELD, WIDE, Fold, Quiet, alert_box, column, show_alert
from .meters_table import meter_labels
from .offers import brief, fitting, offered, operators_of, read_component

TITLES = {
    "problem": "Problem",
    "algorithm": "Algorithm",
    "selector": "Rule",
    "meter": "Energy meter",
}
FIRST = ("alpha", "operators", "instance")
"""Parameters that are shown at once; the others are in a fold."""


def widget_for(parameter: Parameter, value: Any, operators: tuple[str, ...] = ()) -> Any:
    """Return a widget that fits one parameter: its type, range, choices and help."""
    label = parameter.name.replace("_", " ")
    about = parameter.range.about or parameter.expected
    common: dict[str, Any] = {"label": label, "value": value, "description": about, **FIELD}
    if operators and parameter.name == "operators":
        # Arms, such as replace-1@flips=0.25, come by link; here they can be taken out.
        chosen = [name for name in str(value).split("+") if name.partition("@")[0] in operators]
        return pmui.MultiChoice(
            label="portfolio of operators", options=list(dict.fromkeys([*operators, *chosen])),
            value=chosen,
            description=about, **WIDE,
        )  # fmt: skip
    if parameter.choices:
        return pmui.Select(options=list(parameter.choices), **common)
    if parameter.kind is bool:
        return pmui.Switch(label=label, value=bool(value), margin=(8, 10))
    low, high, kind = parameter.range.low, parameter.range.high, parameter.kind
    if kind is float and high - low <= 1.0:
        return pmui.FloatSlider(start=low, end=high, step=0.01, **{**common, "margin": (6, 16)})
    if kind in (int, float):
        return number_field(
            label, kind(value), parameter.range, step=1 if kind is int else 0.1,
            description=about, **FIELD,
        )  # fmt: skip
    return pmui.TextInput(max_length=200, **common)


def _menu(family: str, problem: str) -> Any:
    """Return the menu of a family, by full names; of algorithms, those that fit the problem."""
    names = fitting(problem) if family == "algorithm" else offered(family)
    common = {"label": TITLES[family], "value": names[0], **FIELD}
    if family == "selector":
        return pmui.Select(groups=grouped(family, names), **common)
    options = meter_labels(names) if family == "meter" else by_name(family, names)
    return pmui.Select(options=options, **common)


class ComponentPicker(pn.viewable.Viewer):
    """Chooses a component and its parameters; widgets and `settings` follow each other.

    Parameters
    ----------
    family : str
        "problem", "algorithm", "selector" or "meter".
    settings : param.Parameterized
        Holds the component of each family as text.
    on_parameter : callable, optional
        Called with `name=value` when a visitor changes a parameter; not for links and lessons.

    Attributes
    ----------
    widgets : dict
        By parameter.
    """

    def __init__(
        self,
        family: str,
        settings: param.Parameterized,
        on_parameter: Callable[..., None] | None = None,
    ) -> None:
        super().__init__()
        self.family, self.settings, self._on_parameter = family, settings, on_parameter
        self._quiet = Quiet()
        self.widgets: dict[str, Any] = {}
        self._built = ""
        """The component whose parameters the widgets are for."""
        self.select = _menu(family, getattr(settings, "problem", ""))
        self._about = html_pane((0, 12, 6, 12))
        self._parameters = column()
        self._more: list[Any] = []
        self._fold = Fold("more parameters", lambda: self._more, margin=(0, 6, 10, 6))
        self._problem = alert_box()
        self._read(getattr(settings, family))
        self.select.param.watch(self._on_select, "value")
        if family == "algorithm":
            settings.param.watch(self._offer_fitting, "problem")
        settings.param.watch(lambda event: self._read(event.new), family)

    def __panel__(self) -> Any:
        return column(self.select, self._about, self._parameters, self._fold, self._problem)

    @property
    def value(self) -> str:
        """The component as text."""
        return str(getattr(self.settings, self.family))

    @value.setter
    def value(self, written: str) -> None:
        setattr(self.settings, self.family, written)

    @property
    def reader(self) -> Callable[[str], str]:
        """Reads the component from a link."""
        return partial(read_component, self.family)

    def complain(self, error: EijError | None, field: str = "") -> None:
        """Show an error at the parameter `name:parameter` that it is about; None clears it."""
        show_alert(self._problem, error)
        name = field.partition(":")[2]
        for key, widget in self.widgets.items():
            if "error_state" in widget.param:
                widget.error_state = error is not None and key == name

    def _read(self, spec_text: str) -> None:
        """Show a component given as text."""
        if self._quiet:
            return
        spec = FAMILIES[self.family].check(spec_text)
        with self._quiet:
            self.select.value = spec.name
            self._build(spec)

    def _on_select(self, event: Any) -> None:
        if not self._quiet:
            self._build(FAMILIES[self.family].check(event.new))
            self._write()

    def _build(self, spec: Spec) -> None:
        registry = FAMILIES[self.family]
        if self._built == spec.name:
            for name, widget in self.widgets.items():
                value = spec.parameters[name]
                widget.value = str(value).split("+") if isinstance(widget.value, list) else value
            return
        self._built = spec.name
        operators = operators_of(spec.name) if self.family == "algorithm" else ()
        self.widgets = {
            p.name: widget_for(p, spec.parameters[p.name], operators)
            for p in registry.parameters(spec.name)
            if p.default is not inspect.Parameter.empty
        }
        for name, widget in self.widgets.items():
            widget.param.watch(lambda event, name=name: self._on_value(name, event.new), "value")
        self._parameters.objects = [w for name, w in self.widgets.items() if name in FIRST]
        more = {name: w for name, w in self.widgets.items() if name not in FIRST}
        self._more = list(more.values())
        named = ", ".join(name.replace("_", " ") for name in list(more)[:3])
        self._fold.title = f"More: {named}{', …' if len(more) > 3 else ''}"
        self._fold.show(bool(more))
        self._fold.refill()
        self._about.object = f"<p class='about'>{text(about(self.family, spec.name))}</p>"

    def _offer_fitting(self, event: Any) -> None:
        """Offer the algorithms of the problem's space, and leave one that is not among them."""
        names = fitting(event.new)
        options = by_name("algorithm", names)
        if options == self.select.options:
            return
        with self._quiet:
            self.select.options = options
        if Spec.parse(self.value).name not in names:
            self.value = names[0]

    def _on_value(self, name: str, value: Any) -> None:
        if self._quiet:
            return
        self._write()
        if self._on_parameter is not None:
            self._on_parameter(**{name: value})

    def _write(self) -> None:
        values = {
            name: "+".join(w.value) if isinstance(w.value, list) else w.value
            for name, w in self.widgets.items()
        }
        kept = {name: value for name, value in values.items() if value not in (None, "")}
        with self._quiet:
            self.value = brief(self.family, Spec(self.select.value, kept))


def complain_at(pickers: Mapping[str, ComponentPicker], error: EijError | None) -> bool:
    """Show an error at the picker that it is about, clear the others; return whether there is one.

    Parameters
    ----------
    pickers : mapping
        By family.
    error : EijError or None
        None clears them all.
    """
    field = error.field if isinstance(error, InputError) else ""
    if isinstance(error, MeterUnavailable):
        field = "meter"
    home = field.partition(":")[0]
    found = next((p for f, p in pickers.items() if home in (f, p.select.value)), None)
    for picker in pickers.values():
        picker.complain(error if picker is found else None, field)
    return found is not None
