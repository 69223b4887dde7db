"""Records survive every form they can be written in, to the last bit."""

import dataclasses
import json
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from eij_core.engine.columns import columns_of, rows_of
from eij_core.engine.histogram import BINS
from eij_core.engine.rows import row_dtype
from eij_core.protocols import Belief
from eij_core.records import Record, load, read, save, write
from eij_core.records.formats import safe_cell
from eij_core.result import Change
from tests.records.made import SUFFIXES, TRIAL, same


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


def test_the_content_tells_the_form_not_the_name(result, path):
    save(result, path)
    renamed = path.with_name("record.of-something")
    path.rename(renamed)
    same(load(renamed).result(), result)
    same(read(write(result, path.suffix)).result(), result)


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
