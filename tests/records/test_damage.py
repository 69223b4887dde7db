"""Damaged, foreign and unreadable records are refused with the reason."""

import dataclasses
import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from eij_core import InputError, Trial, solve
from eij_core.engine.columns import columns_of
from eij_core.engine.histogram import BINS
from eij_core.records import RecordError, formats, load, save
from eij_core.records.formats import WRITERS, content_of
from eij_core.records.metadata import dumps, metadata_of, sealed


def tampered(path, change):
    """Rewrite a record with other metadata."""
    metadata, rows, _ = content_of(path.read_bytes())
    change(metadata)
    with path.open("wb") as file:
        WRITERS[path.suffix](sealed(metadata), rows, file)


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
    "histogram": lambda m: m["operators"][0].update(histogram=[[BINS], [1]]),
    "belief": lambda m: m["operators"][0].update(belief=[1.0]),
    "another operator": lambda m: m["operators"][0].update(name="flip-9"),
    "changes": lambda m: m.update(changes=[{"name": "alpha"}]),
    "no reason": lambda m: m.pop("reason"),
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
    data["eij"] = sealed(data["eij"])
    (tmp_path / "a.json").write_text(json.dumps(data), "utf-8")
    with pytest.raises(RecordError, match="is damaged"):
        load(tmp_path / "a.json")


def test_a_newer_schema(result, path):
    save(result, path)
    tampered(path, lambda m: m.update(schema=3))
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
    """Write a record with other columns than those of its rows."""

    def changed(rows, names):
        columns = columns_of(rows, names)
        change(columns)
        return columns

    metadata = metadata_of(result)
    if path.suffix == ".parquet":  # its writer would refuse them
        table = pa.table(changed(result.rows, metadata["names"]))
        pq.write_table(table.replace_schema_metadata({b"eij": dumps(metadata)}), path)
        return
    with pytest.MonkeyPatch.context() as patch, path.open("wb") as file:
        patch.setattr(formats, "columns_of", changed)
        WRITERS[path.suffix](metadata, result.rows, file)


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
    with pytest.raises(RecordError, match="has no rows" if name == "no rows" else "is damaged"):
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
    save(result, parquet)
    plain = pq.read_table(parquet)
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
    (tmp_path / "b.arrows").touch()
    with pytest.raises(RecordError, match="it is empty"):
        load(tmp_path / "b.arrows")


def test_names_that_no_record_is_written_to(result, tmp_path):
    with pytest.raises(InputError, match=r"\.csv, \.json, \.parquet"):
        save(result, tmp_path / "a.xlsx")
    with pytest.raises(InputError, match=r"did you mean '\.parquet'"):
        save(result, tmp_path / "a.parquett")
    assert list(tmp_path.iterdir()) == []


def test_a_trial_of_objects(tmp_path):
    from eij_core.problems.bits.external import External

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
    assert record.result().trial.name_of("problem") == "mine"
    with pytest.raises(InputError, match="problem = mine"):
        record.trial.make("problem")
