"""The notebooks: stripped, readable, and executed to their end."""

import os
import re
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

FOLDER = Path(__file__).parents[2] / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
# The others are quick interpreted, and need not wait for the compiler.
COMPILED = ("05-your-own-components", "06-the-paper-in-an-hour")

# The text needs long runs, several of them, and time to watch; to execute every line takes little.
LESS = {
    "01-first-joules": {"range(6)": "range(1)", "pace=8": "pace=1"},
    "02-how-the-rule-decides": {"range(8)": "range(1)", "budget=600": "budget=100"},
    "03-the-dear-twin": {
        "range(4)": "range(1)",
        "range(3)": "range(1)",
        '"budget": 1000': '"budget": 200',
    },
    "05-your-own-components": {"pace=3": "pace=0.5"},
    "07-teaching-kit": {
        **{"range(6)": "range(1)", "runs=3": "runs=1", "budget=600": "budget=100"},
        **{"seconds=5.0": "seconds=0.5", "pace=3": "pace=0.5", '"1000 J"': '"200 J"'},
    },
}

each = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def read(path):
    return nbformat.read(path, nbformat.NO_CONVERT)


def shorten(notebook, less):
    for many, few in less.items():
        cells = [cell for cell in notebook.cells if many in cell.source]
        assert cells, f"{many} is not there any more"
        for cell in cells:
            cell.source = cell.source.replace(many, few)


def test_there_are_seven():
    assert [path.name[:2] for path in NOTEBOOKS] == [f"0{i}" for i in range(1, 8)]


@each
def test_stripped(path):
    notebook = read(path)
    nbformat.validate(notebook)
    assert set(notebook.metadata) <= {"kernelspec", "language_info"}
    assert notebook.metadata.kernelspec.name == "python3"
    for cell in notebook.cells:
        assert cell.metadata == {}
        assert "attachments" not in cell
        if cell.cell_type == "code":
            assert cell.outputs == []
            assert cell.execution_count is None


@each
def test_nothing_is_fetched_and_no_path_is_told(path):
    text = "\n".join(cell.source for cell in read(path).cells)
    assert not re.search(r"https?://|<img|!\[|/home/", text)
    for place in (Path(__file__).parents[2], Path.home()):
        assert f"{place}/" not in text


@each
def test_its_page_is_prepared(path):
    """Served by `panel serve`, a page that uses nothing of `app` asks the network for a font."""
    code = [cell.source for cell in read(path).cells if cell.cell_type == "code"]
    widgets = r"^from eij_app import .*LiveRun|^notebook\.extension\(\)"
    assert any(re.search(widgets, source, re.MULTILINE) for source in code)


@each
def test_it_opens_with_a_title_and_ends_with_exercises(path):
    cells = read(path).cells
    assert cells[0].cell_type == cells[-1].cell_type == "markdown"
    assert cells[0].source.startswith("# ")
    assert re.search(r"## (Exercises|For the homework)\n\n1\. ", cells[-1].source)


@each
def test_energy_has_a_provenance(path):
    text = "\n".join(cell.source for cell in read(path).cells if cell.cell_type == "markdown")
    assert re.search(r"\*\*(simulated|estimated|measured)\*\*", text)


@pytest.mark.compiled
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
@each
def test_it_runs(path, tmp_path):
    notebook = read(path)
    shorten(notebook, LESS.get(path.stem, {}))
    env = {**os.environ, "EIJ_TRIALS": "2", "IPYTHONDIR": str(tmp_path / "ipython")}
    if path.stem not in COMPILED:
        env["NUMBA_DISABLE_JIT"] = "1"
    client = NotebookClient(
        notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": tmp_path}}
    )
    client.execute(env=env)  # a cell that raises is an error here
    shown = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    assert any("data" in output for output in shown)
    said = "".join(output.text for output in shown if output.get("name") == "stderr")
    assert "Traceback" not in said
