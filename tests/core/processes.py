"""New Python processes, for what only a fresh one can tell."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def python(code, *, cwd=ROOT, **environment):
    """Run code in a new process; return the JSON that it prints last."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(cwd), **environment},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def copy_of_the_package(folder):
    """Copy eij_core, without its caches, to a folder of one's own; return where it is."""
    package = folder / "eij_core"
    shutil.copytree(ROOT / "eij_core", package, ignore=shutil.ignore_patterns("__pycache__"))
    return package
