"""Jobs: one thread, runs on the same Joules, controls that act, failures that are told."""

import dataclasses
import threading
import time

import pytest

from app.jobs import Contender, Job, rivals_of
from app.pool import Pool
from eij_core import Trial, solve
from tests.app import tiny


def start(*contenders, **options):
    options = {"turns": Pool(slots=1), **options}
    return Job(contenders, **options).start()


def until(condition, seconds=20.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.005)


def test_a_job_does_what_solve_does(tiny_trial):
    job = start(Contender("eij", tiny_trial))
    job.join(30)
    assert job.stage == "finished"
    assert job.results()[0].digest == solve(tiny_trial).digest


def test_the_mailbox_has_every_row(tiny_trial):
    job = start(Contender("eij", tiny_trial))
    job.join(30)
    (rows,) = job.take()
    assert rows.tobytes() == job.leader.rows().tobytes()


def test_compared_runs_go_on_together_and_undisturbed(tiny_trial):
    contenders = [Contender("eij", tiny_trial), *rivals_of(tiny_trial, ["flip-1", "flip-5"])]
    job = start(*contenders, pace=1.0)
    apart = 0.0
    while not job.over:
        if job.racers:
            shares = [racer.run.progress for racer in job.racers]
            apart = max(apart, max(shares) - min(shares))
        time.sleep(0.01)
    assert [c.label for c in contenders] == ["eij", "uniform", "only flip-1", "only flip-5"]
    assert apart < 0.25  # an application is about 1 % of this budget
    for contender, result in zip(contenders, job.results(), strict=True):
        assert result.digest == solve(contender.trial).digest


def test_the_pace_is_kept(tiny_trial):
    began = time.monotonic()
    job = start(Contender("eij", tiny_trial), pace=0.6)
    job.join(30)
    assert time.monotonic() - began > 0.5


def test_pause_step_resume_stop(tiny_trial):
    trial = dataclasses.replace(tiny_trial, budget="1 MJ")
    job = start(Contender("eij", trial), paused=True)
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
    rows = job.take()[0]
    assert rows["decision"][-1] == job.leader.result().spent.decisions


def test_alpha_acts_on_the_running_search(tiny_trial):
    job = start(Contender("eij", dataclasses.replace(tiny_trial, budget="1 MJ")))
    until(lambda: job.tally is not None)
    job.control.adjust(alpha=0.25)
    until(lambda: job.leader.selector.alpha == 0.25)
    job.control.adjust(no_such_thing=1)
    until(lambda: job.notice)
    assert not job.over
    job.control.stop()
    job.join(10)
    assert [change.name for change in job.results()[0].changes] == ["alpha"]


@pytest.mark.parametrize("problem", ["not-a-number", "raises"])
def test_a_failure_is_told_without_secrets(tiny_problems, problem, caplog):
    trial = Trial(**{**tiny.TINY, "problem": problem}, budget="50 J")
    job = start(Contender("eij", trial))
    job.join(20)
    assert job.stage == "failed"
    assert job.error
    assert __file__.rpartition("/")[0] not in job.error
    assert "Traceback" not in job.error
    assert ("not a number" in job.error) == (problem == "not-a-number")


def test_an_unavailable_meter_is_told(tiny_problems):
    job = start(Contender("eij", Trial(**{**tiny.TINY, "meter": "paper"})))
    job.join(20)
    assert job.stage == "failed"
    assert "model" in job.error


def test_threads_end_with_their_jobs(tiny_trial):
    def threads():
        return sum(thread.name == "eij-run" for thread in threading.enumerate())

    before = threads()
    trial = dataclasses.replace(tiny_trial, budget="1 MJ")
    jobs = [start(Contender("eij", trial)) for _ in range(5)]
    for job in jobs:
        until(lambda job=job: job.tally is not None)
        job.control.stop()
        job.join(10)
    assert threads() == before


def test_a_stopped_job_never_starts(tiny_trial):
    turns = Pool(slots=1)
    with turns.turn("other"):
        job = start(Contender("eij", tiny_trial), turns=turns)
        job.control.stop()
    job.join(10)
    assert job.stage == "stopped"
    assert job.leader is None


def test_a_public_server_ends_long_runs(tiny_trial, monkeypatch):
    monkeypatch.setattr("app.jobs.limits", lambda: dataclasses.replace(_limits(), seconds=0.05))
    job = start(Contender("eij", dataclasses.replace(tiny_trial, budget="1 MJ")))
    job.join(20)
    assert "this server" in job.leader.reason


def _limits():
    from app.limits import Limits

    return Limits()
