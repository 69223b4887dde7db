"""The page of profiles without a browser: real batches, a counter that ticks, and its bad days."""

import io
import json
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import panel as pn
import pytest
from bokeh.document import Document

from app.pages.profile.page import ProfilePage, profile_table
from eij_core.meters.counters.host_lock import HostLock
from eij_core.profiles.profile import Profile
from tests.app.tiny import PAYLOAD

FAKE = Path(__file__).parents[1] / "meters" / "fake_powercap.py"
LINK = "?page=profile&problem=tiny&algorithm=ils:steps=4&meter={}&batches={}"
PATIENCE = 120.0


@pytest.fixture(autouse=True)
def private_places(tmp_path, monkeypatch, tiny_problems):
    monkeypatch.setenv("EIJ_RAPL_LOCK", str(tmp_path / "rapl.lock"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("EIJ_POWERCAP_ROOT", str(tmp_path / "tree/class/powercap"))


@pytest.fixture
def ticking(tmp_path):
    """A powercap tree that a process keeps ticking."""
    spec = [{"zone": "0", "name": "package-0", "watts": 50}]
    command = [sys.executable, FAKE, tmp_path / "tree", "--spec", json.dumps(spec)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout.readline() == "ready\n"
        yield
        writer.kill()


def page_on(meter="model", batches=2):
    page = ProfilePage(LINK.format(meter, batches), "me")
    pn.Column(page.controls, page.main()).get_root(Document())
    return page


def until(page, stage):
    """Tick as the shell does, until the page says so."""
    end = time.monotonic() + PATIENCE
    while page.toolbar.stage.label != stage:
        assert time.monotonic() < end, f"{page.toolbar.stage.label}: {page.alert.object}"
        page.tick()
        time.sleep(0.02)


def finish(page):
    """Profile on the ticking tree; again, if the machine was too busy for the tree to tick."""
    for _ in range(5):
        page.start()
        end = time.monotonic() + PATIENCE
        while page.toolbar.stage.label not in ("Finished", "Failed") or page.job is not None:
            assert time.monotonic() < end, page.toolbar.stage.label
            page.tick()
            time.sleep(0.02)
        if "does not move" not in page.alert.object:
            break
    assert page.toolbar.stage.label == "Finished", page.alert.object


def test_a_profile_grows_batch_by_batch():
    page = page_on(batches=3)
    assert not page.tick()
    page.start()
    page.start()  # a second click does nothing
    assert page.toolbar.run.disabled and not page.toolbar.stop.disabled
    seen = set()
    end = time.monotonic() + PATIENCE
    while page.busy or page.job is not None:
        assert time.monotonic() < end
        if page.tick() and page.profile is not None:
            seen.add(len(page.profile.batches))
        time.sleep(0.005)
    assert page.toolbar.stage.label == "Finished" and page.toolbar.progress.value == 100
    assert max(seen) == 6
    assert "simulated Joules, meter model" in page.words.object
    assert "flip-1" in page.table.object and "per evaluation" in page.table.object
    assert page.figure.pane.object is not None
    assert not page.toolbar.run.disabled and page.toolbar.stop.disabled


def test_downloads_are_the_profile():
    page = page_on()
    assert all(download.disabled for download in page.downloads.values())
    with pytest.raises(RuntimeError, match="no profile"):
        page._file("json")
    page.start()
    until(page, "Finished")
    assert not page.downloads["json"].disabled
    assert page.downloads["json"].filename.endswith(".json")
    assert Profile.from_json(page._file("json").read().decode()) == page.profile
    frame = pd.read_parquet(io.BytesIO(page._file("parquet").read()))
    assert set(frame["provenance"]) == {"simulated"}


def test_stop_keeps_what_was_found():
    page = page_on(batches=200)
    page.start()
    end = time.monotonic() + PATIENCE
    while page.profile is None:
        assert time.monotonic() < end
        page.tick()
        time.sleep(0.01)
    page.halt()
    until(page, "Stopped")
    assert 0 < len(page.profile.batches) < 400
    assert not page.downloads["json"].disabled


def test_a_ticking_counter(ticking):
    page = page_on("powercap", 2)
    finish(page)
    kind = str(page.profile.meter.provenance)
    assert kind in ("measured", "attributed")  # a virtual machine's counter is attributed
    assert f"{kind} Joules, meter powercap" in page.words.object
    assert all(operator.joules > 0 for operator in page.profile.operators)
    HostLock().release()  # it was given back


def test_a_busy_counter_is_told_with_the_remedy(ticking):
    lock = HostLock()
    page = page_on("powercap")
    for _ in range(5):
        page.start()
        until(page, "Failed")
        if "does not move" not in page.alert.object:
            break
    lock.release()
    assert page.alert.visible and page.alert.severity == "error"
    assert "another run is being measured" in page.alert.object
    assert "sharing=shared" in page.alert.object
    finish(page)
    # A busy virtual machine has its time stolen, which is told as a warning.
    assert not page.alert.visible or page.alert.severity == "warning"


def test_no_counter_is_told():
    page = page_on("powercap")
    page.start()
    until(page, "Failed")
    assert "kernel without powercap/RAPL" in page.alert.object
    assert page.profile is None and page.downloads["json"].disabled


def test_an_operator_that_raises_gives_nothing_away():
    page = ProfilePage("?problem=raises&algorithm=ils:steps=4&meter=model", "me")
    page.start()
    until(page, "Failed")
    assert "unexpected error" in page.alert.object
    assert PAYLOAD not in page.alert.object and __file__ not in page.alert.object


def test_the_link_holds_the_choices():
    page = page_on("model:noise=0.5", 7)
    assert page.settings.meter == "model:noise=0.5" and page.batches.value == 7
    again = ProfilePage(page.link(), "you")
    assert again.link() == page.link()
    assert "page=profile" in page.link()
    bad = ProfilePage("?meter=replay&problem=nowhere&batches=1000", "you")
    assert bad.choices.notice.endswith("batches, meter, problem.")
    assert bad.alert.visible and bad.alert.severity == "warning"
    assert bad.settings.meter == "auto"


def test_a_bad_value_is_shown_at_its_field(monkeypatch):
    monkeypatch.setenv("EIJ_PUBLIC", "1")
    page = ProfilePage("?problem=nk:n=20000&algorithm=ils&meter=model", "me")
    page.start()
    assert page.job is None and not page.busy
    assert "at most" in (page.alert.object + page.pickers["problem"]._problem.object)


def test_closing_ends_the_work():
    page = page_on(batches=200)
    page.start()
    work = page.job
    page.close()
    work.join(PATIENCE)
    assert work.over


def test_names_are_escaped():
    page = page_on(batches=1)
    page.start()
    until(page, "Finished")
    from dataclasses import replace

    odd = replace(page.profile.operators[0], name=PAYLOAD)
    drawn = profile_table(replace(page.profile, operators=(odd,)))
    assert PAYLOAD not in drawn and "&lt;img" in drawn
