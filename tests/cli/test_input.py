"""Whatever is typed: one clear line, exit code 2, never a traceback."""

import os

import pytest

from eij_core.cli import call, main
from eij_core.registry import problems

RUN = {
    "unknown problem": (["--problem", "knapsac"], ["problem = knapsac", "did you mean 'knapsack'"]),
    "unknown algorithm": (["--algorithm", "isl"], ["algorithm = isl", "ils"]),
    "unknown selector": (["--selector", "eji"], ["selector = eji", "eij"]),
    "unknown meter": (["--meter", "modle"], ["meter = modle", "did you mean 'model'"]),
    "unknown key": (["--problem", "nk:kk=3"], ["nk:kk = 3", "n, neighbours"]),
    "range": (["--problem", "nk:n=0"], ["nk:n = 0", "1 to"]),
    "not a number": (["--problem", "nk:n=many"], ["nk:n = many", "a whole number"]),
    "no value": (["--problem", "nk:n="], ["nk = n=", "key=value"]),
    "key twice": (["--problem", "nk:n=4,n=5"], ["nk:n = 5", "each key once"]),
    "k beyond n": (["--problem", "nk:n=4,k=9", "--meter", "model"], ["9"]),
    "no unit": (["--budget", "5"], ["budget = 5", "1kJ"]),
    "unknown unit": (["--budget", "5 parsec"], ["budget = 5 parsec", "Wh"]),
    "negative budget": (["--budget", "-5J"], ["budget = -5J"]),
    "seed": (["--seed", "x"], ["--seed", "'x'", "a whole number, at least 0"]),
    "negative seed": (["--seed", "-1"], ["--seed", "-1", "at least 0"]),
    "endless seed": (["--seed", "9" * 50], ["--seed", "a whole number"]),
    "huge seed": (["--seed", str(2**128)], ["seed", "below"]),
    "underscored": (["--evaluations", "1_000"], ["--evaluations", "1_000", "whole number"]),
    "alpha range": (["--alpha", "2"], ["eij:alpha = 2.0", "0 to 1"]),
    "alpha nan": (["--alpha", "nan"], ["--alpha", "'nan'"]),
    "alpha word": (["--alpha", "big"], ["--alpha", "'big'"]),
    "alpha of static": (["--selector", "static", "--alpha", ".5"], ["static:alpha = 0.5"]),
    "alpha of eij-plus": (["--selector", "eij-plus", "--alpha", ".5"], ["eij-plus:alpha = 0.5"]),
    "alpha twice": (["--selector", "eij:alpha=.3", "--alpha", ".5"], ["--alpha", "eij:alpha=.3"]),
    "evaluations twice": (["--budget", "9evaluations", "--evaluations", "9"], ["--evaluations"]),
    "no evaluations": (["--evaluations", "0"], ["--evaluations", "at least 1"]),
    "negative time": (["--seconds", "-3"], ["seconds = -3.0", "above 0"]),
    "rows both ways": (["--every", "3", "--points", "4"], ["--every", "--points"]),
    "many points": (["--points", "2000000"], ["points = 2000000", "below 1000000"]),
    "no trials": (["--trials", "0"], ["--trials", "at least 1"]),
    "no jobs": (["--jobs", "0"], ["--jobs", "at least 1"]),
    "no such file": (["--problem", "knapsack-file:file=no.kp"], ["knapsack-file:file = no.kp"]),
    "no file": (["--problem", "knapsack-file"], ["knapsack-file:file", "missing"]),
    "folder as file": (["--problem", "knapsack-file:file=/"], ["a regular file"]),
    "no folder": (["--out", "/dev/null/x"], ["--out = /dev/null/x", "a folder to write to"]),
    "paper's prices": (["--problem", "external:function=math.fsum"], ["--meter model"]),
    "no function": (["--problem", "external:function=no.such"], ["external:function = no.such"]),
    "unknown option": (["--sed", "3"], ["--sed", "--seed"]),
    "no argument": (["--seed"], ["--seed", "requires an argument"]),
    "extra argument": (["more"], ["more"]),
    "line break": (["--problem", "a\nb\x1b[31m"], ["problem = a b\\x1b[31m"]),
}
OTHERS = {
    "unknown command": (["rum"], ["rum", "run"]),
    "unknown family": (["list", "selector"], ["family = selector", "did you mean 'selectors'"]),
    "no record": (["replay"], ["file"]),
    "missing record": (["replay", "no.parquet"], ["record = no.parquet", "No such file"]),
    "not a record": (["replay", __file__], ["is no record of EI/J", "Parquet"]),
    "port": (["serve", "--port", "http"], ["--port", "'http'"]),
    "warm": (["warm", "--jobs", "all"], ["--jobs", "'all'"]),
}
CASES = {name: (["run", *line], words) for name, (line, words) in RUN.items()} | OTHERS


@pytest.mark.parametrize("name", CASES)
def test_bad_input(eij, name):
    arguments, words = CASES[name]
    code, out, err = eij(*arguments)
    assert (code, out) == (2, "")
    assert err.startswith("eij: ")
    assert err.count("\n") == 1
    for word in words:
        assert word in err


def test_a_bad_file_is_named_with_the_place(eij, tmp_path):
    path = tmp_path / "bad.kp"
    path.write_text("2 10\n5 5\n5 -5\n", "utf-8")
    code, _, err = eij("run", "--problem", f"knapsack-file:file={path}", "--meter", "model")
    assert code == 2
    assert f"{path}, line 3, column 3: expected a weight" in err


def test_a_run_that_fails_exits_1(eij, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "hopeless.py").write_text("def f(x):\n    return float('nan')\n", "utf-8")
    code, _, err = eij("run", "--problem", "external:function=hopeless.f,n=5", "--meter", "model")
    assert code == 1
    assert "not a number" in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_exception_in_an_external_function_is_one_line(eij, tmp_path, monkeypatch, jobs):
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
    (tmp_path / "angry.py").write_text("def f(x):\n    raise KeyError('bit 3')\n", "utf-8")
    problem = ["--problem", "external:function=angry.f,n=5", "--meter", "model"]
    code, out, err = eij("run", *problem, "--trials", 2, "--jobs", jobs)
    assert (code, out) == (1, "")
    assert err == "eij: angry.f raised KeyError: 'bit 3'\n"


def test_a_fault_of_ours_is_not_hidden(monkeypatch):
    def broken(*_):
        raise ZeroDivisionError

    monkeypatch.setattr("eij_core.cli.run.folder_of", broken)
    with pytest.raises(ZeroDivisionError):
        call(["run"])


def test_abort(monkeypatch, eij):
    import typer

    def abort(*_):
        raise typer.Abort

    monkeypatch.setattr("eij_core.cli.run.folder_of", abort)
    assert eij("run")[0] == 1


def test_main_exits_with_the_code():
    with pytest.raises(SystemExit) as info:
        main(["list", "nothing"])
    assert info.value.code == 2


@pytest.mark.long
def test_a_real_process(spawn):
    process = spawn("run", "--problem", "knapsac")
    out, err = process.communicate(timeout=60)
    assert process.returncode == 2
    assert out == ""
    assert err == (
        f"eij: problem = knapsac: expected one of {', '.join(sorted(problems))} "
        "(did you mean 'knapsack'?)\n"
    )
