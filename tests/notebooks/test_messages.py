"""What a notebook's page returns to the kernel, and what becomes of another page or widget."""

import logging
from pathlib import Path

import bokeh
import panel as pn
import pytest

pytest.importorskip("jupyter_bokeh")

from app import FitnessView
from app.internals import jupyter
from app.notebook import display
from app.notebook.jupyter import MESSAGES
from eij_core import Trial, solve

BOKEH = Path(bokeh.__file__).parent / "server/static/js"
SCRIPTS = [
    *(BOKEH / f"{part}.min.js" for part in ("bokeh", "bokeh-widgets", "bokeh-tables")),
    Path(pn.__file__).parent / "dist/panel.min.js",
]

# A range in a document; what listeners are told of changes from the kernel and from the reader.
TOLD = """() => {
  const {Document} = Bokeh.require("document")
  const document = new Document()
  const {Range1d} = Bokeh.require("models/ranges/range1d")
  const range = new Range1d({start: 1, end: 9})
  document.add_root(range)
  const told = []
  document.on_change((event) => told.push([event.kind, range.start]))
  const model = range.ref()
  document.apply_json_patch({events: [
    {kind: "ModelChanged", model, attr: "start", new: 2},
    {kind: "TitleChanged", title: "from the kernel"},
  ]})
  range.start = 3
  return told
}"""
MANAGER = """() => {
  const models = Bokeh.require("base").default_resolver
  return models.get("panel.models.comm_manager.CommManager").prototype.eij_mended === true
}"""


@pytest.fixture
def blank(page):
    """A page with Bokeh and Panel that keeps its errors."""
    page.wrongs = []
    page.on("pageerror", lambda error: page.wrongs.append(str(error)))
    page.goto("about:blank")
    for script in SCRIPTS:
        page.add_script_tag(path=script)
    return page


@pytest.mark.ui
def test_what_came_from_the_kernel_does_not_go_back(blank):
    by_itself = [["ModelChanged", 2], ["TitleChanged", 2], ["ModelChanged", 3]]
    assert blank.evaluate(TOLD) == by_itself
    for _ in range(2):  # two cells may prepare the same page
        blank.evaluate(MESSAGES)
        assert blank.evaluate(TOLD) == by_itself[1:]
    assert blank.evaluate(MANAGER)
    assert blank.wrongs == []


# A kernel as the notebook's extension makes one; when it is greeted, and by what.
GREETED = """() => new Promise((resolve) => {
  window.PyViz.kernels.plot = {
    connectToComm: (name) => ({open: (data) => resolve([name, data, performance.now() - began])}),
  }
  const began = performance.now()
  window.PyViz.kernels.plot.connectToComm("me").open("hello")
})"""


@pytest.mark.ui
def test_the_kernel_is_greeted_when_it_can_hear(blank):
    blank.evaluate("window.PyViz = {kernels: {}}")
    blank.evaluate(MESSAGES)
    name, data, after = blank.evaluate(GREETED)
    assert (name, data) == ("me", "hello")
    assert after >= 299


@pytest.mark.ui
@pytest.mark.parametrize(
    "change",
    [
        "delete Bokeh.require('document').Document.prototype._trigger_on_change",
        "Bokeh.require = () => { throw new Error('moved') }",
        "delete window.Bokeh",
    ],
)
def test_another_bokeh_is_left_alone(blank, change):
    blank.evaluate(f"() => {{ {change} }}")
    blank.evaluate(MESSAGES)
    blank.wait_for_timeout(100)  # it looks again every 20 ms
    assert blank.wrongs == []


@pytest.fixture
def view():
    shown = FitnessView(
        solve(Trial("nk:n=20,k=3", "ils", budget="20 J"), compiled=False)
    ).__panel__()
    with pn.config.set(comms="ipywidgets"):
        yield shown


def bundle_of(view, caplog):
    with caplog.at_level(logging.WARNING, jupyter.__name__):
        bundle, _ = display._widget_bundle(view)
    (widget,) = display._widgets[view]
    assert bundle["application/vnd.jupyter.widget-view+json"]["model_id"] == widget.model_id
    return widget


def test_a_widget_talks_through_the_painter(view, caplog):
    widget = bundle_of(view, caplog)
    assert caplog.messages == []
    assert widget._sync_model not in widget._msg_callbacks.callbacks


def test_another_jupyter_bokeh_keeps_its_ways(view, caplog, monkeypatch):
    monkeypatch.setattr(jupyter, "WIDGET", (*jupyter.WIDGET, "_renamed"))
    widget = bundle_of(view, caplog)
    assert caplog.messages == [
        "this jupyter_bokeh has no _renamed: widgets work, but may be slow while a cell is busy"
    ]
    assert widget._msg_callbacks.callbacks == [widget._sync_model]
