"""The dashboard's parts as notebook widgets. The served page imports nothing from here."""

from app.notebook.display import NotebookScreen
from app.notebook.jupyter import extension
from app.views.view import View

__all__ = ["extension"]

View.screen = NotebookScreen()
