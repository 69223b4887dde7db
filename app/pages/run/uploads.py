"""Uploaded records, with the limits of a server."""

from __future__ import annotations

import math

from eij_core import Budget, InputError, records
from eij_core.records import Record

from ...server.limits import ROWS, check_upload
from ...text.escape import label
from ...views.feasibility import has_constraints
from ...views.snapshot import Snapshot, final_tally

TEXTS = (".json", ".csv")
"""What may be uploaded: text, which is neither unpacked nor executed."""


def read(data: bytes, name: str) -> Snapshot:
    """Read an uploaded record, or say what is wrong with it; its name is only a label."""
    shown = label(name, 60)
    if not name.lower().endswith(TEXTS):
        raise InputError("file", shown, f"a name that ends in {' or '.join(TEXTS)}")
    check_upload(data)
    if b"\0" in data:
        raise InputError("file", shown, "a text file; this one holds binary data")
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError("file", f"byte {error.start}", "UTF-8 text") from None
    return snapshot_of_record(records.read(data, "this file"))


def snapshot_of_record(record: Record) -> Snapshot:
    """Return the snapshot of a record, for replay; names in it are cleaned."""
    if len(record.rows) > 50 * ROWS:
        raise InputError("file", f"{len(record.rows)} rows", f"at most {50 * ROWS}")
    rows = record.rows[:: max(1, math.ceil(len(record.rows) / ROWS))]
    trial = record.metadata["trial"]
    budget = Budget.parse(str(trial["budget"])) if trial else Budget(joules=record.spent.joules)
    words = {family: label(word, 40) for family, word in record.metadata["components"].items()}
    return Snapshot(
        rows,
        tuple(label(name, 40) for name in record.names),
        budget,
        words["problem"],
        words["algorithm"],
        words["selector"],
        label(record.meter.name, 40),
        str(record.meter.provenance),
        record.best.optimum,
        final_tally(record),
        info=record.meter,
        constrained=has_constraints(words["problem"]),
    )
