"""x"""

from . import algorithms, meters, problems, selectors
