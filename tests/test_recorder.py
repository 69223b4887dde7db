"""Records: what is written is read, bit for bit; anything else is refused."""

import dataclasses
import json
import logging
import math
import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from eij_core import InputError, Run, RunError, Trial, solve
from eij_core.control import Control, drive
from eij_core.meters.meter import Provenance
from eij_core.record_data import seal
from eij_core.record_files import FORMATS, columns_of, rows_of, safe_cell
from eij_core.recorder import Record, RecordedRun, Recorder, RecordError, load, save
from eij_core.records import BINS, Belief, row_dtype
from eij_core.result import Change

SUFFIXES = sorted(FORMATS)
TRIAL = Trial("nk:n=16,k=2", selector="eij", meter="model", budget="40 J", every=1)


@pytest.fixture(scope="module")
def result():
    run = Run(TRIAL, compiled=False)
    run.advance(10)
    run.adjust(alpha=0.5)
    for _ in run:
        pass
    return run.result()


@pytest.fixture(params=SUFFIXES)
def path(request, tmp_path):
    return tmp_path / f"record{request.param}"


def same(a, b):
    """Whether two results are equal to the last bit."""
    assert a.rows.dtype == b.rows.dtype
    assert a.rows.tobytes() == b.rows.tobytes()
    assert a.digest == b.digest
    assert np.array_equal(a.best.x, b.best.x)
    assert a.best.x.dtype == b.best.x.dtype
    assert repr(a.best[1:]) == repr(b.best[1:])
    assert a.spent == b.spent
    for one, other in zip(a.operators, b.operators, strict=True):
        assert repr(one[:-2]) == repr(other[:-2])
        assert repr(tuple(map(float, one.belief))) == repr(tuple(map(float, other.belief)))
        assert np.array_equal(one.histogram, other.histogram)
    assert (a.trial, a.meter, a.reason) == (b.trial, b.meter, b.reason)
    assert (a.changes, a.energy) == (b.changes, b.energy)


def test_round_trip(result, path):
    save(result, path)
    record = load(path)
    same(record.result(), result)
    assert record.metadata == Record.of(result).metadata
    assert record.trial == TRIAL
    assert record.metadata["key"] == TRIAL.key
    assert record.frame.equals(result.frame)
    assert set(record.metadata["versions"]) == {"eij", "python", "numpy", "numba"}
    assert list(path.parent.iterdir()) == [path]


def test_a_record_can_be_written_again(result, path, tmp_path):
    save(Record.of(result), path)
    for suffix in SUFFIXES:
        again = tmp_path / f"again{suffix}"
        save(load(path), again)
        same(load(again).result(), result)


odd_floats = st.floats(allow_nan=True, allow_infinity=True) | st.sampled_from([-0.0, 5e-324])
names = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=8)


@st.composite
def odd_results(draw, result):
    """Results with whatever numbers and names there can be."""
    labels = draw(
        st.lists(names | st.sampled_from(["=1+1", "@x", "-a", "+b", "'c", '"', "a,b"]), min_size=1,
                 max_size=3)
    )  # fmt: skip
    k, size = len(labels), draw(st.integers(1, 4))
    rows = np.zeros(size, row_dtype(k))
    for name in ("gain", "joules", "best", "operator_joules", "beliefs"):
        rows[name] = draw(arrays(np.float64, rows[name].shape, elements=odd_floats))
    for name in ("evaluations", "applications"):
        whole = st.integers(-(2**63), 2**63 - 1)
        rows[name] = draw(arrays(np.int64, rows[name].shape, elements=whole))
    rows["decision"] = np.arange(size)
    rows["operator"] = draw(arrays(np.int64, size, elements=st.integers(-1, k - 1)))
    histogram = np.zeros(BINS, np.int64)
    histogram[draw(st.integers(0, BINS - 1))] = draw(st.integers(0, 2**62))
    totals = tuple(
        result.operators[0]._replace(
            name=label,
            gain=draw(odd_floats),
            histogram=histogram,
            belief=Belief(*[draw(odd_floats)] * 5),
        )
        for label in labels
    )
    best = result.best._replace(fitness=draw(odd_floats), gap=math.nan, optimum=-math.inf)
    changes = (Change(3, "alpha", 0.25), Change(4, "cost", True))
    return dataclasses.replace(
        result, rows=rows, operators=totals, best=best, changes=changes, energy={"band": [1.0]}
    )


@given(st.data(), st.sampled_from(SUFFIXES))
def test_odd_numbers_and_names_survive(result, tmp_path_factory, data, suffix):
    odd = data.draw(odd_results(result))
    path = tmp_path_factory.mktemp("odd") / f"a{suffix}"
    save(odd, path)
    back = load(path).result()
    assert back.digest == odd.digest
    assert [t.name for t in back.operators] == [t.name for t in odd.operators]
    for name in odd.rows.dtype.names:
        assert np.array_equal(
            back.rows[name], odd.rows[name], equal_nan=odd.rows[name].dtype.kind == "f"
        )
    assert repr(back.best[1:]) == repr(odd.best[1:])


def test_operators_of_the_same_name_stay_apart(result, path):
    twins = tuple(total._replace(name="twin") for total in result.operators)
    save(dataclasses.replace(result, operators=twins), path)
    assert load(path).rows.tobytes() == result.rows.tobytes()


def test_columns_and_rows(result):
    labels = tuple(total.name for total in result.operators)
    columns = columns_of(result.rows, labels)
    assert list(columns) == list(result.frame)
    assert rows_of(columns, labels).tobytes() == result.rows.tobytes()


def test_formulas_are_disarmed(result, tmp_path):
    evil = "=cmd|' /C calc'!A0"
    totals = (result.operators[0]._replace(name=evil), result.operators[1])
    save(dataclasses.replace(result, operators=totals), tmp_path / "a.csv")
    text = (tmp_path / "a.csv").read_text("utf-8")
    first, header, *lines = text.splitlines()
    assert first.startswith('"# eij record {') and first.endswith('}"')
    assert pd.read_csv(tmp_path / "a.csv", skiprows=1).columns[1] == "operator"
    assert f"'{evil}" in {line.split(",")[1] for line in lines}
    assert not any(cell.startswith("=") for line in lines for cell in line.split(","))
    assert f"applications:{evil}" in header
    assert load(tmp_path / "a.csv").names[0] == evil


@pytest.mark.parametrize("text", ["=a", "+a", "-a", "@a", "\ta", "\ra", "'a"])
def test_cells_that_look_like_formulas(text):
    assert safe_cell(text) == f"'{text}"


def test_json_is_json(result, tmp_path):
    save(result, tmp_path / "a.json")
    json.loads((tmp_path / "a.json").read_text("utf-8"), parse_constant=pytest.fail)


# --- refused --------------------------------------------------------------------------------------


def tampered(path, change):
    """Rewrite a record with other metadata."""
    form = FORMATS[path.suffix]
    metadata, columns = form.read(path.read_bytes())
    change(metadata)
    path.write_bytes(form.write({**metadata, "seal": seal(metadata)}, columns))


DAMAGE = {
    "no schema": lambda m: m.pop("schema"),
    "schema of words": lambda m: m.update(schema="1"),
    "schema 0": lambda m: m.update(schema=0),
    "no meter": lambda m: m.pop("meter"),
    "unknown provenance": lambda m: m["meter"].update(provenance="guessed"),
    "unknown field": lambda m: m["meter"].update(colour="red"),
    "no digest": lambda m: m.pop("digest"),
    "other digest": lambda m: m.update(digest="0" * 32),
    "other bits": lambda m: m["best"].update(x="1" + m["best"]["x"]),
    "bits of another kind": lambda m: m["best"].update(x=5),
    "bits beyond ASCII": lambda m: m["best"].update(x="é"),
    "spent": lambda m: m["spent"].pop("joules"),
    "an operator less": lambda m: m["operators"].pop(),
    "histogram": lambda m: m["operators"][0].update(histogram=[[BINS, 1]]),
    "belief": lambda m: m["operators"][0].update(belief=[1.0]),
    "changes": lambda m: m.update(changes=[[1]]),
    "no reason": lambda m: m.pop("reason"),
    "no energy": lambda m: m.pop("energy"),
    "trial of words": lambda m: m.update(trial="nk"),
    "no trial": lambda m: m.pop("trial"),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_damaged_metadata(result, path, name):
    save(result, path)
    tampered(path, DAMAGE[name])
    with pytest.raises(RecordError, match="is damaged"):
        load(path)


@pytest.mark.parametrize("names", [[1, 2], 3, []])
def test_damaged_names(result, tmp_path, names):
    save(result, tmp_path / "a.json")
    data = json.loads((tmp_path / "a.json").read_bytes())
    data["eij"]["names"] = names
    data["eij"]["seal"] = seal(data["eij"])
    (tmp_path / "a.json").write_text(json.dumps(data), "utf-8")
    with pytest.raises(RecordError, match="is damaged"):
        load(tmp_path / "a.json")


def test_a_newer_schema(result, path):
    save(result, path)
    tampered(path, lambda m: m.update(schema=2))
    with pytest.raises(RecordError, match="update eij"):
        load(path)


def test_flipped_bits_are_noticed(result, path):
    save(dataclasses.replace(result, rows=result.rows[:4]), path)
    original = path.read_bytes()
    truth = load(path)
    draw = np.random.default_rng(1)
    for at in draw.integers(0, 8 * len(original), 150):
        data = bytearray(original)
        data[at // 8] ^= 1 << (at % 8)
        path.write_bytes(bytes(data))
        try:
            record = load(path)
        except RecordError:
            continue
        assert record.metadata == truth.metadata
        assert record.frame.equals(truth.frame)  # nan is nan, whatever its bits


def test_cut_files_are_noticed(result, path):
    save(dataclasses.replace(result, rows=result.rows[:4]), path)
    original = path.read_bytes()
    for length in range(0, len(original) - 1, max(1, len(original) // 40)):
        path.write_bytes(original[:length])
        with pytest.raises(RecordError):
            load(path)


def edited(result, path, change):
    """Write a record with other columns."""
    metadata = dict(Record.of(result).metadata)
    columns = columns_of(result.rows, metadata["names"])
    change(columns)
    path.write_bytes(FORMATS[path.suffix].write(metadata, columns))


COLUMNS = {
    "a column less": lambda c: c.pop("best"),
    "a column more": lambda c: c.update(extra=c["best"]),
    "backwards": lambda c: c.update(spent=c["spent"][::-1].copy()),
    "decisions": lambda c: c.update(decision=c["decision"][::-1].copy()),
    "no rows": lambda c: c.update({key: value[:0] for key, value in c.items()}),
    "other rows": lambda c: c.update({key: value[:2] for key, value in c.items()}),
    "rows of different length": lambda c: c.update(best=c["best"][:-1]),
    "reals for whole numbers": lambda c: c.update(evaluations=c["evaluations"] + 0.5),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_damaged_columns(result, path, name):
    if name == "rows of different length" and path.suffix != ".json":
        pytest.skip("this form cannot even be written so")
    edited(result, path, COLUMNS[name])
    with pytest.raises(RecordError, match="is damaged"):
        load(path)


def test_more_damage_that_only_one_form_can_have(result, tmp_path):
    parquet, text, table = tmp_path / "a.parquet", tmp_path / "a.json", tmp_path / "a.csv"
    edited(result, parquet, lambda c: c.update(operator=c["operator"] + 7))
    save(result, text)
    data = json.loads(text.read_bytes())
    data["columns"]["gain"][1] = "many"
    text.write_text(json.dumps(data), "utf-8")
    save(result, table)
    rows = table.read_text("utf-8").replace("flip-1", "flip-9")
    for path in (parquet, text):
        with pytest.raises(RecordError, match="is damaged"):
            load(path)
    for bad in (rows, rows.replace("\n1,", "\n1_0,"), rows.replace(",0.", ",0x"), rows + '"'):
        table.write_text(bad, "utf-8")
        with pytest.raises(RecordError, match="is damaged"):
            load(table)
    for odd in ("[" * 100_000, '{"eij": ' * 50_000, '{"eij": NaN}', '{"eij": 1}', '{"eij": {}}'):
        text.write_text(odd, "utf-8")
        with pytest.raises(RecordError):
            load(text)
    columns = Record.of(result).metadata
    plain = pa.table(columns_of(result.rows, columns["names"])).replace_schema_metadata(
        {b"eij": json.dumps(columns).encode()}
    )
    missing = plain.set_column(2, "gain", pa.array([None] * len(result.rows), pa.float64()))
    pq.write_table(missing, parquet)
    with pytest.raises(RecordError, match="values are missing"):
        load(parquet)


def test_foreign_files(tmp_path):
    pq.write_table(pa.table({"a": [1]}), tmp_path / "a.parquet")
    (tmp_path / "b.parquet").write_bytes(b"PK\x03\x04")
    (tmp_path / "c.csv").write_text("a,b\n1,2\n", "utf-8")
    (tmp_path / "d.json").write_text('{"a": 1}', "utf-8")
    (tmp_path / "e.json").write_text("hello", "utf-8")
    for path in sorted(tmp_path.iterdir()):
        before = path.read_bytes()
        with pytest.raises(RecordError, match="is no record of EI/J"):
            load(path)
        assert path.read_bytes() == before


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(InputError, match="No such file"):
        load(tmp_path / "a.csv")
    with pytest.raises(InputError, match=r"\.csv, \.json, \.parquet"):
        load(tmp_path / "a.xlsx")
    with pytest.raises(InputError, match=r"did you mean '\.parquet'"):
        load(tmp_path / "a.parquett")


def test_a_trial_of_objects(tmp_path):
    from eij_core.problems.external import External

    trial = Trial(External(5, lambda x: float(x.sum())), meter="model", budget="3 J")
    save(solve(trial), tmp_path / "a.json")
    record = load(tmp_path / "a.json")
    assert record.metadata["components"]["problem"] == "External"
    assert len(record.frame) == len(record.rows)
    with pytest.raises(RecordError, match="made of objects"):
        _ = record.trial


def test_a_component_that_is_not_known_here(result, path):
    save(result, path)
    tampered(path, lambda m: m["trial"].update(problem="mine:n=3"))
    record = load(path)
    assert len(record.frame) == len(record.rows)
    with pytest.raises(InputError, match="problem = mine"):
        record.result()


# --- while a run goes on --------------------------------------------------------------------------


def test_the_recorder_writes_while_the_run_goes_on(path):
    run = Run(TRIAL, compiled=False)
    recorder = Recorder(path, run, pause=0.0)
    for block in run:
        recorder(block)
        recorder._due = 0.0
        record = load(path)
        assert record.spent.decisions == run.ledger.decisions[0]
    assert recorder.error is None
    same(load(path).result(), run.result())
    before = path.stat().st_mtime_ns
    recorder.close()
    assert path.stat().st_mtime_ns == before


def test_the_recorder_waits_between_writings(tmp_path):
    run = Run(TRIAL, compiled=False)
    recorder = Recorder(tmp_path / "a.csv", run, pause=60.0)
    recorder(run.advance(1))
    assert not recorder.path.exists()
    run.stop("stopped")
    recorder.close()
    assert load(recorder.path).metadata["reason"] == "stopped"


def test_nothing_is_written_before_there_are_rows(tmp_path, monkeypatch):
    run = Run(TRIAL, compiled=False)
    monkeypatch.setattr(run, "rows", lambda: run.trace.rows(0))
    recorder = Recorder(tmp_path / "a.csv", run)
    recorder.close()
    assert not recorder.path.exists()


def test_a_bad_name_is_refused_at_once(tmp_path):
    with pytest.raises(InputError, match="record"):
        Recorder(tmp_path / "a.txt", Run(TRIAL, compiled=False))


def test_a_full_disk(tmp_path, monkeypatch, caplog):
    run = Run(TRIAL, compiled=False)
    recorder = Recorder(tmp_path / "a.parquet", run, pause=0.0)
    recorder(run.advance(5))
    prefix = load(recorder.path)

    def full(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch, caplog.at_level(logging.WARNING):
        patch.setattr("eij_core.record_data.write_durably", full)
        for _ in range(3):
            recorder._due = 0.0
            recorder(run.advance(5))
    assert recorder.error.errno == 28
    assert caplog.text.count("the run goes on") == 1
    assert load(recorder.path).digest == prefix.digest
    for block in run:
        recorder(block)
    assert recorder.error is None
    same(load(recorder.path).result(), run.result())


def test_a_disk_that_is_really_full(tmp_path):
    code = (
        "import resource, signal, sys; from eij_core import Run, Trial\n"
        "from eij_core.recorder import Recorder\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "run = Run(Trial('nk:n=16,k=2', 'ils', 'eij', 'model', '300 J', every=1), compiled=False)\n"
        "recorder = Recorder(sys.argv[1], run, pause=0.0)\n"
        "recorder(run.advance(20))\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))\n"
        "for block in run: recorder(block)\n"
        "recorder.close(); print(run.reason, recorder.error.errno)\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "a.csv")], capture_output=True, text=True,
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"}, check=True,
    )  # fmt: skip
    assert ended.stdout == "joules spent 27\n"
    assert "the run goes on" in ended.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["a.csv"]
    assert load(tmp_path / "a.csv").metadata["reason"] == "running"


# --- played again ---------------------------------------------------------------------------------


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
