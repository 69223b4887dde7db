"""The tree keeps its own rules."""

import ast
import re
import subprocess
import tomllib
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
CONSTRAINTS = ("constraints.txt", "constraints-bench.txt")
FOLDERS = {"app", "eij_core", "tests", "notebooks"}
FAMILIES = ("problems", "algorithms", "selectors", "meters")
UI = {
    *("panel", "panel_material_ui", "holoviews", "hvplot", "bokeh", "param", "pyviz_comms"),
    *("ipywidgets", "ipywidgets_bokeh", "jupyter_bokeh", "IPython", "jupyterlab", "notebook"),
    *("matplotlib", "plotly", "altair", "tkinter", "tornado", "app"),
}
COPYLEFT = {"mealpy", "opfunu", "deap"}


def tree() -> list[str]:
    """The files of the tree: tracked, or new and not ignored."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    return [name for name in listed.split("\0") if name]


def sources(folder: str) -> list[Path]:
    found = sorted((ROOT / folder).rglob("*.py"))
    assert found, f"{folder}/ holds no Python file"
    return found


def imports(path: Path, text: str | None = None) -> Iterator[tuple[int, str]]:
    """Each imported name, absolute, with its line, wherever in the file the import stands."""
    package = path.relative_to(ROOT).parent.parts
    for node in ast.walk(ast.parse(path.read_text("utf-8") if text is None else text, str(path))):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            parts = (*base, *((node.module,) if node.module else ()))
            for alias in node.names:
                yield node.lineno, ".".join((*parts, alias.name))


def offences(folder: str, forbidden: set[str]) -> list[str]:
    return [
        f"{path.relative_to(ROOT)}:{line} imports {name}"
        for path in sources(folder)
        for line, name in imports(path)
        if name.partition(".")[0] in forbidden
    ]


def crossings(family: str) -> list[str]:
    others = tuple(f"eij_core.{other}." for other in FAMILIES if other != family)
    return [
        f"{path.relative_to(ROOT)}:{line} imports {name}"
        for path in sources(f"eij_core/{family}")
        for line, name in imports(path)
        if f"{name}.".startswith(others)
    ]


def test_imports_are_read_absolutely():
    text = "from ..problems import nk\nfrom . import x\nimport a.b\ndef f():\n from .. import rng\n"
    found = {name for _, name in imports(ROOT / "eij_core" / "meters" / "m.py", text)}
    assert found == {"eij_core.problems.nk", "eij_core.meters.x", "a.b", "eij_core.rng"}


@pytest.mark.parametrize("name", CONSTRAINTS)
def test_constraints_name_no_host(name):
    text = (ROOT / name).read_text("utf-8")
    assert "://" not in text
    assert " @ " not in text
    assert not re.search(r"(?m)^\s*-", re.sub(r"(?m)^\s+--hash=sha256:[0-9a-f]{64}\b", "", text))


@pytest.mark.parametrize("name", CONSTRAINTS)
def test_constraints_are_exact_and_hashed(name):
    entries = (ROOT / name).read_text("utf-8").replace("\\\n", " ").splitlines()
    assert entries
    for entry in entries:
        assert re.match(r"[a-z0-9-]+==[0-9]\S*( ; .+?)?( +--hash=sha256:\w+)+$", entry), entry


def test_constraints_pin_every_direct_dependency():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    groups = project["dependency-groups"]
    bench = groups.pop("bench")
    extras = project["project"]["optional-dependencies"]
    everything = [project["project"]["dependencies"], *extras.values(), *groups.values()]
    wanted = {"constraints.txt": chain.from_iterable(everything), "constraints-bench.txt": bench}
    for file, requirements in wanted.items():
        pinned = set(re.findall(r"(?m)^([a-z0-9-]+)==", (ROOT / file).read_text("utf-8")))
        direct = {re.match(r"[\w-]+", each)[0].lower().replace("_", "-") for each in requirements}
        assert direct <= pinned, f"{file} lacks {direct - pinned}: run `make lock`"


def test_no_lock_file_is_kept():
    locks = ("uv.lock", "poetry.lock", "pdm.lock", "Pipfile.lock", "package-lock.json")
    assert not [name for name in tree() if name.endswith(locks)]


def test_top_level_folders():
    folders = {name.partition("/")[0] for name in tree() if "/" in name}
    assert folders, "git lists no files"
    assert {name for name in folders if not name.startswith(".")} <= FOLDERS


def test_the_core_imports_no_ui_library():
    assert offences("eij_core", UI) == []


@pytest.mark.parametrize("folder", ["eij_core", "app"])
def test_no_copyleft_peer_is_imported(folder):
    assert offences(folder, COPYLEFT) == []


@pytest.mark.parametrize("family", FAMILIES)
def test_the_families_never_import_each_other(family):
    assert crossings(family) == []


def test_one_version():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    citation = (ROOT / "CITATION.cff").read_text("utf-8")
    assert re.findall(r"(?m)^version: [\"']?([^\"'\n]+)", citation) == [project]
