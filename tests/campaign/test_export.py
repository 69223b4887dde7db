"""Exports, read back the way their readers do."""

import json

import numpy as np
import pandas as pd
import pytest

from eij_core.campaigns import Reader, Store
from eij_core.errors import InputError
from eij_core.reports.export import export
from tests.campaign.small import campaign, run


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("export") / "store"
    run(place, campaign(problems=["nk:n=16,k=2", "nk:n=18,k=2"]))
    return place


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_tables(folder, tmp_path, form):
    paths = export(folder, tmp_path / "out", form)
    read = pd.read_parquet if form == "parquet" else pd.read_csv
    trials, operators, steps = (read(path) for path in paths[:3])
    assert len(trials) == 24
    assert len(operators) == 48
    assert set(steps["run_id"]) == set(trials["key"])
    last = steps.groupby("run_id").last()
    joined = trials.set_index("key").join(last)
    assert np.allclose(joined["joules"] * 1e6, joined["e_cum_uJ"], atol=1)
    assert (joined["fitness"] == joined["f_best"]).all()
    counted = steps.groupby("run_id")["n_evals"].sum()
    assert (joined["evaluations"] == counted.reindex(joined.index)).all()
    assert set(steps["e_src"]) == {"model (simulated)"}
    manifest = json.loads(paths[3].read_text())
    assert manifest["campaign"]["name"] == "small"
    assert manifest["energy_sources"] == ["model (simulated)"]
    with pytest.raises(InputError, match="--to"):
        export(folder, tmp_path / "out", form)


def ioh_runs(path):
    """Read a .dat file as IOHinspector does: a run starts where evaluations is 1."""
    table = pd.read_csv(path, sep=" ")
    table["run"] = (table["evaluations"] == 1).cumsum()
    return table


@pytest.mark.parametrize("dataset", ["by-evaluations", "by-uJ"])
def test_iohprofiler(folder, tmp_path, dataset):
    export(folder, tmp_path / "out", "ioh")
    heads = sorted((tmp_path / "out" / dataset).rglob("IOHprofiler_*.json"))
    assert len(heads) == 4  # two problems, two methods
    with Reader(folder) as reader:
        results = [row.result for row in reader.rows()]
    seen = []
    for file in heads:
        head = json.loads(file.read_text())
        assert {"version", "suite", "function_id", "function_name", "maximization", "algorithm",
                "attributes", "scenarios"} <= head.keys()  # fmt: skip
        assert head["maximization"] is True
        for scenario in head["scenarios"]:
            table = ioh_runs(file.parent / scenario["path"])
            assert table["run"].iloc[0] == 1
            assert table["run"].iloc[-1] == len(scenario["runs"]) == 6
            assert table.dtypes["evaluations"] == "int64"
            for number, told in enumerate(scenario["runs"], 1):
                rows = table[table["run"] == number]
                assert rows["evaluations"].is_monotonic_increasing
                assert rows["evaluations"].iloc[-1] == told["evals"]
                assert rows["raw_y"].iloc[-1] == told["best"]["y"]
                assert len(told["best"]["x"]) == scenario["dimension"]
                first = rows[rows["raw_y"] == told["best"]["y"]].iloc[0]
                assert first["evaluations"] == told["best"]["evals"]
                unit = rows["joules"] * 1e6 if dataset == "by-uJ" else rows["n_evals"]
                assert np.allclose(rows["evaluations"].iloc[1:], unit.iloc[1:], atol=1)
                seen.append(rows["joules"].iloc[-1])
    assert sorted(seen) == sorted(result["spent"]["joules"] for result in results)


def test_nothing_to_export(tmp_path):
    with Store(tmp_path / "s") as store:
        store.begin({}, "1")
    assert [path.name for path in export(tmp_path / "s", tmp_path / "out", "ioh")] == [
        "manifest.json"
    ]
    assert len(export(tmp_path / "s", tmp_path / "tables", "csv")) == 4


def test_a_spreadsheet_takes_no_name_for_a_formula(folder, tmp_path, monkeypatch):
    from eij_core.reports import export

    frame = pd.DataFrame({"name": ["=1+1", "plain"], "n": [-1, 2]})
    assert export._csv(frame) == b"name,n\n'=1+1,-1\nplain,2\n"
