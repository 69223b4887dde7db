"""Records played again, in place of a run and in place of a meter."""

import dataclasses

import numpy as np
import pytest

from eij_core import Run, RunError, Trial, solve
from eij_core.control import Control, drive
from eij_core.meters.meter import Provenance
from eij_core.recorder import Record, RecordedRun, save
from tests.records.made import TRIAL


def test_a_record_plays_like_a_run(result):
    run = RecordedRun(Record.of(result), blocks=7)
    assert (run.names, run.trial, run.done) == (("flip-1", "flip-5"), TRIAL, False)
    assert len(run.rows()) == 1
    blocks, progress = [], [run.progress]
    for block in run:
        blocks.append(block)
        progress.append(run.progress)
    assert progress == sorted(progress)
    assert progress[-1] == 1.0
    assert [block.done for block in blocks] == [False] * (len(blocks) - 1) + [True]
    assert sum(block.decisions for block in blocks) == result.spent.decisions
    played = np.concatenate([result.rows[:1], *(block.rows for block in blocks)])
    assert played.tobytes() == result.rows.tobytes() == run.rows().tobytes()
    assert run.reason == result.reason
    again = run.result()
    assert again.digest == result.digest
    assert again.meter.provenance is Provenance.REPLAYED
    assert "recorded as simulated" in again.meter.notes
    ledger = run.ledger
    assert ledger.applications.tolist() == [t.applications for t in result.operators]
    assert ledger.histogram.sum() == result.spent.decisions
    with pytest.raises(StopIteration):
        next(run)
    assert run.advance(3).decisions == 0


def test_a_record_midway(result):
    run = RecordedRun(Record.of(result))
    block = run.advance(12)
    assert (block.decisions, len(block.rows), block.done) == (12, 12, False)
    now = run.result()
    assert now.reason == "running"
    assert now.spent.decisions == 12
    assert now.spent.joules == result.rows["spent"][12] == 40.0 - run.left
    assert now.best.fitness == result.rows["best"][12]
    assert len(now.frame) == 13
    assert 0.0 <= run.seconds <= result.spent.seconds
    assert run.ledger.histogram.sum() == 0
    for refused in (lambda: run.adjust(alpha=0.1), run.explain):
        with pytest.raises(RunError, match="run its trial instead"):
            refused()
    run.stop()
    assert (run.done, run.reason, run.progress) == (True, "stopped", 1.0)
    run.stop("again")
    assert run.reason == "stopped"


def test_advancing_between_rows():
    sparse = solve(dataclasses.replace(TRIAL, every=5), compiled=False)
    run = RecordedRun(Record.of(sparse))
    assert [len(run.advance(2).rows) for _ in range(5)] == [0, 0, 1, 0, 1]
    while not run.done:
        run.advance(3)
    assert run.result().digest == sparse.digest


def test_a_record_can_be_driven(result):
    blocks = []
    control = Control()
    drive(RecordedRun(Record.of(result)), [blocks.append], control)
    assert sum(len(block.rows) for block in blocks) == len(result.rows) - 1
    paced = []
    drive(RecordedRun(Record.of(result)), [paced.append], Control(duration=0.2))
    assert sum(len(block.rows) for block in paced) == len(result.rows) - 1


def test_a_record_of_the_start_alone():
    run = Run(TRIAL, compiled=False)
    run.stop()
    recorded = RecordedRun(Record.of(run.result()))
    assert recorded.done
    assert recorded.reason == "stopped"


def test_the_replay_meter_reads_our_parquet(result, tmp_path):
    save(result, tmp_path / "a.parquet")
    trial = dataclasses.replace(TRIAL, meter=f"replay:file={tmp_path / 'a.parquet'}")
    run = Run(trial, compiled=False)
    run.advance(10)
    run.adjust(alpha=0.5)
    for _ in run:
        pass
    assert run.result().digest == result.digest


@pytest.mark.parametrize("selector", ["eij-plus", "kube", "log-ei"])
def test_a_replay_tells_the_rule_the_prices_that_it_knew(selector, tmp_path):
    trial = Trial("nk:n=20,k=3", "ils", selector, "paper", "300 J", seed=4, every=1)
    result = solve(trial, compiled=False)
    save(result, tmp_path / "a.parquet")
    again = dataclasses.replace(trial, meter=f"replay:file={tmp_path / 'a.parquet'}")
    assert solve(again, compiled=False).digest == result.digest
