"""Importing the core: no page, no compiler, and nothing before its first use."""

import pytest

from tests.core.processes import python
from tests.test_project import UI

LIGHT = ("Trial", "Budget", "Registry", "Spec", "Range", "EijError", "InputError", "RunError")
"""Names of `eij_core` that need no array."""


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


def test_names_of_data_import_neither_numpy_nor_the_compiler():
    modules = python(f"""
import json, sys
from eij_core import {", ".join(LIGHT)}
print(json.dumps(sorted(sys.modules)))
""")
    assert {"numpy", "numba", "eij_core.problems"} & set(modules) == set()


@pytest.mark.long
def test_a_solved_trial_has_imported_no_tables_and_no_pictures():
    modules = python("""
import json, sys
from eij_core import Trial, solve
solve(Trial("nk:n=16,k=2", meter="model", budget="3 J"), compiled=False)
print(json.dumps(sorted(sys.modules)))
""")
    heavy = {"pandas", "pyarrow", "matplotlib", "jinja2", "typer", "rich", "distributed"}
    assert heavy & set(modules) == set()


@pytest.mark.long
def test_threads_that_ask_for_a_component_at_once_all_get_it():
    found = python("""
import json
from concurrent.futures import ThreadPoolExecutor
from eij_core.registry import selectors
with ThreadPoolExecutor(8) as pool:
    found = list(pool.map(lambda _: selectors.check("uniform").name, range(8)))
print(json.dumps(found))
""")
    assert found == ["uniform"] * 8
