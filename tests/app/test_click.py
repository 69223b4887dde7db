"""The files of ours that a click on Run passes: to the loop, and back to what is drawn."""

import functools
import inspect
import re
import sys
import threading
import time
from pathlib import Path

import panel as pn
import pytest
from bokeh.core.has_props import HasProps
from bokeh.document import Document
from bokeh.models import ColumnDataSource

from app.server.shell import Shell
from eij_core.engine import execution

ROOT = Path(__file__).parents[2]
LINK = "?problem=tiny&algorithm=ils:steps=4&meter=model&budget=4 J&pace=0&compare=false"


def files_on_the_stack():
    """Our files that the present call has come through, the outermost first."""
    found = []
    frame = sys._getframe(1)
    while frame is not None:
        path = Path(frame.f_code.co_filename)
        if path.is_relative_to(ROOT):
            found.insert(0, str(path.relative_to(ROOT)))
        frame = frame.f_back
    return [name for name in dict.fromkeys(found) if name.startswith(("app/", "eij_core/"))]


@pytest.fixture
def walk(monkeypatch):
    """Our files on the stack when a thread starts, the loop is entered, a plot gets points."""
    stacks = {}

    def note(owner, method, key):
        original = getattr(owner, method)

        @functools.wraps(original)
        def noted(*args, **kwargs):
            stacks.setdefault(key, files_on_the_stack())
            return original(*args, **kwargs)

        monkeypatch.setattr(owner, method, noted)

    note(threading.Thread, "start", "click")
    note(execution, "advance", "loop")

    def set_property(source, name, value):
        HasProps.__setattr__(source, name, value)
        if name == "data" and "loop" in stacks and "tick" in stacks:
            stacks.setdefault("drawn", files_on_the_stack())

    monkeypatch.setattr(ColumnDataSource, "__setattr__", set_property)
    note(Shell, "tick", "tick")
    return stacks


@pytest.mark.long
def test_a_click_passes_at_most_12_files(walk, tiny_problems, monkeypatch):
    monkeypatch.setattr("app.server.heartbeat.REST", 0.0)
    shell = Shell(LINK)
    pn.Column(*shell.main, shell.side).get_root(Document())
    page = shell.pages["run"]
    shell.heart.heard = shell.heart.beat
    for _ in page.views:
        shell.tick()
        shell.heart.heard = shell.heart.beat
    walk.clear()
    page.bar.run.clicks += 1
    end = time.monotonic() + 60.0
    while "drawn" not in walk:
        assert time.monotonic() < end, page.controller.stage
        shell.tick()
        shell.heart.heard = shell.heart.beat
        time.sleep(0.005)
    shell.close()
    loop = Path(inspect.getfile(inspect.unwrap(execution.advance))).relative_to(ROOT)
    passed = list(dict.fromkeys([*walk["click"], *walk["loop"], str(loop), *walk["drawn"]]))
    assert len(passed) <= 12, passed
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    section = text.partition("## The files a click on Run passes")[2].partition("\n## ")[0]
    assert re.findall(r"(?m)^\d+\. `([^`]+)`", section) == passed
