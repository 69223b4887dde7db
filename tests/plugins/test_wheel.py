"""The wheel outside of this checkout, in a folder where a user has an `app.py`."""

import ast
import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import sysconfig
import urllib.request
import zipfile
from pathlib import Path

import pytest

from tests.test_project import ROOT, sources

UV = Path(sys.executable).with_name("uv")
README = (ROOT / "README.md").read_text("utf-8")
LIBRARIES = ("alns", "pymoo", "pyvrp", "nevergrad", "optuna", "jmetalpy")
EXTRAS = ("", "app", "rapl", "dask", "notebook", *LIBRARIES)
MAIN = "import sys; from eij_core.cli import main; main(sys.argv[1:])"
MODULES = {
    "rapl": "import pyRAPL",
    "dask": "import distributed; from eij_core.campaigns import Dask",
    "notebook": "import ipywidgets, jupyterlab, nbformat",
    "app": "from eij_app import CompareView, EnergyView, LiveRun, notebook; notebook.extension",
    **{name: f"import eij_core.adapters.{name}" for name in LIBRARIES},
}
"""What each extra must make possible."""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (built,) = folder.glob("*.whl")
    return built


def test_the_wheel_has_the_core_and_the_dashboard_under_a_name_of_its_own(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if ".dist-info/" not in name]
        info = {name.rpartition("/")[2]: name for name in archive.namelist()}
        scripts = archive.read(info["entry_points.txt"]).decode()
        metadata = archive.read(info["METADATA"]).decode()
    assert {name.partition("/")[0] for name in names} == {"eij_core", "eij_app"}
    tracked = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "eij_core", "app"],
        cwd=ROOT, check=True, capture_output=True, text=True,
    ).stdout.split()  # fmt: skip
    assert sorted(names) == sorted(re.sub("^app/", "eij_app/", name) for name in tracked)
    assert "eij = eij_core.cli:main" in scripts
    assert set(re.findall("(?m)^Provides-Extra: (.*)", metadata)) >= set(EXTRAS) - {""}


def test_no_file_of_the_dashboard_names_its_package():
    """Its name is `app` in a checkout and `eij_app` in a wheel, so all imports are relative."""
    wrong = []
    for path in sources("app"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and not node.level:
                names = [node.module or ""]
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                names = re.findall(r"\Aapp\.(?:server|pages|views|background|notebook|text)\b.*",
                                   node.value)  # fmt: skip
            wrong += [f"{path.relative_to(ROOT)}: {n}" for n in names if n.split(".")[0] == "app"]
    assert wrong == []


@pytest.mark.long
def test_both_names_give_the_same_in_a_checkout():
    import app
    import eij_app

    assert eij_app.__all__ == app.__all__
    assert eij_app.EnergyView is app.EnergyView
    assert eij_app.notebook is sys.modules["app.notebook"]


class Outside:
    """A virtual environment with the wheel, and a user's folder with files that have our names."""

    def __init__(self, folder, python):
        self.python, self.home = python, folder / "home"
        self.home.mkdir()
        for name in ("app", "eij_app", "server", "views", "panel", "holoviews"):
            code = f"open({str(self.home / 'executed')!r}, 'w').close()\n"
            (self.home / f"{name}.py").write_text(code)

    def run(self, *arguments, **options):
        env = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
        return subprocess.run(
            [self.python, *arguments], cwd=self.home, env=env, capture_output=True, text=True,
            timeout=280, check=False, **options,
        )  # fmt: skip

    @contextlib.contextmanager
    def served(self, *options):
        """`eij serve` in the user's folder; gives what its address answers."""
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        command = [self.python, "-P", "-c", MAIN, "serve", "--no-warm", "--port", str(port)]
        server = subprocess.Popen([*command, *options], cwd=self.home, stdout=-1, stderr=-2,
                                  text=True)  # fmt: skip
        try:
            line = server.stdout.readline()
            while "The dashboard: " not in line:
                assert line, "the server has ended"
                line = server.stdout.readline()
            address = line.partition("The dashboard: ")[2].strip()
            yield address, urllib.request.urlopen(address, timeout=200).read().decode()
        finally:
            server.send_signal(signal.SIGINT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                server.communicate(timeout=20)
            server.kill()
            server.communicate()


@pytest.fixture(scope="module")
def outside(wheel, tmp_path_factory):
    """The wheel beside the packages of this environment, which are only read."""
    folder = tmp_path_factory.mktemp("outside")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "venv"], check=True)
    python = folder / "venv" / "bin" / "python"
    site = Path(sysconfig.get_path("purelib", vars={"base": str(folder / "venv")}))
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    # A .pth of a folder that a .pth names is not read: the checkout is not importable from here.
    (site / "others.pth").write_text(sysconfig.get_path("purelib"))
    return Outside(folder, str(python))


@pytest.mark.long
def test_the_wheel_serves_its_dashboard_and_executes_no_file_of_the_user(outside):
    with outside.served() as (address, page):
        assert address.endswith("/eij_app")
        assert "EI/J" in page
    assert not (outside.home / "executed").exists()


@pytest.mark.long
def test_a_checkout_serves_its_dashboard_and_executes_no_file_of_the_user(tmp_path):
    checkout = Outside(tmp_path, sys.executable)
    with checkout.served() as (address, page):
        assert address.endswith("/app")
        assert "EI/J" in page
    assert not (checkout.home / "executed").exists()


@pytest.mark.long
def test_the_wheel_is_not_this_checkout(outside):
    told = outside.run("-P", "-c", "import eij_core, eij_app; print(eij_core, eij_app)")
    assert told.stdout.count("site-packages") == 2, told.stderr
    assert str(ROOT) not in told.stdout
    told = outside.run("-P", "-c", f"import panel; {MODULES['app']}")
    assert told.returncode == 0, told.stderr


@pytest.mark.compiled
@pytest.mark.long
@pytest.mark.parametrize("block", re.findall(r"(?s)```python\n(.*?)```", README))
def test_the_python_of_the_readme_runs_from_the_wheel(outside, block):
    name = outside.home / f"readme_{abs(hash(block))}.py"
    name.write_text(block)
    told = outside.run("-P", str(name))
    assert told.returncode == 0, told.stderr
    if "best.png" in block:
        assert (outside.home / "best.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow  # downloads and installs eleven environments, minutes each
@pytest.mark.parametrize("extra", EXTRAS)
@pytest.mark.timeout(1800)
def test_the_wheel_installs_with_each_extra(wheel, tmp_path, extra):
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv"], check=True)
    there = Outside(tmp_path, str(tmp_path / "venv" / "bin" / "python"))
    wanted = f"{wheel}[{extra}]" if extra else str(wheel)
    install = [UV, "pip", "install", "--quiet", "--python", there.python, wanted]
    subprocess.run(install, check=True, cwd=tmp_path)
    told = there.run("-P", "-c", MAIN, "list", "problems", "--json")
    assert '"knapsack"' in told.stdout, told.stderr
    first = re.findall(r"(?s)```python\n(.*?)```", README)[0]
    (there.home / "first.py").write_text(first)
    told = there.run("-P", "first.py")
    assert told.returncode == 0, told.stderr
    if extra:
        told = there.run("-P", "-c", MODULES[extra])
        assert told.returncode == 0, told.stderr
    if extra == "app":
        with there.served() as (address, _):
            assert address.endswith("/eij_app")
    elif extra != "notebook":
        told = there.run("-P", "-c", MAIN, "serve")
        assert (told.returncode, told.stdout, told.stderr.count("\n")) == (2, "", 1)
        assert "the dashboard is not installed (no panel, " in told.stderr
        assert "pip install 'eij[app]'" in told.stderr
    assert not (there.home / "executed").exists()
