"""Records: runs on disk, written while they go on and read back.

A record is the serialised form of a result (`result.describe`), what is needed to make the run
again, and the recorded rows. While its run goes on it is an Arrow stream that grows; when the run
ends, a Parquet file. CSV and JSON hold the same and are exports.
"""

from .arrow import load_writer
from .folder import RunFolder
from .following import Following
from .record import Record, RecordError, load, read, save, write
from .recorder import Recorder
from .summary import Summary

__all__ = [
    "Following",
    "Record",
    "RecordError",
    "Recorder",
    "RunFolder",
    "Summary",
    "load",
    "load_writer",
    "read",
    "save",
    "write",
]
