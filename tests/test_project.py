"""The tree keeps the rules of CONTRIBUTING.md: its map of rooms, its sizes, its dependencies."""

import ast
import re
import subprocess
import tomllib
from collections import Counter
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[1]
CONSTRAINTS = ("constraints.txt", "constraints-bench.txt")
FOLDERS = {"app", "eij_core", "tests", "notebooks"}
FAMILIES = ("problems", "algorithms", "selectors", "meters")
UI = {
    *("panel", "panel_material_ui", "holoviews", "hvplot", "bokeh", "param", "pyviz_comms"),
    *("ipywidgets", "ipywidgets_bokeh", "jupyter_bokeh", "IPython", "jupyterlab", "notebook"),
    *("plotly", "altair", "tkinter", "tornado", "app"),
}
COPYLEFT = {"mealpy", "opfunu", "deap"}
PACKAGES = ("eij_core", "app")
FILE_LINES, FUNCTION_LINES, FOLDER_FILES = 350, 50, 26
LONG_FUNCTIONS: set[str] = {
    "app/views/heat.py heat_map_of",
    "eij_core/cli/counterfactual.py counterfactual",
    "eij_core/cli/run.py run",
    "eij_core/cli/zoo.py zoo",
    "eij_core/meters/counters/calibrate.py calibrate",
    "eij_core/records/counterfactual.py reschedule",
    "eij_core/zoo/visits.py visit",
}
"""Functions that are one thing and longer than FUNCTION_LINES all the same."""


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


def imports(path: Path, text: str | None = None, typing: bool = True) -> Iterator[tuple[int, str]]:
    """Each imported name, absolute, with its line, wherever in the file the import stands.

    `typing=False` leaves out what is imported for annotations alone.
    """
    package = path.relative_to(ROOT).parent.parts
    waiting: list[ast.AST] = [ast.parse(path.read_text("utf-8") if text is None else text)]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            parts = (*base, *((node.module,) if node.module else ()))
            for alias in node.names:
                yield node.lineno, ".".join((*parts, alias.name))
        elif not typing and isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            waiting += node.orelse
            continue
        waiting += ast.iter_child_nodes(node)


def offences(folder: str, forbidden: set[str]) -> list[str]:
    return [
        f"{path.relative_to(ROOT)}:{line} imports {name}"
        for path in sources(folder)
        for line, name in imports(path)
        if name.partition(".")[0] in forbidden
    ]


class Room(NamedTuple):
    """A row of the map in CONTRIBUTING.md."""

    name: str
    """Its first path, which names it in messages."""
    paths: tuple[str, ...]
    """Folders, which end in a slash, and files."""
    allowed: frozenset[str]
    """Names of the rooms that it may import."""


def read_map(text: str) -> list[Room]:
    """Read the table of rooms; a room that names one below itself is an error."""
    rooms: list[Room] = []
    for row in re.findall(r"(?m)^\| (`(?:eij_core|app)/.*) \|$", text):
        cells = row.split(" | ")
        assert len(cells) == 3, f"the map has three columns: {row}"
        paths, named = (tuple(re.findall(r"`([^`]+)`", cell)) for cell in cells[::2])
        above = {room.name: room for room in rooms}
        if cells[2] == "all above":
            allowed = set(above)
        else:
            assert named or cells[2] == "nothing", f"what may {paths[0]} import? {cells[2]!r}"
            allowed = {
                name
                for path in named
                for name, room in above.items()
                if path in room.paths or (path in PACKAGES and name.startswith(f"{path}/"))
            }
            for path in named:
                assert path in PACKAGES or any(path in room.paths for room in rooms), (
                    f"{paths[0]} may import {path}, which is not a room above it"
                )
        rooms.append(Room(paths[0], paths, frozenset(allowed)))
    return rooms


def room_of(file: str, rooms: list[Room]) -> Room | None:
    """The room of a file: that of its own row, else of the innermost folder that has one."""
    found = [
        (len(path), room)
        for room in rooms
        for path in room.paths
        if file == path or (path.endswith("/") and file.startswith(path))
    ]
    return max(found)[1] if found else None


def file_of(name: str) -> str | None:
    """The file of our own that holds an absolute name; None for names of other packages."""
    if name.partition(".")[0] not in PACKAGES:
        return None
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        base = ROOT.joinpath(*parts[:length])
        for file in (base.with_suffix(".py"), base / "__init__.py"):
            if file.is_file():
                return str(file.relative_to(ROOT))
    return None


def against(rooms: list[Room], path: Path, text: str | None = None) -> Iterator[tuple[str, str]]:
    """Imports of a file that the map forbids: the two rooms, and where the import stands."""
    file = str(path.relative_to(ROOT))
    room = room_of(file, rooms)
    assert room is not None, f"{file} is in no room of CONTRIBUTING.md's map"
    for line, name in imports(path, text, typing=file == "eij_core/protocols.py"):
        home = file_of(name)
        if home is None or name == "eij_core.__version__":  # which any file may state
            continue
        target = room_of(home, rooms)
        assert target is not None, f"{home} is in no room of CONTRIBUTING.md's map"
        if target is not room and target.name not in room.allowed:
            yield f"{file}:{line}", name


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


def test_matplotlib_draws_in_figures_alone_and_without_pyplot():
    """pyplot keeps figures and a backend for the whole process: that belongs to the user."""
    found = offences("eij_core", {"matplotlib"}) + offences("app", {"matplotlib"})
    assert [each for each in found if not each.startswith("eij_core/figures/")] == []
    assert [each for each in found if "pyplot" in each] == []


@pytest.mark.parametrize("folder", ["eij_core", "app"])
def test_no_copyleft_peer_is_imported(folder):
    assert offences(folder, COPYLEFT) == []


@pytest.fixture(scope="module")
def rooms():
    found = read_map((ROOT / "CONTRIBUTING.md").read_text("utf-8"))
    assert found, "CONTRIBUTING.md has no map"
    return found


def test_every_import_follows_the_map(rooms):
    wrong = [
        f"{where} imports {name}"
        for package in PACKAGES
        for path in sources(package)
        for where, name in against(rooms, path)
    ]
    assert wrong == []


def test_the_map_names_what_exists(rooms):
    paths = [path for room in rooms for path in room.paths]
    assert len(set(paths)) == len(paths)
    missing = [path for path in paths if not (ROOT / path).exists()]
    assert missing == []


@pytest.mark.parametrize("document", ["CONTRIBUTING.md", "README.md"])
def test_documents_name_files_that_exist(document):
    text = (ROOT / document).read_text("utf-8")
    named = re.findall(r"`((?:eij_core|app|tests|notebooks|\.github)/[\w./-]*)`", text)
    assert named
    assert [path for path in named if not (ROOT / path).exists()] == []


def test_a_wrong_import_is_found(rooms):
    for file, text in (
        ("eij_core/protocols.py", "if TYPE_CHECKING:\n    from .errors import EijError"),
        ("eij_core/engine/loop.py", "def f():\n    from ..run import Run"),
        ("eij_core/selectors/eij.py", "from ..meters.meter import tick"),
        ("eij_core/run.py", "import app.views"),
        ("app/pages/run/page.py", "from app.notebook import live_run"),
        ("app/server/limits.py", "from app.server.shell import Shell"),
    ):
        assert len(list(against(rooms, ROOT / file, text))) == 1, text
    free = "from __future__ import annotations\nif TYPE_CHECKING:\n    from .records import read"
    assert list(against(rooms, ROOT / "eij_core/result.py", free)) == []


def test_the_map_keeps_the_families_and_the_notebook_apart(rooms):
    """These hold whatever the table says."""
    by_name = {room.name: room.allowed for room in rooms}
    families = {f"eij_core/{family}/" for family in FAMILIES}
    for family in families:
        assert not by_name[family] & families, family
    assert by_name["eij_core/values.py"] == frozenset()
    protocols = by_name["eij_core/protocols.py"]
    assert protocols == {"eij_core/values.py", "eij_core/drawing.py"}
    users = {name for name, allowed in by_name.items() if "app/notebook/" in allowed}
    assert users == {"app/__init__.py"}
    for name, allowed in by_name.items():
        assert name.startswith("app/") or not any(each.startswith("app/") for each in allowed)


def test_matplotlib_is_imported_by_figures_alone_and_never_pyplot():
    drawn = [
        (str(path.relative_to(ROOT)), name)
        for package in PACKAGES
        for path in sources(package)
        for _, name in imports(path)
        if name.partition(".")[0] == "matplotlib"
    ]
    assert [each for each in drawn if not each[0].startswith("eij_core/figures/")] == []
    assert [each for each in drawn if "pyplot" in each[1]] == []


def test_files_and_functions_are_short():
    files, functions = set(), set()
    for path in chain.from_iterable(map(sources, PACKAGES)):
        text, file = path.read_text("utf-8"), str(path.relative_to(ROOT))
        if text.count("\n") > FILE_LINES:
            files.add(file)
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                assert node.end_lineno is not None
                if node.end_lineno - node.lineno >= FUNCTION_LINES:
                    functions.add(f"{file} {node.name}")
    assert files == set()
    assert functions - LONG_FUNCTIONS == set()


def test_folders_are_small():
    folders = Counter(path.parent for path in chain.from_iterable(map(sources, PACKAGES)))
    assert {str(folder): n for folder, n in folders.items() if n > FOLDER_FILES} == {}


def test_one_version():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    citation = (ROOT / "CITATION.cff").read_text("utf-8")
    assert re.findall(r"(?m)^version: [\"']?([^\"'\n]+)", citation) == [project]
    package = (ROOT / "eij_core" / "__init__.py").read_text("utf-8")
    assert re.findall(r'(?m)^__version__ = "([^"]+)"', package) == [project]
    latest = re.search(r"(?m)^## \[(\d[^\]]*)\]", (ROOT / "CHANGELOG.md").read_text("utf-8"))
    assert latest is not None
    assert latest[1] == project
