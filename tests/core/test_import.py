"""Importing the core: no page, no compiler."""

from tests.core.processes import python
from tests.test_project import UI


def test_the_core_imports_no_ui_library_and_compiles_nothing():
    modules, compiled, names = python("""
import json, sys
from numba.core import event
with event.install_recorder("numba:compile") as recorder:
    import eij_core, eij_core.drive
modules = sorted({name.partition(".")[0] for name in sys.modules})
print(json.dumps([modules, len(recorder.buffer), eij_core.__all__]))
""")
    assert set(modules) & UI == set()
    assert compiled == 0
    assert len(names) <= 25
