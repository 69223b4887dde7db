"""Loads kernels when it is imported: by the fork server, so that no worker has to.

Starting numba and loading kernels takes seconds of each fresh process. The server that workers are
forked from imports this module once; the workers have all of it from their first moment.
"""

from __future__ import annotations

import contextlib
import json
import os

import numpy as np

from ..engine.rows import row_dtype
from ..run import Run
from ..trial import Trial
from .executors import VARIABLE
from .traces import encode


def load_kernels(text: str) -> int:
    """Load the kernels of these trials; return the number of trials that succeeded."""
    loaded = 0
    for data in json.loads(text):
        # A trial that cannot run fails again in its task, which reports the error.
        with contextlib.suppress(Exception):
            Run(Trial.from_dict(data))
            loaded += 1
    return loaded


load_kernels(os.environ.get(VARIABLE, "[]"))
encode([("", np.zeros(1, row_dtype(1)))])  # pyarrow imports pandas at its first array
