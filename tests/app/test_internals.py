"""Private attributes of other packages: known, in one place each, and still there."""

import ast
import subprocess
import sys
from pathlib import Path

import panel as pn
import panel_material_ui as pmui
import pytest
from bokeh.application import Application
from bokeh.server.contexts import ApplicationContext
from panel.template import EditableTemplate
from panel.viewable import Viewable
from pyviz_comms import Comm, JupyterComm

from app.internals import bokeh, panel
from app.internals.panel import EchoComponent

APP = Path(__file__).parents[2] / "app"
PROMISED = {"_exit", "_replace", "_fields", "_asdict", "_repr_mimebundle_"}
"""Names with an underscore that Python and IPython document."""


def private_uses(path):
    """The private attributes that a file uses of objects other than its own."""
    tree = ast.parse(path.read_text("utf-8"))
    own = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    targets = [node for node in ast.walk(tree) if isinstance(node, ast.Assign | ast.AnnAssign)]
    for node in targets:
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            own |= {getattr(name, "id", "") for name in ast.walk(target)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr.startswith("_"):
            holder = node.value
            mine = isinstance(holder, ast.Name) and holder.id in ("self", "cls")
            mine = mine or (isinstance(holder, ast.Call) and ast.unparse(holder) == "super()")
            if not (mine or node.attr.endswith("__") or node.attr in PROMISED | own):
                yield f"{path.relative_to(APP)}:{node.lineno} {ast.unparse(node)}"


def test_private_attributes_are_used_in_internals_alone():
    files = [path for path in APP.rglob("*.py") if path.parent.name != "internals"]
    assert [use for path in files for use in private_uses(path)] == []


@pytest.mark.parametrize(
    ("owner", "name"),
    [
        (pn.Column(), "_hooks"),
        (pn.Column(), "_models"),
        (Viewable, "_on_msg"),
        (pn.state, "_views"),
        (pn.state, "_stylesheets"),
        (EditableTemplate, "_resources"),
        (pn.custom.JSComponent, "_server_change"),
        (pmui.RadioBoxGroup, "_allows_none"),
        (pmui.RadioButtonGroup, "_allows_none"),
        (JupyterComm(), "_comm"),
        (ApplicationContext(Application()), "_pending_sessions"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_panel_and_bokeh_still_have_it(owner, name):
    assert hasattr(owner, name)


def test_jupyter_still_has_it():
    pytest.importorskip("jupyter_bokeh")
    from ipykernel.comm.comm import BaseComm
    from jupyter_bokeh import BokehModel

    from app.internals import jupyter

    widget = pn.ipywidget(pn.Column())
    assert isinstance(widget, BokehModel)
    assert [name for name in (*jupyter.WIDGET, "_view_count") if not hasattr(widget, name)] == []
    assert "_reply_subshell_for" in {name for kind in BaseComm.__mro__ for name in vars(kind)}


def test_a_view_knows_its_pages():
    column = pn.Column("a")
    assert list(panel.pages_of(column)) == []
    root = column.get_root(comm=Comm())
    (page,) = panel.pages_of(column)
    assert page.root is root
    assert not page.listens
    page.comm._comm = object()  # as if the page had answered
    assert page.listens


def test_hooks_are_added_once_and_called():
    column, seen = pn.Column("a"), []

    def hook(view, root):
        seen.append(root)

    for _ in range(2):
        panel.add_hook(column, hook)
    assert column.get_root() is seen[0]
    assert len(seen) == 1


def test_no_button_need_be_pressed():
    buttons = pmui.RadioButtonGroup(options=["a", "b"], value=None)
    panel.allow_no_choice(buttons)
    buttons.value = None
    assert buttons.get_root().data.value is None


def test_an_echo_is_heard_at_once():
    class Echo(EchoComponent):
        _esm = "export function render() {}"

        def hear(self, name, value):
            heard.append((name, value))
            return True

    heard = []
    echo = Echo()
    echo._server_change(None, "ref", None, "beat", 0, 1)
    assert heard == [("beat", 1)]


def test_sessions_are_counted():
    context = ApplicationContext(Application())
    assert bokeh.session_count(context) == 0
    context._pending_sessions["a"] = None
    assert bokeh.session_count(context) == 1


@pytest.mark.long
def test_the_served_page_imports_nothing_of_the_notebook():
    code = (
        "import sys; import app.server.shell, app.server.admission, app.pages.run.page; "
        "print([name for name in sys.modules if name.startswith('app.notebook')])"
    )
    root = APP.parent
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_no_file_of_the_served_page_names_the_notebook():
    served = [path for path in APP.rglob("*.py") if "notebook" not in path.parts]
    named = [
        path.relative_to(APP)
        for path in served
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.ImportFrom)
        and (node.module or "").startswith(("app.notebook", "notebook."))
    ]
    assert [str(path) for path in named] == ["__init__.py"]


def test_the_server_starts_without_what_its_first_page_does_not_need():
    """HoloViews would import matplotlib for names of colours, and pandas to look at columns."""
    heavy = ("matplotlib", "pandas", "pyarrow", "dask", "scipy.stats", "typer", "IPython")
    code = (
        "import sys; import app.server.admission; from app.server.shell import Shell; "
        f"Shell(''); print([name for name in {heavy} if name in sys.modules]); "
        "import matplotlib, pandas"  # they are there for whoever needs them later
    )
    command = [sys.executable, "-c", code]
    ended = subprocess.run(command, cwd=APP.parent, capture_output=True, text=True, check=True)
    assert ended.stdout == "[]\n"
