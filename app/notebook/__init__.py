"""The dashboard's parts as notebook widgets. The served page imports nothing from here."""

from ..views.view import View
from .display import NotebookScreen
from .jupyter import extension

__all__ = ["extension"]

View.screen = NotebookScreen()
