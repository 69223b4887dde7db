"""The shell without a browser: pages, their links, and never a second frame on its way."""

import re
import time

import panel as pn
import pytest
from bokeh.document import Document
from panel.io.state import set_curdoc

from app.pages import PAGES, PageEntry
from app.pages.common.links import Choices
from app.server.shell import Shell, serve_page
from tests.app import tiny

LINK = "?problem=tiny&algorithm=ils:steps=4&meter=model&budget=4 J&pace=0&compare=false"


class Counting:
    """A page that always has something new."""

    def __init__(self, query, owner):
        self.query, self.owner = query, owner
        self.controls = pn.pane.Str("side")
        self.losses = []
        self.closed = False

    def main(self):
        return pn.pane.Str("middle")

    def tick(self, lost=False):
        self.losses.append(lost)
        return True

    def link(self):
        return "?page=counting"

    def close(self):
        self.closed = True


@pytest.fixture
def counting(monkeypatch, tiny_problems):
    monkeypatch.setitem(PAGES, "counting", PageEntry("Counting", f"{__name__}:Counting"))


@pytest.fixture
def shell(counting, monkeypatch):
    # The rest after a frame is of all pages, and the ticks of these tests follow at once.
    monkeypatch.setattr("app.server.heartbeat.REST", 0.0)
    monkeypatch.setattr("app.server.heartbeat.Heartbeat._busy_until", 0.0)
    monkeypatch.setattr("app.server.heartbeat.Heartbeat._next", (None, 0.0))
    made = Shell(LINK)
    pn.Column(*made.main, made.side).get_root(Document())
    made.heart.heard = made.heart.beat
    yield made
    made.close()


@pytest.mark.long
def test_a_page_is_built_when_its_tab_is_opened(shell):
    assert list(shell.pages) == ["run"]
    assert shell.link().startswith("?lesson=&problem=tiny")
    shell.tabs.active = list(PAGES).index("counting")
    page = shell.pages["counting"]
    assert shell.link() == "?page=counting"
    assert [side.visible for side in shell.side] == [False, True]
    shell.tabs.active = 0
    shell.tabs.active = list(PAGES).index("counting")
    assert shell.pages["counting"] is page
    shell.close()
    assert page.closed


def test_a_link_opens_its_page_and_builds_no_other(counting):
    shell = Shell("?page=counting&choice=7")
    assert list(shell.pages) == ["counting"]
    assert shell.pages["counting"].query == "?page=counting&choice=7"
    assert shell.pages["counting"].owner is shell
    assert shell.tabs.active == list(PAGES).index("counting")


@pytest.mark.parametrize("query", ["?page=nowhere", "?page=", "?" + "a" * 5000, "?" + "a=1&" * 60])
def test_a_bad_link_opens_the_first_page(counting, query):
    assert list(Shell(query).pages) == ["run"]


def test_no_second_frame_while_one_is_on_its_way(shell):
    shell.tabs.active = list(PAGES).index("counting")
    page = shell.pages["counting"]
    for _ in range(20):  # the browser does not answer
        shell.tick()
    assert page.losses == [False]
    shell.heart.heard = shell.heart.beat
    shell.tick()
    assert page.losses == [False, False]


def test_a_browser_that_was_away_gets_everything_anew(shell, monkeypatch):
    shell.tabs.active = list(PAGES).index("counting")
    shell.tick()
    later = time.monotonic() + 60.0
    monkeypatch.setattr("app.server.heartbeat.time.monotonic", lambda: later)
    shell.tick()
    assert shell.pages["counting"].losses == [False, True]


@pytest.mark.long
def test_a_run_is_drawn_only_as_fast_as_the_browser_draws(shell):
    dashboard = shell.pages["run"]
    while dashboard._awake < len(dashboard.views):
        shell.tick()
        shell.heart.heard = shell.heart.beat
    dashboard.controller.start()
    end = time.monotonic() + 60.0
    while not dashboard.controller.job.over:
        assert time.monotonic() < end
        time.sleep(0.01)
    sent = shell.heart.beat
    for _ in range(5):
        shell.tick()
    assert shell.heart.beat == sent + 1


def test_choices_refuse_what_the_widget_cannot_have():
    def widgets():
        return {
            "case": pn.widgets.Select(options={"Twin": "twin-10", "Null": "null"}, value="twin-10"),
            "rules": pn.widgets.MultiChoice(options=["eij", "uniform"], value=["eij"]),
            "trials": pn.widgets.IntInput(value=20, start=1, end=100),
            "share": pn.widgets.FloatInput(value=0.5, start=0.0, end=1.0),
            "all": pn.widgets.Checkbox(value=False),
            "name": pn.widgets.TextInput(value=""),
        }

    good = "?page=zoo&case=null&rules=eij,uniform&trials=7&share=0.25&all=true&name=a b"
    choices = Choices("zoo", widgets(), good)
    assert choices.notice == ""
    again = Choices("zoo", widgets(), choices.link())
    assert {n: w.value for n, w in again.widgets.items()} == {
        **{"case": "null", "rules": ["eij", "uniform"], "trials": 7},
        **{"share": 0.25, "all": True, "name": "a b"},
    }
    bad = f"?case=Twin&rules=eij,x&trials=1e9&share=nan&all=1&name={'x' * 300}"
    refused = Choices("zoo", widgets(), bad)
    assert refused.notice.endswith("all, case, name, rules, share, trials.")
    assert refused.link() == "?page=zoo"
    assert Choices("zoo", widgets(), "?" + "x" * 5000).notice


def test_a_page_that_cannot_be_built_says_so(monkeypatch, caplog):
    def fail(*_):
        raise RuntimeError("secret of the server")

    monkeypatch.setattr("app.server.shell.Shell", fail)
    document = Document()
    with set_curdoc(document):
        serve_page()
    shown = str(document.to_json())
    assert "could not be opened" in shown
    number = re.search(r"as page (\w+)", shown)[1]
    assert f"page {number} failed" in caplog.text
    assert "secret" in caplog.text
    assert "secret" not in shown


def test_a_registered_page_has_a_home():
    for key, entry in PAGES.items():
        page = entry.build("", owner=None)
        assert page.link() == "" or page.link().startswith(f"?page={key}"), key
        page.close()


def test_tiny_is_what_the_link_says(shell):
    assert shell.pages["run"].settings.problem == tiny.TINY["problem"]


def test_no_frame_is_sent_before_the_page_is_loaded(monkeypatch):
    """Panel would put its beat off, and the next frame would wait until it counts as lost."""
    loaded = []
    monkeypatch.setattr(type(pn.state), "loaded", property(lambda _: bool(loaded)))
    shell = Shell()
    shell.heart.heard = 0
    shell.tick()
    assert shell.heart.beat == 0
    loaded.append(True)
    end = time.monotonic() + 60
    while shell.heart.beat == 0 and time.monotonic() < end:  # another page may have its turn
        shell.tick()
    assert shell.heart.beat == 1
    shell.close()
