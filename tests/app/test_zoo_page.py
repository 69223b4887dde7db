"""The zoo's page without a browser: what it runs, draws, explains and hands out."""

import csv
import io
import json
import time

import holoviews as hv
import panel as pn
import pytest
from bokeh.document import Document
from bokeh.events import Tap

from app.pages.zoo.page import EMPTY, ZooPage
from app.pages.zoo.shipped import CASES, RULES, SETTINGS
from app.views.heat import heat_map_of
from eij_core.zoo import cells, frame_of_cells

LINK = "?page=zoo&cases=twin-10,single&rules=uniform,greedy&trials=2"
PATIENCE = 600.0


TWIN, UNIFORM = ["Twin at 10 times the price"], ["Uniform choice"]


@pytest.fixture
def shown(monkeypatch):
    """A page whose runs are small and interpreted."""
    whole = cells.sample

    def small(rule, case, algorithm, instances, trials, **settings):
        settings |= {"budget": 40.0, "compiled": False}
        return whole(rule, case, algorithm, ["nk:n=16,k=2"], trials, **settings)

    monkeypatch.setattr(cells, "sample", small)
    cells._static_best.cache_clear()
    made = ZooPage(LINK, "me")
    pn.Column(made.controls, made.main()).get_root(Document())
    yield made
    made.close()
    if made.job is not None:
        made.job.join(PATIENCE)
    cells._static_best.cache_clear()


def finish(shown):
    end = time.monotonic() + PATIENCE
    while shown.job is not None and time.monotonic() < end:
        shown.tick()
        time.sleep(0.01)


def test_it_opens_with_an_explanation_and_its_link(shown):
    assert shown.words.object == EMPTY
    assert not shown.picture.visible and shown.toolbar.stop.disabled
    assert shown.link() == LINK
    assert shown.tick() is False


def test_without_choices_it_opens_with_the_shipped_result():
    page = ZooPage("?page=zoo", "me")
    assert (len(page.cells), page.stage) == (len(RULES) * len(CASES), "shipped")
    assert {cell.trials for cell in page.cells} == {SETTINGS["trials"]}
    assert page.table.object.count("<tr>") == 1 + len(page.cells)


@pytest.mark.long
def test_it_runs_every_rule_in_every_case(shown):
    shown.start()
    assert shown.toolbar.run.disabled and not shown.toolbar.stop.disabled
    finish(shown)
    assert shown.stage == "finished", shown.alert.object
    found = [(cell.case, cell.rule) for cell in shown.cells]
    assert found == [(c, r) for c in ("twin-10", "single") for r in ("uniform", "greedy")]
    assert shown.picture.visible and shown.toolbar.progress.value == 100
    assert shown.table.object.count("<tr>") == 5
    assert not shown.toolbar.run.disabled and shown.toolbar.stop.disabled


def test_cells_that_come_later_have_their_place_in_the_map(shown):
    shown.start()
    finish(shown)
    first = frame_of_cells(shown.cells[:1])
    figures = [
        hv.render(heat_map_of(first, "wasted_share", awaited=awaited))
        for awaited in ((), shown._pairs)
    ]
    assert [figure.x_range.factors for figure in figures] == [TWIN, [*TWIN, "A single operator"]]
    assert [figure.y_range.factors for figure in figures] == [UNIFORM, ["Greedy EI/J", *UNIFORM]]


def test_a_click_on_a_cell_explains_it(shown):
    shown.start()
    finish(shown)
    figure = hv.render(shown.picture.object)
    # The first rule is on top, so it is the last on the axis; single has nobody to waste on.
    figure._trigger_event(Tap(figure, x=0.5, y=1.5))
    assert "at 10 times the price" in shown.words.object and UNIFORM[0] in shown.words.object
    figure._trigger_event(Tap(figure, x=0.5, y=0.5))
    assert "Greedy EI/J" in shown.words.object
    before = shown.words.object
    figure._trigger_event(Tap(figure, x=9.5, y=0.5))
    assert shown.words.object == before


def test_the_other_value_is_drawn(shown):
    shown.start()
    finish(shown)
    shown.value.value = "behind"
    assert "Short of the best" in str(shown.picture.object.opts.get("plot").kwargs["title"])


def test_files_hold_all_cells(shown):
    shown.start()
    finish(shown)
    lines = [json.loads(line) for line in shown.to_json().getvalue().decode().splitlines()]
    rows = list(csv.DictReader(io.StringIO(shown.to_csv().getvalue().decode())))
    assert len(lines) == len(rows) == 4
    assert {"wasted_share", "final", "static_best"} <= set(lines[0])
    assert float(rows[0]["wasted_share"]) == pytest.approx(lines[0]["wasted_share"]["mean"])


def test_stop_ends_it_and_keeps_what_is_there(shown):
    shown._widgets["trials"].value = 40
    shown.start()
    shown.halt()
    finish(shown)
    assert shown.stage == "stopped"
    assert len(shown.cells) < 4
    assert not shown.toolbar.run.disabled


def test_nothing_to_run_is_said(shown):
    shown._widgets["rules"].value = []
    shown.start()
    assert shown.job is None
    assert shown.alert.visible and "Nothing to run" in shown.alert.object


def test_a_bad_link_is_told_and_harmless():
    shown = ZooPage("?page=zoo&cases=<script>&trials=7", "me")
    assert shown.alert.visible and "script" not in shown.alert.object
    assert shown._widgets["trials"].value == 7
