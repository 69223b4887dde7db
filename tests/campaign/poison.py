"""Fitness functions that do what they must not, for `external:function=…`."""

import multiprocessing
import os


def deadly(x):
    """Kill the process, if it is a worker."""
    if multiprocessing.parent_process() is not None:
        os._exit(9)
    return float(sum(x))


def faulty(x):
    raise ArithmeticError("no fitness today")


def harmless(x):
    return float(sum(x))
