"""The metadata of a record: the result's serialised form, and what is needed to make it again."""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import platform
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..imports import Import
from ..result import Change, Result, describe, finite
from ..trial import FAMILIES

SCHEMA = 2
"""Version of the metadata; a newer one is refused, an older one read."""

UNFINISHED = "unfinished"
"""Why the run of a record ended, where it had not ended when the last rows were written."""

Metadata = dict[str, Any]


def metadata_of(result: Result) -> Metadata:
    """Return the metadata of a result: plain data, equal before and after the disk."""
    from .. import __version__  # here, because the package imports this module

    trial = result.trial
    return sealed(
        {
            "schema": SCHEMA,
            "versions": {
                "eij": __version__,
                "python": platform.python_version(),
                "numpy": np.__version__,
                "numba": importlib.metadata.version("numba"),
                **{name: f"sha256 {Import.of(name).sha256}" for name in trial.imports},
            },
            "key": trial.key if trial.is_data else None,
            "components": {family: trial.name_of(family) for family in FAMILIES},
            "names": [total.name for total in result.operators],
            **describe(result),
        }
    )


def upgraded(old: Metadata) -> Metadata:
    """Return metadata of schema 1, which 0.1 wrote, in the present form."""
    new = dict(old)
    energy = new.pop("energy")
    if not isinstance(energy, dict):
        raise ValueError("energy is not what it should be")
    new["schema"] = SCHEMA
    new["reason"] = UNFINISHED if old["reason"] == "running" else old["reason"]
    new["meter"] = {**old["meter"], **({"settlement": energy} if energy else {})}
    new["changes"] = [Change(*change)._asdict() for change in old["changes"]]
    new["operators"] = [
        {**entry, "name": name, "histogram": list(zip(*entry["histogram"], strict=True))}
        for name, entry in zip(old["names"], old["operators"], strict=True)
    ]
    return sealed(new)


def seal(metadata: Mapping[str, Any]) -> str:
    """Return a digest of the metadata, which stands in them: a change by accident shows."""
    rest = {key: value for key, value in metadata.items() if key != "seal"}
    return hashlib.blake2b(json.dumps(rest, sort_keys=True).encode(), digest_size=16).hexdigest()


def sealed(metadata: Metadata) -> Metadata:
    """Return metadata with their seal, as JSON has them."""
    plain = loads(dumps(metadata))
    return {**plain, "seal": seal(plain)}


# --- JSON that keeps every number -----------------------------------------------------------------


def dumps(value: Any) -> bytes:
    """Write strict JSON; numbers that it does not have become the texts "nan", "inf", "-inf"."""
    return json.dumps(finite(value, str), allow_nan=False).encode()


def loads(text: str | bytes) -> Any:
    """Read strict JSON: Python's reader alone would take NaN and Infinity."""

    def refuse(word: str) -> None:
        raise ValueError(f"{word} is no JSON")

    return json.loads(text, parse_constant=refuse)
