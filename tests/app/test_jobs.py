"""Jobs: one thread, runs on the same Joules, controls that act, failures that are told."""

import dataclasses
import threading
import time
from contextlib import contextmanager

import pytest

from app.background.jobs import RunJob, baselines_of
from app.background.turns import Turns
from eij_core import Trial, solve
from eij_core.drive import Lane
from tests.app import tiny


def start(*lanes, **options):
    options = {"turns": Turns(slots=1), **options}
    return RunJob(lanes, **options).start()


def until(condition, seconds=20.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.005)


def test_a_job_does_what_solve_does(tiny_trial):
    job = start(Lane(tiny_trial, "eij"))
    job.join(30)
    assert job.stage == "finished"
    assert job.leader.result().digest == solve(tiny_trial).digest


def test_the_lane_has_every_row(tiny_trial):
    job = start(Lane(tiny_trial, "eij"))
    job.join(30)
    assert job.lanes[0].rows.tobytes() == job.leader.rows().tobytes()


class Watching(Turns):
    """Turns that note, in the thread that computes, how far apart the lanes are after each."""

    def __init__(self, lanes):
        super().__init__(slots=1)
        self.lanes, self.apart = lanes, []

    @contextmanager
    def turn(self, *args, **options):
        with super().turn(*args, **options):
            yield
        if all(lane.run is not None for lane in self.lanes):
            shares = [lane.progress for lane in self.lanes]
            self.apart.append(max(shares) - min(shares))


def test_compared_runs_go_on_together_and_undisturbed(tiny_trial, pace_clock):
    lanes = [Lane(tiny_trial, "eij"), *baselines_of(tiny_trial, ["flip-1", "flip-5"])]
    turns = Watching(lanes)
    job = start(*lanes, pace=1.0, turns=turns)
    job.join(30)
    assert [lane.label for lane in lanes] == ["eij", "uniform", "only flip-1", "only flip-5"]
    assert len(turns.apart) > 20
    assert max(turns.apart) < 0.1  # an application is about 1 % of this budget
    for lane in lanes:
        assert lane.run.result().digest == solve(lane.trial).digest


def test_the_pace_is_kept(tiny_trial, pace_clock):
    began = pace_clock.monotonic()
    job = start(Lane(tiny_trial, "eij"), pace=60.0)
    job.join(30)
    assert pace_clock.monotonic() - began == pytest.approx(60.0, rel=0.05)


def test_pause_step_resume_stop(tiny_trial):
    trial = dataclasses.replace(tiny_trial, budget="1 MJ")
    job = start(Lane(trial, "eij"), paused=True)
    until(lambda: job.tally is not None)
    assert job.tally.decisions == 0
    job.control.step()
    until(lambda: job.tally.decisions == 1)
    job.control.step(2)
    until(lambda: job.tally.decisions == 3)
    chosen = job.tally.next.operator
    before = job.tally.tip["applications"][0].copy()
    job.control.step()
    until(lambda: job.tally.decisions == 4)
    # What the decision view announced is what happened: the draws were the ones that decided.
    assert (job.tally.tip["applications"][0] - before)[chosen] == 1
    job.control.resume()
    until(lambda: job.tally.decisions > 50)
    job.control.stop()
    job.join(10)
    assert job.stage == "stopped"
    rows = job.lanes[0].rows
    assert rows["decision"][-1] == job.leader.result().spent.decisions


def test_alpha_acts_on_the_running_search(tiny_trial):
    job = start(Lane(dataclasses.replace(tiny_trial, budget="1 MJ"), "eij"))
    until(lambda: job.tally is not None)
    job.control.adjust(alpha=0.25)
    until(lambda: job.leader.selector.alpha == 0.25)
    job.control.adjust(no_such_thing=1)
    until(lambda: job.control.refusal is not None)
    assert job.control.refusal.field == "selector"
    job.control.adjust(alpha=0.5)
    until(lambda: job.leader.selector.alpha == 0.5)
    assert job.control.refusal is None
    assert not job.over
    job.control.stop()
    job.join(10)
    assert [change.name for change in job.leader.result().changes] == ["alpha", "alpha"]


@pytest.mark.parametrize("problem", ["not-a-number", "raises"])
def test_a_failure_is_told_without_secrets(tiny_problems, problem, caplog):
    trial = Trial(**{**tiny.TINY, "problem": problem}, budget="50 J")
    job = start(Lane(trial, "eij"))
    job.join(20)
    assert job.stage == "failed"
    assert job.error
    assert __file__.rpartition("/")[0] not in job.error
    assert "Traceback" not in job.error
    assert ("not a number" in job.error) == (problem == "not-a-number")


def test_an_unavailable_meter_is_told(tiny_problems):
    job = start(Lane(Trial(**{**tiny.TINY, "meter": "paper"}), "eij"))
    job.join(20)
    assert job.stage == "failed"
    assert "model" in job.error


def test_threads_end_with_their_jobs(tiny_trial):
    def threads():
        return sum(thread.name == "eij-run" for thread in threading.enumerate())

    before = threads()
    trial = dataclasses.replace(tiny_trial, budget="1 MJ")
    jobs = [start(Lane(trial, "eij")) for _ in range(5)]
    for job in jobs:
        until(lambda job=job: job.tally is not None)
        job.control.stop()
        job.join(10)
    assert threads() == before


def test_a_stopped_job_never_starts(tiny_trial):
    turns = Turns(slots=1)
    with turns.turn("other"):
        job = start(Lane(tiny_trial, "eij"), turns=turns)
        job.control.stop()
    job.join(10)
    assert job.stage == "stopped"
    assert job.leader is None


def test_a_public_server_ends_long_runs(tiny_trial, monkeypatch):
    monkeypatch.setattr(
        "app.background.jobs.limits", lambda: dataclasses.replace(_limits(), seconds=0.05)
    )
    job = start(Lane(dataclasses.replace(tiny_trial, budget="1 MJ"), "eij"))
    job.join(20)
    assert "this server" in job.leader.reason


def _limits():
    from app.server.limits import VisitorLimits

    return VisitorLimits()
