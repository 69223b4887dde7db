"""The disk cache: it hits when nothing changed, never when something did, and may be absent."""

from pathlib import Path

import pytest

from tests.core.processes import ROOT, copy_of_the_package, python

pytestmark = pytest.mark.compiled

RUN = """
import json, eij_core
run = eij_core.Run(eij_core.Trial("nk:n=9,k=1", "ils:steps=3", "static", "model", "1 J"))
assert run.loop.compiled
for block in run:
    pass
statistics = run.loop.advance.stats
print(json.dumps([
    eij_core.__file__,
    run.result().best.fitness,
    sum(statistics.cache_hits.values()),
    sum(statistics.cache_misses.values()),
]))
"""


def test_the_cache_hits_when_nothing_changed_and_never_lies(tmp_path):
    """numba goes by the file of the loop; what changes here is a problem, in another file."""
    package = copy_of_the_package(tmp_path)
    no_cache_elsewhere = {"NUMBA_CACHE_DIR": ""}

    file, fitness, hits, misses = python(RUN, cwd=tmp_path, **no_cache_elsewhere)
    assert file.startswith(str(tmp_path))
    assert 0.0 < fitness < 1.0
    assert (hits, misses) == (0, 1)

    assert python(RUN, cwd=tmp_path, **no_cache_elsewhere)[1:] == [fitness, 1, 0]

    source = package / "problems" / "bits" / "nk.py"
    text = source.read_text("utf-8")
    changed = text.replace("return float(total) * self.scale", "return 7.0").replace(
        "return float(memo[self.n]) * self.scale", "return 7.0"
    )
    assert changed.count("return 7.0") == 3  # fitness, flip and preview
    source.write_text(changed, "utf-8")
    assert python(RUN, cwd=tmp_path, **no_cache_elsewhere)[1:] == [7.0, 0, 1]


def test_nowhere_to_cache_is_no_crash(tmp_path):
    """Neither the package's folders, nor the user's, nor the named one can be written."""
    package = copy_of_the_package(tmp_path)
    for folder in [package, *(path for path in package.iterdir() if path.is_dir())]:
        (folder / "__pycache__").write_text("a file where a folder should be")
    nowhere = tmp_path / "nowhere"
    nowhere.write_text("not a folder")
    places = dict.fromkeys(["NUMBA_CACHE_DIR", "HOME", "XDG_CACHE_HOME"], str(nowhere))
    file, fitness, hits, _ = python(RUN, cwd=tmp_path, **places)
    assert file.startswith(str(tmp_path))
    assert 0.0 < fitness < 1.0
    assert hits == 0


LESSON = """
import json
from app.pages.run.lessons.components import Idle
from eij_core import Run, Trial
from eij_core.algorithms.ils import ILS, Flip
algorithm = ILS((Flip(1), Idle(1)), 3)
run = Run(Trial("nk:n=9,k=1", algorithm, "static:operator=idle", "model", "1 J"))
for block in run:
    pass
statistics = run.loop.advance.stats
print(json.dumps([
    int(run.ledger.evaluations[0] - run.ledger.decisions[0] * 4),
    sum(statistics.cache_hits.values()),
    sum(statistics.cache_misses.values()),
]))
"""


def test_the_dashboard_s_own_components_are_cached_and_never_stale(tmp_path):
    """An operator of a lesson: cached across processes, compiled anew when it changes."""
    copy_of_the_package(tmp_path)
    lessons = Path("app", "pages", "run", "lessons")
    (tmp_path / lessons).mkdir(parents=True)
    for package in (lessons, *lessons.parents[:-1]):
        (tmp_path / package / "__init__.py").touch()
    part = tmp_path / lessons / "components.py"
    part.write_text((ROOT / lessons / "components.py").read_text("utf-8"), "utf-8")
    here = {"cwd": tmp_path, "NUMBA_CACHE_DIR": ""}
    first = python(LESSON, **here)
    assert first[1:] == [0, 1]
    assert python(LESSON, **here) == [first[0], 1, 0]
    text = part.read_text("utf-8")
    old = "return Outcome(0.0, algorithm.steps + 1, 0, state.deltas[:1])"
    assert text.count(old) == 1
    part.write_text(text.replace(old, old.replace("+ 1,", "+ 2,")), "utf-8")
    changed = python(LESSON, **here)
    assert changed[0] > first[0]
    assert changed[1:] == [0, 1]


STRANGER = """
import json, sys
from pathlib import Path
folder = Path("elsewhere/app")
folder.mkdir(parents=True, exist_ok=True)
(folder / "__init__.py").write_text("class Thing: pass")
sys.path.insert(0, "elsewhere")
import app
from eij_core.engine.kernel import digest_of
print(json.dumps([app.__file__, digest_of(app.Thing)]))
"""


def test_a_stranger_s_package_of_the_same_name_is_not_cached(tmp_path):
    copy_of_the_package(tmp_path)
    file, digest = python(STRANGER, cwd=tmp_path)
    assert "elsewhere" in file
    assert digest == ""
