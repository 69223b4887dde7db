"""A view: a figure, what it means in words, and its numbers in a table. Each view stands alone too.

>>> from .. import FitnessView  # doctest: +SKIP
>>> FitnessView(solve(Trial("nk", "ils", budget="1 kJ")))  # doctest: +SKIP
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import panel as pn
import panel_material_ui as pmui
from jinja2 import Environment, FileSystemLoader

from eij_core import Run, Scheduler

from ..text.escape import text
from ..text.formulas import formula
from ..text.labels import labels_of
from ..text.numbers import number
from ..text.tables import row, table
from .layer import thinned
from .live_figure import LiveFigure
from .panes import figure_place, html_pane
from .plot import Plot
from .snapshot import Snapshot, snapshot_of_result, snapshot_of_run, tally_of

NEVER = 2**31 - 1
"""Milliseconds until a tooltip comes: it would cover what the button opens. It names the button."""
SMALL: dict[str, Any] = {"size": "small", "margin": (0, 4), "align": "center"}
WORDS = Environment(loader=FileSystemLoader(Path(__file__).with_name("words")))
"""The explanations by view; their `rule` is `RuleLabels.rule`."""
WORDS.filters["formula"] = formula
ROWS = 12
"""Moments of a run that a table shows."""


class Screen:
    """How views reach their reader: on a served page, at once and in the thread that asks.

    A notebook needs more; `app.notebook` puts a screen of its own into `View.screen`.
    """

    has_titles: ClassVar[bool] = False
    """Whether figures show how their Joules are known; the page says it once, files always."""

    def draw(self, task: Callable[[], None]) -> None:
        """Draw what code has asked for."""
        task()

    def is_connected(self, card: Any) -> bool:
        """Tell whether every page that shows a card receives its changes."""
        return True

    def update(self, view: View) -> None:
        """Bring a view up to date."""
        view.catch_up()

    def bundle(self, viewer: Any, include: Any, exclude: Any) -> Any:
        """Return what a cell of a notebook shows."""
        return viewer.__panel__()._repr_mimebundle_(include, exclude)


class View(pn.viewable.Viewer):
    """A card with a title, a plot, its explanation and its table.

    Parameters
    ----------
    source : Result, Run, Scheduler, LiveRun or Snapshot, optional
        What to show; a `LiveRun` is followed, of a `Run` or `Scheduler` its present state is shown.
    """

    screen: ClassVar[Screen] = Screen()
    key: ClassVar[str] = ""
    """Its name in CSS, and that of its explanation in `words`."""
    title: ClassVar[str] = ""
    plot: ClassVar[type[Plot]]
    """What its figure draws; the fields of the plot are the values of the options."""
    is_watched: ClassVar[bool] = True
    """Whether it shows something that moves; numbers are read, and need fewer frames."""

    def __init__(self, source: Any = None, **params: Any) -> None:
        super().__init__(**params)
        self._snapshot: Snapshot | None = None
        self._late: tuple[Snapshot, Any] | None = None
        """What is not drawn yet."""
        self._turns = 0
        self._explained: str | None = None
        self.options = self._options()
        for option in self.options:
            option.param.watch(self._redraw, "value")
        self.figures = [LiveFigure(self.screen.has_titles) for _ in self.plots()]
        self._card = self._layout()
        if source is not None:
            self.bind(source)

    def bind(self, source: Any) -> None:
        """Show a result, a run or a snapshot; follow a `LiveRun`.

        A run that one pulls oneself is shown as it stands, so bind it again as it goes on::

            for block in run:
                view.bind(run)
        """
        if hasattr(source, "follow"):
            source.follow(self)
        elif isinstance(source, Run | Scheduler):
            run = source.run if isinstance(source, Scheduler) else source
            with source.turn() if isinstance(source, Scheduler) else nullcontext():
                rows = run.rows()
                snapshot = snapshot_of_run(run, rows, tally_of(run))
            self.screen.draw(partial(self.show, snapshot, (id(run), len(rows))))
        else:
            snapshot = source if isinstance(source, Snapshot) else snapshot_of_result(source)
            self.screen.draw(partial(self.show, snapshot, None))

    def show(self, snapshot: Snapshot, story: Any = None) -> None:  # type: ignore[override]
        """Bring the view up to a snapshot; see `LiveFigure.show`."""
        self._snapshot = snapshot
        self._late = (snapshot, story)
        self.screen.update(self)

    def catch_up(self) -> bool:
        """Draw what is new, unless some page does not listen yet; return whether to try again."""
        if self._late is None:
            return False
        if not self.screen.is_connected(self._card):
            return True
        (snapshot, story), self._late = self._late, None
        self._draw(snapshot, story)
        return False

    def __panel__(self) -> Any:
        if self._late is not None:
            self._draw(*self._late)
        return self._card

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Any:
        return self.screen.bundle(self, include, exclude)

    # --- what the views differ in ---

    def plots(self) -> tuple[Plot, ...]:
        """Return what is drawn, with the options as they are set."""
        return (self.plot(*(option.value for option in self.options)),)

    def table(self, snapshot: Snapshot) -> str:
        """Return the view as a sentence and a table: for people who cannot see a canvas."""
        return ""

    def _options(self) -> list[Any]:
        """Return the widgets beside the title; the plots depend on their values."""
        return []

    def _body(self) -> list[Any]:
        """Return what stands between the explanation and the table."""
        return [figure_place(figure.pane, min_height=300) for figure in self.figures]

    def _draw(self, snapshot: Snapshot, story: Any) -> None:
        self._write(snapshot)
        for figure, plot in zip(self.figures, self.plots(), strict=True):
            figure.show(plot, snapshot, (story, self._turns))

    # --- what they share ---

    def _redraw(self, *_: Any) -> None:
        self._turns += 1
        if self._snapshot is not None:
            with pn.io.hold():
                self.show(self._snapshot, None)

    def _write(self, snapshot: Snapshot) -> None:
        """Bring explanation and table up to date; the table only while it is open."""
        rule = labels_of(snapshot.selector).rule
        if rule != self._explained:
            self._explained = rule
            words = WORDS.get_template(f"{self.key}.html").render(rule=rule)
            self._help.object = f'<div class="words">{words}</div>'
        if self._data.visible:
            self._data.object = self.data(snapshot)

    def data(self, snapshot: Snapshot) -> str:
        """Return the table, or why there is none yet."""
        if not len(snapshot.rows):
            return "<p class='words quiet'>Nothing has been drawn yet.</p>"
        return self.table(snapshot)

    def _layout(self) -> Any:
        self._help, self._data = (html_pane((0, 12, 8, 12), visible=False) for _ in range(2))
        buttons = [self._button("help_outline", "What am I seeing?", self._help)]
        if type(self).table is not View.table:
            words = "The same in words and numbers:"
            buttons.append(self._button("table_rows", words, self._data))
        title = html_pane((4, 6, 4, 12), f'<h2 class="view">{self.title}</h2>', sizing_mode=None)
        # Title and buttons stay together; the options go below them where there is no room beside.
        named = pmui.Row(title, *buttons, margin=0)
        head = pmui.FlexBox(
            named, pn.layout.HSpacer(), pmui.Row(*self.options, margin=0),
            align_items="center", flex_wrap="wrap", sizing_mode="stretch_width",
        )  # fmt: skip
        return pmui.Paper(
            head, self._help, *self._body(), self._data,
            variant="outlined", elevation=0, sizing_mode="stretch_width", margin=0,
            sx={"p": "10px 6px 4px 6px", "borderRadius": "12px", "overflow": "hidden"},
            css_classes=[f"view-{self.key}"],
        )  # fmt: skip

    def _button(self, icon: str, words: str, pane: Any) -> Any:
        """Return a button that opens and closes a pane."""

        def toggle(_: Any) -> None:
            pane.visible = not pane.visible
            if self._snapshot is not None:
                self._write(self._snapshot)

        button = pmui.IconButton(
            icon=icon, description=f"{words} {self.title}", size="small", margin=0,
            description_delay=NEVER, sx={"opacity": 0.8},
        )  # fmt: skip
        button.on_click(toggle)
        return button


def summary(words: str, heads: Iterable[str], rows: Iterable[str]) -> str:
    """Return a sentence above a table."""
    return f"<p class='words'>{words}</p>{table(heads, rows)}"


def course(words: str, snapshot: Snapshot, digits: int, **quantities: Any) -> str:
    """Return a sentence above a table of quantities as the run went on.

    Parameters
    ----------
    quantities : array, rows × operators
        By what the head of a column says of them.
    """
    used, axis, _ = snapshot.used
    names = [text(name) for name in snapshot.names]
    heads = [f"{name}: {quantity}" for name in names for quantity in quantities]
    table_ = np.stack(list(quantities.values()), axis=2).reshape(len(used), -1)
    rows = [
        row(number(used[i], 3), *(number(value, digits) for value in table_[i]))
        for i in moments(snapshot)
    ]
    return summary(words, (axis, *heads), rows)


def moments(snapshot: Snapshot) -> Any:
    """Return the places of the rows that a table shows."""
    return np.arange(len(snapshot.rows))[thinned(len(snapshot.rows), ROWS)]
