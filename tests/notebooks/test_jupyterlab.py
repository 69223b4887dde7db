"""The widget in a real JupyterLab, and a notebook served by `panel serve`."""

import json
import os
import re
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

import nbformat
import psutil
import pytest

pytest.importorskip("jupyterlab")

pytestmark = pytest.mark.ui

TOKEN = "for-the-test"
PATIENCE = 180.0
"""Seconds; a busy machine takes long to draw the first page."""

PREPARE = "from app.notebook.jupyter import extension\nextension"
LIVE = """
from app import LiveRun

live = LiveRun(problem="nk:n=20,k=3", algorithm="ils", budget="100 kJ", pace=900)
live.run()
live
"""
BUSY = """
import time
from pathlib import Path

while not Path("enough").exists():
    time.sleep(0.1)
print("busy while", live.stage)
"""
COUNT = """
import threading

print("threads:", sum(thread.name == "eij-run" for thread in threading.enumerate()))
"""

# Lengths of all columns of all data sources of all plots.
LENGTHS = """() => {
  const found = []
  for (const doc of globalThis.Bokeh?.documents ?? [])
    for (const model of doc._all_models.values())
      if (model.type === "ColumnDataSource") {
        const data = model.data
        const columns = data instanceof Map ? [...data.values()] : Object.values(data)
        found.push(columns.map((column) => column.length))
      }
  return found
}"""


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


def wait_for(condition, what):
    end = time.monotonic() + PATIENCE
    while not (found := condition()):
        assert time.monotonic() < end, what() if callable(what) else what
        time.sleep(0.2)
    return found


def answers(url):
    try:
        return urllib.request.urlopen(url, timeout=5).status == 200
    except (urllib.error.URLError, OSError):
        return False


def listens(port):
    """Whether somebody is there; asking for the page would execute the notebook."""
    with socket.socket() as caller:
        return caller.connect_ex(("127.0.0.1", port)) == 0


def stop(process):
    family = [*psutil.Process(process.pid).children(recursive=True), psutil.Process(process.pid)]
    for member in family:
        member.terminate()
    for member in psutil.wait_procs(family, timeout=10)[1]:
        member.kill()
    process.wait()


def environment(folder):
    places = {
        name: str(folder / name.lower())
        for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")
    }
    return {**os.environ, **places, "NUMBA_DISABLE_JIT": "1"}


def write(path, *cells):
    notebook = nbformat.v4.new_notebook()
    notebook.metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3 (ipykernel)"}}
    notebook.cells = [nbformat.v4.new_code_cell(cell.strip()) for cell in cells]
    nbformat.write(notebook, path)


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """Start a JupyterLab of our own; give its address, folder and process."""
    folder = tmp_path_factory.mktemp("lab")
    port = free_port()
    command = [
        *(sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root"),
        *("--ip=127.0.0.1", f"--port={port}", "--ServerApp.port_retries=0"),
        *(f"--IdentityProvider.token={TOKEN}", f"--ServerApp.root_dir={folder}"),
        *("--LabApp.news_url=", "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate"),
    ]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            command, stdout=log, stderr=log, env=environment(folder), cwd=folder
        )
    address = f"http://127.0.0.1:{port}"
    try:
        wait_for(lambda: answers(f"{address}/api?token={TOKEN}"), "JupyterLab does not answer")
        yield address, folder, process
    finally:
        stop(process)


@pytest.fixture
def watched(page):
    """A page that keeps what goes wrong on it, and whom it asks beyond this host."""
    page.set_default_timeout(1000 * PATIENCE)
    page.set_viewport_size({"width": 1400, "height": 1500})
    page.wrongs = []
    page.on("pageerror", lambda error: page.wrongs.append(str(error)))
    page.on(
        "console",
        lambda said: page.wrongs.append(said.text) if said.type == "error" else None,
    )

    def abroad(route):
        page.wrongs.append(f"asked for {route.request.url}")
        route.abort()

    page.route(re.compile(r"^https?://(?!127\.0\.0\.1)"), abroad)
    return page


def kernels(address):
    try:
        with urllib.request.urlopen(f"{address}/api/kernels?token={TOKEN}", timeout=30) as answer:
            return json.load(answer)
    except urllib.error.HTTPError:  # one is just being started
        return []


def kernel_processes(process):
    return {
        child.pid
        for child in psutil.Process(process.pid).children(recursive=True)
        if "ipykernel_launcher" in command_of(child)
    }


def command_of(process):
    try:
        return " ".join(process.cmdline())
    except psutil.NoSuchProcess:  # it has just ended
        return ""


PROMPTS = ".jp-CodeCell .jp-InputPrompt"


def prompt_of(page, number):
    return page.locator(PROMPTS).nth(number).inner_text()


def take(page, number, ask):
    """Ask until the kernel takes the cell: a Lab that is still connecting may let it go by.

    Even a star may be taken back then, so the first cell of a page has to end.
    """
    before = prompt_of(page, number)
    listens = any(re.search(r"\d", prompt) for prompt in page.locator(PROMPTS).all_inner_texts())
    end = time.monotonic() + PATIENCE
    while prompt_of(page, number) in (before, "[ ]:"):
        assert time.monotonic() < end, f"cell {number} does not run"
        ask()
        heard = time.monotonic() + 5
        while prompt_of(page, number) == before and time.monotonic() < heard:
            page.wait_for_timeout(100)
        while not listens and prompt_of(page, number) == "[*]:":
            assert time.monotonic() < end, f"cell {number} does not end"
            page.wait_for_timeout(100)


def run_cell(page, number):
    def press():
        page.locator(PROMPTS).nth(number).click()
        page.keyboard.press("Shift+Enter")

    take(page, number, press)


def run_all(page):
    def choose():
        page.get_by_role("menuitem", name="Run", exact=True).click()
        page.get_by_text("Run All Cells", exact=True).click()

    take(page, 0, choose)


def total(page):
    return sum(sum(lengths) for lengths in page.evaluate(LENGTHS))


def output_of(page, number):
    return (
        page.locator(".jp-CodeCell").nth(number).locator(".jp-OutputArea-output").all_inner_texts()
    )


def says(page, number, text):
    return [said.strip() for said in output_of(page, number)] == [text]


def opened(page, address, name):
    page.goto(f"{address}/lab/tree/{name}?reset&token={TOKEN}")
    page.wait_for_selector(".jp-Notebook .jp-CodeCell")
    wait_for(lambda: kernels(address), "no kernel")
    page.wait_for_selector(".jp-Notebook-ExecutionIndicator[data-status=idle]")
    no_news = page.get_by_role("button", name="No", exact=True)
    if no_news.count():
        no_news.first.click()


# Both ways of talking to the kernel; VS Code takes the second.
@pytest.mark.parametrize("route", ["default", "ipywidgets"])
def test_the_live_widget(lab, watched, route):
    address, folder, process = lab
    page = watched
    enough = folder / "enough"
    enough.unlink(missing_ok=True)
    write(folder / f"{route}.ipynb", f"{PREPARE}({route!r})\n{LIVE}", BUSY, COUNT)
    old = kernel_processes(process)
    opened(page, address, f"{route}.ipynb")
    run_cell(page, 0)
    page.wait_for_selector("canvas")
    first = total(page)
    wait_for(lambda: total(page) > first, "the plots stand still")
    assert not any("Error" in said for said in output_of(page, 0)), output_of(page, 0)

    # While another cell is busy plots change, no column outgrows its neighbours, Pause is heard.
    run_cell(page, 1)
    sizes = [total(page)]
    for _ in range(3):
        wait_for(lambda: total(page) > sizes[-1], f"the plots stand still: {sizes}")
        lengths = page.evaluate(LENGTHS)
        assert all(len(set(columns)) == 1 for columns in lengths), lengths
        sizes.append(sum(sum(columns) for columns in lengths))
    page.get_by_role("button", name="Pause").click()
    page.get_by_text("Paused", exact=True).wait_for()
    assert output_of(page, 1) == []
    enough.touch()
    wait_for(lambda: says(page, 1, "busy while paused"), lambda: output_of(page, 1))

    # A pause is a pause; a step is a step; the run goes on.
    decisions = page.get_by_text("decisions", exact=True).locator("..")
    before = decisions.inner_text()
    page.get_by_role("button", name="Step").click()
    wait_for(lambda: decisions.inner_text() != before, "no step is taken")
    before = total(page)
    page.get_by_role("button", name="Resume").click()
    wait_for(lambda: total(page) > before, "the run does not go on")

    # The cell once more: the old run stops, the new one is the only one.
    run_cell(page, 0)
    page.get_by_text("Running", exact=True).last.wait_for()
    run_cell(page, 2)
    wait_for(lambda: says(page, 2, "threads: 1"), lambda: output_of(page, 2))

    # A new kernel, and nothing left of the old one.
    mine = kernel_processes(process) - old
    assert len(mine) == 1
    page.get_by_role("menuitem", name="Kernel", exact=True).click()
    page.get_by_text("Restart Kernel…", exact=True).click()
    page.get_by_role("button", name="Confirm Kernel Restart").click()
    wait_for(lambda: not mine & kernel_processes(process), "the old kernel is still there")
    wait_for(lambda: len(kernel_processes(process) - old) == 1, "no new kernel")
    run_cell(page, 2)
    wait_for(lambda: says(page, 2, "threads: 0"), lambda: output_of(page, 2))
    assert page.wrongs == []


def test_run_all_with_a_busy_cell_below(lab, watched):
    """The widget need not wait for the cells behind it, not even to greet the kernel."""
    address, folder, _ = lab
    page = watched
    enough = folder / "enough"
    enough.unlink(missing_ok=True)
    write(folder / "all.ipynb", LIVE, BUSY)
    opened(page, address, "all.ipynb")
    run_all(page)
    page.wait_for_selector("canvas")
    first = total(page)
    wait_for(lambda: total(page) > first, "the plots wait for the cell below")
    page.get_by_role("button", name="Pause").click()
    page.get_by_text("Paused", exact=True).wait_for()
    assert output_of(page, 1) == []
    enough.touch()
    wait_for(lambda: says(page, 1, "busy while paused"), lambda: output_of(page, 1))
    assert page.wrongs == []


# A run that one pulls oneself, in a cell below the view.
PULLED = """
from app import EijView
from eij_core import Run, Trial

run = Run(Trial("nk:n=20,k=3", "ils", budget="100 J"), compiled=False)
view = EijView(run)
view
"""
PULL = """
for block in run:
    view.bind(run)
"""


def test_a_view_of_a_run_pulled_in_another_cell(lab, watched):
    address, folder, _ = lab
    page = watched
    write(folder / "pulled.ipynb", PULLED, PULL, "len(run.rows())")
    opened(page, address, "pulled.ipynb")
    run_all(page)
    wait_for(lambda: output_of(page, 2), "the run does not end")
    rows = int(output_of(page, 2)[0])
    wait_for(
        lambda: rows in {n for sizes in page.evaluate(LENGTHS) for n in sizes},
        lambda: f"of {rows} rows the page has {page.evaluate(LENGTHS)}",
    )
    assert page.wrongs == []


# A loop of one's own in the foreground, followed by the widget above it.
FOLLOWED = """
from app import LiveRun
from eij_core import Scheduler

scheduler = Scheduler(["near", "far"], meter="model", budget="1 MJ", every=1, compiled=False)
live = LiveRun(scheduler, views=("fitness", "selection"))
live
"""
LOOP = """
import time

for step in scheduler:
    time.sleep(0.01)
    step.gain, step.best = 1.0, float(scheduler.run.ledger.decisions[0])
print("ended while", live.stage)
"""


def test_views_follow_a_scheduler_while_its_loop_is_busy(lab, watched):
    address, folder, _ = lab
    page = watched
    write(folder / "loop.ipynb", FOLLOWED, LOOP)
    opened(page, address, "loop.ipynb")
    run_all(page)
    page.wait_for_selector("canvas")
    sizes = [total(page)]
    for _ in range(3):
        wait_for(lambda: total(page) > sizes[-1], f"the plots wait for the loop: {sizes}")
        sizes.append(total(page))
    assert output_of(page, 1) == []
    page.get_by_role("button", name="Stop").click()
    wait_for(lambda: says(page, 1, "ended while stopped"), lambda: output_of(page, 1))
    page.get_by_text("Stopped", exact=True).wait_for()
    assert page.wrongs == []


@pytest.fixture
def served(tmp_path):
    """Serve a notebook by `panel serve`."""
    port = free_port()
    path = tmp_path / "served.ipynb"
    write(path, LIVE)
    command = [
        *(sys.executable, "-m", "panel", "serve", str(path)),
        *("--address", "127.0.0.1", "--port", str(port)),
    ]
    with (tmp_path / "log").open("wb") as log:
        process = subprocess.Popen(
            command, stdout=log, stderr=log, env=environment(tmp_path), cwd=tmp_path
        )
    try:
        wait_for(lambda: listens(port), "it is not served")
        yield f"http://127.0.0.1:{port}/served"
    finally:
        stop(process)


def test_a_notebook_served_as_a_page(served, watched):
    page = watched
    page.goto(served)
    page.wait_for_selector("canvas")
    first = total(page)
    wait_for(lambda: total(page) > first, "the plots stand still")
    page.get_by_role("button", name="Pause").click()
    page.get_by_text("Paused", exact=True).wait_for()
    assert page.wrongs == []
