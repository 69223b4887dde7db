"""F1–F8: uploads are text, small, parsed strictly; what is downloaded can be loaded again."""

import contextlib
import dataclasses
import gzip
import io
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.pages.run import uploads
from app.pages.run.settings import OPENING, Settings
from app.server.limits import UPLOAD_BYTES
from eij_core import EijError, Trial, solve
from eij_core.records import write
from tests.app.tiny import PAYLOAD


@pytest.fixture(scope="module")
def result():
    return solve(Trial("nk:n=12,k=2", "ils:steps=4", meter="model", budget="4 J"), compiled=False)


@pytest.mark.parametrize("suffix", [".json", ".csv"])
def test_a_downloaded_run_can_be_loaded_again(result, suffix):
    snapshot = uploads.read(write(result, suffix), f"run{suffix}")
    assert snapshot.rows.tobytes() == result.rows.tobytes()
    assert snapshot.names == ("flip-1", "flip-5")
    assert snapshot.budget == result.trial.budget
    assert snapshot.tally.histogram.sum() == result.spent.decisions
    assert snapshot.components == ("nk", "ils", "eij-plus")
    assert snapshot.provenance == "simulated"


def test_parquet_is_written_for_others_and_not_read_here(result):
    import pyarrow.parquet as pq

    data = write(result, ".parquet")
    assert pq.read_table(io.BytesIO(data)).num_rows == len(result.rows)
    with pytest.raises(EijError, match="ends in"):
        uploads.read(data, "run.parquet")
    with pytest.raises(EijError, match="text file"):
        uploads.read(data, "run.json")


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[]",
        b"{}",
        b"null",
        b'{"format": NaN}',
        b"\xff\xfe{\x00}\x00",
        b"\x80abc",
        b"[" * 100_000,
        gzip.compress(b"{}", mtime=0),
        pickle.dumps({"a": 1}),
        b"PK\x03\x04",
        b"\x89PNG\r\n",
        b'{"a": 1' + b" " * 1000,
    ],
)
@pytest.mark.parametrize("name", ["run.json", "run.csv"])
def test_what_is_no_record_is_refused_with_a_reason(data, name):
    with pytest.raises(EijError) as refusal:
        uploads.read(data, name)
    assert str(refusal.value)
    assert "/tmp" not in str(refusal.value)


def test_too_large_is_refused_unparsed():
    with pytest.raises(EijError, match="5 MB"):
        uploads.read(b" " * (UPLOAD_BYTES + 1), "run.json")
    with pytest.raises(EijError, match=r"no record|damaged"):
        uploads.read(b" " * UPLOAD_BYTES, "run.json")


@given(st.integers(0, 10_000), st.binary(min_size=1, max_size=3))
def test_a_damaged_record_never_breaks_the_page(result, place, patch):
    data = bytearray(write(result, ".json"))
    place %= len(data) - len(patch)
    data[place : place + len(patch)] = patch
    with contextlib.suppress(EijError):
        uploads.read(bytes(data), "run.json")


@pytest.mark.parametrize("name", ["../../x.json", "a\0b.json", "x" * 300 + ".json", ""])
def test_a_name_is_never_a_path(name):
    with pytest.raises(EijError):
        uploads.read(b"{}", name)


def test_names_in_a_record_are_cleaned(result):
    named = tuple(total._replace(name=PAYLOAD + "\u202e") for total in result.operators)
    data = write(dataclasses.replace(result, operators=named), ".json")
    snapshot = uploads.read(data, "run.json")
    assert "\u202e" not in snapshot.names[0]
    assert len(snapshot.names[0]) <= 41


def test_the_run_of_the_opening_page_can_be_read():
    from app.pages.run.lessons.welcome import welcome

    snapshot = welcome()
    assert snapshot is not None
    assert [lane.kind for lane in snapshot.others] == ["uniform", "static", "static"]
    assert snapshot.budget == Settings(**OPENING).trial().budget
