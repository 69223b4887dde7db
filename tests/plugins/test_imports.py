"""Components of somebody's own, by every way that the owner of a machine has to import them."""

import importlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from eij_core import InputError, Trial, imports, plugins, solve
from eij_core.algorithms.ils import ILS, Flip
from eij_core.cli import call
from eij_core.components import PlainOperator, check_component, operators, problems
from eij_core.contracts.shape import PLAIN

TINY = ["--meter", "model", "--budget", "3J", "--quiet", "--problem", "leading-mine:n=12"]


def names(capsys):
    assert call(["list", "problems", "--json"]) == 0
    return [each["name"] for each in json.loads(capsys.readouterr().out)["problems"]]


def test_a_file_is_imported_by_name_and_its_components_are_listed(mine, capsys):
    assert "leading-mine" not in names(capsys)
    assert call(["list", "problems", "--json", "--import", str(mine.path)]) == 0
    found = {e["name"]: e for e in json.loads(capsys.readouterr().out)["problems"]}
    assert found["leading-mine"]["about"] == "Ones, counted by somebody else."
    assert call(["list", "algorithms", "--json"]) == 0
    listed = {e["name"]: e for e in json.loads(capsys.readouterr().out)["algorithms"]}
    assert listed["ils"]["operators"][-2:] == ["shake", "turn"]
    assert call(["run", *TINY, "--algorithm", "ils:operators=flip-1+turn+shake,steps=4"]) == 0
    assert mine.executed == 1


def test_somebodys_rule_is_in_the_zoo(mine, capsys):
    cell = ["--selector", "somebodys-rule", "--case", "null", "--trials", "2", "--budget", "5J"]
    assert call(["zoo", *cell, "--json", "--import", str(mine.path)]) == 0
    assert json.loads(capsys.readouterr().out)["rule"] == "somebodys-rule"


def test_the_current_folder_is_searched_last(mine, monkeypatch):
    monkeypatch.chdir(mine.folder)
    (mine.folder / "json.py").write_text("raise RuntimeError('a stranger')")
    assert call(["run", *TINY, "--algorithm", "ils:steps=2", "--import", "somebodys"]) == 0
    assert sys.path[-1] == str(mine.folder)
    with pytest.raises(InputError, match=r"another name: json is no name for a module, or has"):
        imports.import_components(["json.py"])


def test_external_finds_a_module_in_the_current_folder(mine, monkeypatch):
    monkeypatch.chdir(mine.folder)
    (mine.folder / "plainly.py").write_text("def count(x):\n    return float(x.sum())\n")
    tiny = ["--meter", "model", "--evaluations", "50", "--quiet", "--algorithm", "ils:steps=2"]
    assert call(["run", "--problem", "external:function=plainly.count,n=8", *tiny]) == 0
    sys.modules.pop("plainly")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("no_such_module", "ModuleNotFoundError"),
        ("nowhere.py", "a file that exists"),
        ("broken.py", "ZeroDivisionError: division by zero"),
        ("leaves.py", "SystemExit: 0"),
        (" ", "the name of a module"),
    ],
)
def test_what_cannot_be_imported_is_one_line(mine, text, said, capsys, monkeypatch):
    monkeypatch.chdir(mine.folder)
    (mine.folder / "broken.py").write_text("1 / 0")
    (mine.folder / "leaves.py").write_text("raise SystemExit(0)")
    assert call(["list", "--import", text]) == 2
    line = capsys.readouterr().err
    assert line.count("\n") == 1
    assert f"--import = {text.strip()}" in line
    assert said in line


def test_the_same_object_twice_is_no_error_and_another_one_is(mine):
    imports.import_components([str(mine.path)])
    module = sys.modules["somebodys"]
    assert problems.add("leading-mine")(module.LeadingMine) is module.LeadingMine
    importlib.reload(module)  # as `dask worker --preload` does
    assert problems["leading-mine"] is module.LeadingMine
    with pytest.raises(ValueError, match="there is a problem named 'leading-mine' already"):
        problems.add("leading-mine")(lambda: None)
    with pytest.raises(ValueError, match="named 'nk' already"):
        problems.add("nk")(module.LeadingMine)


@pytest.mark.long
def test_the_variable_holds_for_every_process(mine):
    """Workers, servers and kernels are processes of their own; here one that asks for a name."""
    code = "from eij_core import Trial; print(Trial('leading-mine').imports)"
    other = mine.folder / "other.py"
    other.write_text("")
    variable = os.pathsep.join([str(mine.path), str(other)])
    env = {**os.environ, imports.VARIABLE: variable}
    told = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True)
    assert told.stdout == "('somebodys',)\n", told.stderr
    env[imports.VARIABLE] = "not_there"
    code = "from eij_core.cli import main; main(['list'])"
    told = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True)
    assert told.returncode == 2
    assert told.stderr.startswith("eij: EIJ_IMPORT = not_there: expected a module or a file")


@pytest.fixture
def installed(mine, monkeypatch):
    """A package with an entry point, as pip leaves one behind: metadata beside the module."""
    info = mine.folder / "theirs-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: theirs\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[eij.components]\nmine = somebodys\nbroken = not_there\n"
    )
    monkeypatch.syspath_prepend(str(mine.folder))
    yield mine
    sys.modules.pop("somebodys", None)


def test_entry_points_of_installed_packages_are_components(installed, caplog):
    importlib.reload(plugins)
    assert problems.origin("leading-mine") == "somebodys"
    assert "not_there, an entry point in eij.components, cannot be imported" in caplog.text


def test_a_public_server_leaves_out_entry_points(installed, caplog, monkeypatch):
    monkeypatch.setenv(imports.PUBLIC, "1")
    importlib.reload(plugins)
    assert "leading-mine" not in problems
    assert installed.executed == 0
    assert "a public server leaves out the components of somebodys" in caplog.text


def test_a_trial_says_where_its_components_come_from(mine):
    imports.import_components([str(mine.path)])
    trial = Trial("leading-mine:n=9", "ils:operators=flip-1+shake,steps=3", meter="model")
    assert trial.imports == ("somebodys",)
    assert trial.to_dict()["import"] == ["somebodys"]
    assert Trial.from_toml(trial.to_toml()) == trial
    assert "import" not in Trial().to_dict()
    text = trial.to_toml()
    mine.forget()
    with pytest.raises(InputError, match="problem = leading-mine"):
        Trial.from_toml(text)  # text alone is never imported
    assert mine.executed == 1
    Path(mine.folder / "trial.toml").write_text(text)
    again = Trial.from_file(mine.folder / "trial.toml")  # by name, beside the file
    assert again.key == trial.key
    assert mine.executed == 2


def test_an_operator_of_plain_python_makes_the_search_better(mine):
    imports.import_components([str(mine.path)])
    trial = Trial("leading-mine:n=12", "ils:operators=flip-2+shake,steps=20", meter="model",
                  budget="30 J", seed=3)  # fmt: skip
    result = solve(trial)
    assert result.best.fitness == 12.0
    assert [total.name for total in result.operators] == ["flip-2", "shake"]
    assert all(total.applications for total in result.operators)
    assert result.digest == solve(trial).digest
    made = trial.make("algorithm")
    assert check_component(made) == []
    shake = sys.modules["somebodys"].shake
    objects = ILS((Flip(2), PlainOperator.of(shake)), 20)
    assert solve(Trial("leading-mine:n=12", objects, meter="model", budget="30 J", seed=3)
                 ).digest == result.digest  # fmt: skip
    with pytest.raises(InputError, match=re.escape(f"shake: expected {PLAIN}")):
        Trial("nk", ILS((Flip(2), shake)))


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (lambda x, rng: x[1:], "must return 6 bits"),
        (lambda x, rng: x + 2, "must return 6 bits"),
        (lambda x, rng: 1 / 0, "ZeroDivisionError"),
    ],
)
def test_a_plain_operator_that_fails_is_named(function, said):
    portfolio = ILS((PlainOperator.of(function, "odd"),), 2)
    with pytest.raises(Exception, match=f"odd .*{said}"):
        solve(Trial("nk:n=6,k=2", portfolio, meter="model", budget="1 J"), compiled=False)


def test_operators_belong_to_algorithms_with_a_portfolio():
    assert "replace-1" in operators("ssga")
    with pytest.raises(InputError, match="algorithm = none"):
        operators("none")
