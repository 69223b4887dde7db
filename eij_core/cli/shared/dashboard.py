"""Where the dashboard is: beside the core, as `app` in a checkout and as `eij_app` in a wheel."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from ...errors import EijError

ROOT = Path(__file__).parents[3]
PACKAGE = "eij_app" if (ROOT / "eij_app").is_dir() else "app"
NEEDED = ("panel", "holoviews", "bokeh", "param", "panel_material_ui")
"""What `pip install 'eij[app]'` adds."""


class DashboardMissing(EijError, ImportError):
    """The dashboard, or what it needs, is not installed."""


def dashboard_module(name: str) -> str:
    """Return the full name of a module of the dashboard, once it is sure whose it is.

    The core never imports the dashboard; a command does, by this name. A package of the user's that
    has the same name and is found first is refused, and not executed.
    """
    full = f"{PACKAGE}.{name}"
    if _is_found(PACKAGE):
        _check_home()
    if missing := [each for each in (*NEEDED, full) if not _is_found(each)]:
        raise DashboardMissing(
            f"the dashboard is not installed (no {', '.join(missing)}): pip install 'eij[app]'"
        )
    return full


def _check_home() -> None:
    """Refuse a package of the user's with the name of the dashboard's."""
    spec = importlib.util.find_spec(PACKAGE)
    home = ROOT / PACKAGE / "__init__.py"
    found = None if spec is None or spec.origin is None else Path(spec.origin)
    if found is None or not home.is_file() or not found.samefile(home):
        raise DashboardMissing(
            f"the dashboard is in {home.parent}, but Python finds {found} under the name "
            f"{PACKAGE}: rename that, or take its folder out of PYTHONPATH"
        )


def _is_found(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):
        return False
