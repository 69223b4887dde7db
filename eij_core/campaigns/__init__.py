"""Campaigns: a grid of trials, run on any executor, kept in a store that survives `kill -9`.

>>> from eij_core.campaigns import Campaign, Inline, Store, run_campaign
"""

from .conductor import Conductor, Event, state_of
from .executors import CampaignError, Dask, Inline, Processes
from .grid import Campaign
from .reader import Reader, Row
from .runner import run_campaign
from .store import Store
from .store_errors import StoreBusy, StoreError, StoreFull, StoreRefused

__all__ = [
    "Campaign",
    "CampaignError",
    "Conductor",
    "Dask",
    "Event",
    "Inline",
    "Processes",
    "Reader",
    "Row",
    "Store",
    "StoreBusy",
    "StoreError",
    "StoreFull",
    "StoreRefused",
    "run_campaign",
    "state_of",
]
