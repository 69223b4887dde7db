"""Campaigns: a grid of trials, run on any executor, kept in a store that survives.

>>> from eij_core.campaigns import Campaign, Inline, Store, run_campaign
"""

from .executors import CampaignError, Dask, Inline, Processes
from .faults import StoreBusy, StoreError, StoreFull, StoreRefused
from .grid import Campaign, key_of
from .preparation import check_energy, prepare
from .reader import Reader, Row
from .runner import run_campaign
from .store import Store

__all__ = [
    "Campaign",
    "CampaignError",
    "Dask",
    "Inline",
    "Processes",
    "Reader",
    "Row",
    "Store",
    "StoreBusy",
    "StoreError",
    "StoreFull",
    "StoreRefused",
    "check_energy",
    "key_of",
    "prepare",
    "run_campaign",
]
