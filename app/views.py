"""The views: a figure, a sentence, and the paper's equation behind a click. Each stands alone too.

>>> from app import FitnessView  # doctest: +SKIP
>>> FitnessView(solve(Trial("nk", "ils", budget="1 kJ")))  # doctest: +SKIP
"""

from __future__ import annotations

from functools import partial
from operator import attrgetter
from typing import Any

import panel as pn
import panel_material_ui as pmui

from app.frame import Frame, frame_of_result, frame_of_run, tally_of
from app.jupyter import Shown, connected, draw
from app.live import LiveFigure
from app.painter import painter
from app.plots import decision, energy, estimates, fitness, selection
from app.rules import rule_of
from app.summaries import VIEWS as SUMMARIES
from app.summaries import data_table
from app.tables import decision_table, lanes_table, reason_of
from app.theme import PAGE_CSS
from app.words import words_for
from eij_core import Run

__all__ = [
    *("CompareView", "DecisionView", "EijView", "EnergyView", "FitnessView", "SelectionView"),
    "View",
]

SMALL: dict[str, Any] = {"size": "small", "margin": (0, 4), "align": "center"}


class View(Shown):
    """A titled figure with its explanation.

    Parameters
    ----------
    source : Result, Run, LiveRun or Frame, optional
        What to show; a `LiveRun` is followed, of a `Run` its present state is shown.
    """

    key = ""
    title = ""
    is_watched = True
    """Whether it shows something that moves; numbers are read, and need fewer frames."""

    def __init__(self, source: Any = None, **params: Any) -> None:
        super().__init__(**params)
        self._frame: Frame | None = None
        self._late: tuple[Frame, Any] | None = None
        """What no page has been told yet."""
        self._turns = 0
        self._told = ""
        self.figures = self._figures()
        self._card = self._layout()
        if source is not None:
            self.bind(source)

    def bind(self, source: Any) -> None:
        """Show a result, a run or a frame; follow a `LiveRun`.

        A run that one pulls oneself is shown as it stands, so bind it again as it goes on::

            for block in run:
                view.bind(run)
        """
        if hasattr(source, "follow"):
            source.follow(self)
        elif isinstance(source, Run):
            rows = source.rows()
            frame = frame_of_run(source, rows, tally_of(source))
            draw(partial(self.show, frame, (id(source), len(rows))))
        else:
            frame = source if isinstance(source, Frame) else frame_of_result(source)
            draw(partial(self.show, frame))

    def show(self, frame: Frame, story: Any = None) -> None:  # type: ignore[override]
        """Bring the view up to a frame; see `LiveFigure.show`."""
        self._frame = frame
        self._late = (frame, story)
        if self._catch_up():
            painter.watch(self._catch_up)

    def _catch_up(self) -> bool:
        """Draw what is new, unless some page does not listen yet; tell whether to try again."""
        late = self._late
        if late is None:
            return False
        if not connected(self._card):
            return True
        self._late = None
        self._draw(*late)
        return False

    def __panel__(self) -> Any:
        if self._late is not None:
            self._draw(*self._late)
        return self._card

    # --- what the views differ in ---

    def _draw(self, frame: Frame, story: Any) -> None:
        self._tell(frame)
        for figure in self.figures:
            figure.show(frame, (story, self._turns), self._shape())

    def _figures(self) -> list[LiveFigure]:
        """Return what is drawn; without any, a view has words alone."""
        return []

    def _options(self) -> list[Any]:
        """Return the widgets beside the title."""
        return []

    def _shape(self) -> Any:
        """Return what of the options needs the figure built anew."""
        return None

    def _body(self) -> list[Any]:
        whole: dict[str, Any] = {"sizing_mode": "stretch_width", "min_height": 300}
        return [pn.Column(figure.pane, **whole) for figure in self.figures]

    # --- what they share ---

    def _redraw(self, *_: Any) -> None:
        self._turns += 1
        if self._frame is not None:
            with pn.io.hold():
                self.show(self._frame, None)

    def _tell(self, frame: Frame) -> None:
        """Keep words and table up to the frame; the table only while somebody looks at it."""
        if frame.selector != self._told:
            self._told = frame.selector
            self._words.object = f'<div class="words">{words_for(self.key, frame.selector)}</div>'
        if self._data.visible:
            self._data.object = data_table(self.key, frame)

    def _layout(self) -> Any:
        hidden: dict[str, Any] = {"visible": False, "sizing_mode": "stretch_width"}
        hidden |= {"stylesheets": [PAGE_CSS], "margin": (0, 12, 8, 12)}
        self._words = pn.pane.HTML("", **hidden)
        self._data = pn.pane.HTML("", **hidden)
        icon: dict[str, Any] = {"size": "small", "margin": 0, "sx": {"opacity": 0.72}}
        help_ = pmui.IconButton(
            icon="help_outline", description=f"What am I seeing? {self.title}", **icon
        )
        data = pmui.IconButton(
            icon="table_rows", description=f"The same in words and numbers: {self.title}", **icon
        )

        def turn_over(pane: Any) -> None:
            pane.visible = not pane.visible
            if self._frame is not None:
                self._tell(self._frame)

        help_.on_click(lambda _: turn_over(self._words))
        data.on_click(lambda _: turn_over(self._data))
        title = pn.pane.HTML(
            f'<h2 class="view">{self.title}</h2>', stylesheets=[PAGE_CSS], margin=(4, 6, 4, 12)
        )
        # Title and icons never part; the options go below them where there is no room beside.
        named = pmui.Row(title, help_, *([data] if self.key in SUMMARIES else []), margin=0)
        options = pmui.Row(*self._options(), margin=0)
        head = pmui.FlexBox(
            named, pn.layout.HSpacer(), options, align_items="center", flex_wrap="wrap",
            sizing_mode="stretch_width",
        )  # fmt: skip
        return pmui.Paper(
            head,
            self._words,
            *self._body(),
            self._data,
            variant="outlined",
            elevation=0,
            sizing_mode="stretch_width",
            margin=0,
            sx={"p": "10px 6px 4px 6px", "borderRadius": "12px", "overflow": "hidden"},
            css_classes=[f"view-{self.key}"],
        )


class FitnessView(View):
    """Best fitness against Joules, the compared runs beside it, the paper's fit on demand."""

    key, title = "fitness", "What the Joules bought"

    def _figures(self) -> list[LiveFigure]:
        self._fit = pmui.Switch(label="paper's fit", value=False, **SMALL)
        self._fit.param.watch(self._redraw, "value")
        return [
            LiveFigure(
                lambda frame: fitness.layers(frame, self._fit.value),
                lambda frame: fitness.element(frame, self._fit.value),
                fitness.limits,
            )
        ]

    def _options(self) -> list[Any]:
        return [self._fit]

    def _shape(self) -> Any:
        frame = self._frame
        beside = tuple((lane.label, lane.kind) for lane in frame.others) if frame else ()
        return beside, self._fit.value


class EijView(View):
    """EI/J of each operator with its uncertainty; expected improvement; expected energy."""

    key, title = "estimates", "What each is worth"

    def _figures(self) -> list[LiveFigure]:
        self._metric = pmui.RadioButtonGroup(options=list(estimates.METRICS), value="EI/J", **SMALL)
        self._scale = pmui.Switch(label="log", value=True, **SMALL)
        self._metric.param.watch(self._redraw, "value")
        self._scale.param.watch(self._redraw, "value")

        def chosen(function: Any, frame: Frame) -> Any:
            return function(frame, self._metric.value, self._scale.value)

        def unit(frame: Frame) -> float:
            return estimates.unit_of(frame, self._metric.value) if self._scale.value else 0.0

        layers, element, limits = (
            partial(chosen, part)
            for part in (estimates.layers, estimates.element, estimates.limits)
        )
        return [LiveFigure(layers, element, limits, unit=unit)]

    def _options(self) -> list[Any]:
        return [self._metric, self._scale]

    def _shape(self) -> Any:
        return self._metric.value, self._scale.value


class SelectionView(View):
    """Which operators were chosen, and where the Joules went."""

    key, title = "selection", "What was chosen"

    def _figures(self) -> list[LiveFigure]:
        self._metric = pmui.RadioButtonGroup(
            options=list(selection.METRICS), value="choices", **SMALL
        )
        self._metric.param.watch(self._redraw, "value")
        return [
            LiveFigure(
                lambda frame: selection.layers(frame, self._metric.value, _chance(frame)),
                lambda frame: selection.element(frame, self._metric.value, _chance(frame)),
            )
        ]

    def _options(self) -> list[Any]:
        return [self._metric]

    def _shape(self) -> Any:
        return self._metric.value


def _chance(frame: Frame) -> bool:
    """Tell whether the paper's P(o1) speaks about this rule."""
    return rule_of(frame.selector).chance


class DecisionView(View):
    """The next decision laid open: beliefs, draws, priorities, the winner and why."""

    key, title = "decision", "The next decision"
    is_watched = False

    def _figures(self) -> list[LiveFigure]:
        self._table = pn.pane.HTML(
            "", sizing_mode="stretch_width", stylesheets=[PAGE_CSS], margin=(4, 12)
        )
        return [
            LiveFigure(
                partial(decision.layers, side=side),
                partial(decision.element, side=side),
                partial(decision.limits, side=side),
                decision.title,
            )
            for side in decision.SIDES
        ]

    def _body(self) -> list[Any]:
        sides = [
            pn.Column(figure.pane, sizing_mode="stretch_width", min_width=260, min_height=240)
            for figure in self.figures
        ]
        return [
            pmui.FlexBox(
                *sides,
                sizing_mode="stretch_width",
                sx={
                    "display": "grid",
                    "gridTemplateColumns": "repeat(auto-fit, minmax(min(100%, 290px), 1fr))",
                },
            ),
            self._table,
        ]

    def _draw(self, frame: Frame, story: Any) -> None:
        super()._draw(frame, story)
        self._table.object = f"{reason_of(frame)}{decision_table(frame)}"


class EnergyView(View):
    """Joules per application of each operator, as violins."""

    key, title = "energy", "What an application costs"
    is_watched = False

    def _figures(self) -> list[LiveFigure]:
        return [LiveFigure(energy.layers, energy.element, energy.limits, attrgetter("energy"))]


class CompareView(FitnessView):
    """The fitness view with a table of the compared runs at the same Joules."""

    def _figures(self) -> list[LiveFigure]:
        self._table = pn.pane.HTML(
            "", sizing_mode="stretch_width", stylesheets=[PAGE_CSS], margin=(2, 12, 8, 12)
        )
        return super()._figures()

    def _body(self) -> list[Any]:
        return [*super()._body(), self._table]

    def _draw(self, frame: Frame, story: Any) -> None:
        super()._draw(frame, story)
        self._table.object = lanes_table(frame)
