"""The disk cache: it hits when nothing changed, never when something did, and may be absent."""

import pytest

from tests.core.processes import copy_of_the_package, python

pytestmark = pytest.mark.compiled

RUN = """
import json, eij_core
run = eij_core.Run(eij_core.Trial("nk:n=9,k=1", "ils:steps=3", "static", "model", "1 J"))
assert run.compiled
for block in run:
    pass
statistics = run._advance.stats
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

    source = package / "problems" / "nk.py"
    text = source.read_text("utf-8")
    changed = text.replace("return float(total) * self.scale", "return 7.0").replace(
        "return float(memo[self.n]) * self.scale", "return 7.0"
    )
    assert changed.count("return 7.0") == 2
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
