"""The widgets' Python side, without a browser."""

import gc
import threading
import time
from typing import NamedTuple

import numpy as np
import pytest

pytest.importorskip("panel")

from app import CompareView, DecisionView, EijView, EnergyView, FitnessView, LiveRun, SelectionView
from app.notebook import jupyter
from eij_core import Run, RunError, Trial, solve
from eij_core.engine.kernel import kernel
from eij_core.problems.bits.external import External

VIEWS = (CompareView, DecisionView, EijView, EnergyView, FitnessView, SelectionView)
SMALL = {"problem": "nk:n=20,k=3", "algorithm": "ils", "budget": "100 J", "seed": 3}
OWN = {"algorithm": "ils:steps=5", "meter": "model", "budget": "2 J"}

pytestmark = pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")


@pytest.fixture(autouse=True)
def interpreted(monkeypatch):
    """Nothing here is about speed: do not wait for the compiler."""
    monkeypatch.setattr("numba.config.DISABLE_JIT", True)


@pytest.fixture
def live():
    made = []

    def make(*args, **kwargs):
        made.append(LiveRun(*args, **{"pace": 0.0, **kwargs}))
        return made[-1]

    yield make
    for each in made:
        each.stop()


def test_before_the_start(live):
    run = live(**SMALL)
    assert (run.stage, run.result, len(run.frame)) == ("idle", None, 0)


def test_run_and_read(live):
    run = live(**SMALL)
    run.run()
    run.wait(60)
    expected = solve(Trial(**SMALL), compiled=False)
    assert run.stage == "finished"
    assert run.result.digest == expected.digest
    assert run.frame.equals(expected.frame)


def test_pause_and_go_on(live):
    run = live(**SMALL, pace=600.0)
    run.run()
    while run.stage != "running":
        time.sleep(0.01)
    run.pause()
    assert run.stage == "paused"
    run.wait(60)
    before = -1
    while (decisions := run.result.spent.decisions) != before:  # the present chunk ends
        before = decisions
        time.sleep(1.0)
    assert run.result.reason == "running"
    run._settings.pace = 0.0
    run.run()
    run.wait(60)
    assert run.result.digest == solve(Trial(**SMALL), compiled=False).digest


def test_steps(live):
    run = live(**SMALL)
    run.step(3)
    run.wait(60)
    assert (run.stage, run.result.spent.decisions, len(run.frame)) == ("paused", 3, 4)
    run.step()
    run.wait(60)
    assert run.result.spent.decisions == 4


def test_alpha_while_it_runs(live):
    run = live(**SMALL, selector="eij")
    run.step()
    run.wait(60)
    run.adjust(alpha=0.25)
    run.run()
    run.wait(60)
    assert [(change.name, change.value) for change in run.result.changes] == [("alpha", 0.25)]


def test_a_refused_adjustment_is_shown(live):
    run = live(**SMALL, selector="eij")
    run.step()
    run.wait(60)
    run.adjust(alpha=2.0)
    end = time.monotonic() + 20
    while not run._error.visible:
        assert time.monotonic() < end
        time.sleep(0.02)
    assert "alpha" in run._error.object and "alpha" in str(run.problem)
    assert run.stage == "paused"
    run.adjust(alpha=0.25)
    while run._error.visible:
        assert time.monotonic() < end
        time.sleep(0.02)
    assert run.problem is None


def test_a_part_of_a_finished_run_is_replayed(live):
    run = live(**SMALL)
    run.run()
    run.wait(60)
    whole = len(run.views[0]._snapshot.rows)
    run._bar.replay.value = 50.0
    assert len(run.views[0]._snapshot.rows) == pytest.approx(whole / 2, abs=1)
    run._bar.replay.value = 100.0
    assert len(run.views[0]._snapshot.rows) == whole


def test_run_again_is_the_same_run(live):
    run = live(**SMALL)
    digests = []
    for _ in range(2):
        run.run()
        run.wait(60)
        digests.append(run.result.digest)
    assert digests[0] == digests[1]


def test_a_run_of_ones_own_goes_on_where_it_was(live):
    own = Run(Trial(**SMALL), compiled=False)
    own.advance(5)
    run = live(own)
    assert run.result.spent.decisions == 5
    run.run()
    run.wait(60)
    assert own.done
    assert own.result().digest == run.result.digest == solve(Trial(**SMALL), compiled=False).digest


@kernel
class Ones(NamedTuple):
    n: int

    def fitness(self, x):
        return float(x.sum())


@pytest.mark.parametrize("problem", [Ones(12), External(12, lambda x: float(np.sum(x)))])
def test_a_problem_of_ones_own(live, problem):
    run = live(problem=problem, **OWN)
    run.run()
    run.wait(60)
    assert run.result.best.fitness == 12.0


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_an_error_in_ones_own_code_is_shown(live):
    run = live(problem=External(12, lambda x: 1 / 0), **OWN)
    run.run()
    run.wait(60)
    assert run.stage == "failed"
    with pytest.raises(RunError, match="raised ZeroDivisionError: division by zero"):
        _ = run.result


@pytest.mark.parametrize("view", VIEWS)
def test_views_show_results_and_runs(view):
    run = Run(Trial(**SMALL), compiled=False)
    run.advance(10)
    assert len(view(run)._snapshot.rows) == len(run.rows())
    result = solve(Trial(**SMALL), compiled=False)
    assert len(view(result)._snapshot.rows) == len(result.rows)


@pytest.mark.parametrize("notebook", [False, True])
def test_a_run_that_one_pulls_oneself_is_bound_as_it_goes_on(notebook, monkeypatch):
    monkeypatch.setattr(jupyter, "kernel", lambda: Shell() if notebook else None)
    run = Run(Trial(**SMALL), compiled=False)
    view = FitnessView(run)
    drawn = []
    show = view.show

    def watched(frame, story):
        drawn.append((threading.current_thread().name, len(frame.rows)))
        show(frame, story)

    monkeypatch.setattr(view, "show", watched)
    sizes = []
    while not run.done:
        run.advance(3)
        view.bind(run)
        sizes.append(len(run.rows()))
    painter = "eij-painter" if notebook else threading.current_thread().name
    assert drawn == [(painter, size) for size in sizes]
    assert len(sizes) > 3


@pytest.mark.parametrize("view", VIEWS)
def test_views_follow_a_live_run(live, view):
    run = live(**SMALL)
    shown = view(run)
    run.run()
    run.wait(60)
    assert len(shown._snapshot.rows) == len(run.frame)


def test_views_say_how_the_joules_are_known(live):
    run = live(**SMALL)
    run.step(5)
    run.wait(60)
    for view in run.views:
        for figure in view.figures:
            title = str(figure.pane.object.opts.get("plot").kwargs["title"])
            assert "simulated" in title


def test_a_forgotten_widget_leaves_no_thread():
    run = LiveRun(**SMALL, pace=600.0)
    run.run()
    while run.stage != "running":
        time.sleep(0.01)
    run.stop()
    run.wait(10)
    del run
    gc.collect()
    end = time.monotonic() + 10
    while any(t.name in ("eij-run", "eij-painter") for t in threading.enumerate()):
        assert time.monotonic() < end, threading.enumerate()
        time.sleep(0.05)


class Shell:
    """Stands for the notebook's shell: a cell that is run several times."""

    kernel = object()

    def __init__(self):
        self.user_ns, self.execution, self.cell = {}, 0, "a"

    def get_parent(self):
        header = {"msg_id": str(self.execution)}
        return {"header": header, "metadata": {"cellId": self.cell}}


def test_a_cell_run_again_stops_its_old_run(live, monkeypatch):
    shell = Shell()
    monkeypatch.setattr(jupyter, "kernel", lambda: shell)
    monkeypatch.setattr(jupyter, "_prepared", {id(shell): ("first", 0)})
    monkeypatch.setattr(jupyter, "_cells", {})
    first, second = live(**SMALL, pace=600.0), live(**SMALL, pace=600.0)
    shell.cell = "b"
    other = live(**SMALL, pace=600.0)
    for run in (first, second, other):
        run.run()
    shell.cell, shell.execution = "a", 1
    live(**SMALL)
    for run in (first, second):
        run.wait(20)
        assert run.stage == "stopped"
    assert other.stage in ("waiting", "compiling", "running")


def test_the_cell_that_loaded_all_loads_it_again(monkeypatch):
    """What it had loaded went with its old output, perhaps with the page."""
    shell, loaded = Shell(), []
    monkeypatch.setattr(jupyter, "kernel", lambda: shell)
    monkeypatch.setattr(jupyter, "_prepared", {})

    def load():
        loaded.append((shell.cell, shell.execution))
        jupyter._prepared[id(shell)] = jupyter._cell_of(shell)

    monkeypatch.setattr(jupyter, "extension", load)
    for cell, execution in (("a", 0), ("a", 0), ("b", 1), ("b", 2), ("a", 3), ("a", 3), ("b", 4)):
        shell.cell, shell.execution = cell, execution
        jupyter.prepare()
    assert loaded == [("a", 0), ("a", 3)]
