"""The store: what is acknowledged stays, what is damaged is refused, nothing is overwritten."""

import contextlib
import json
import os
import random
import shutil
import sqlite3
import threading
import time
from pathlib import Path

import pytest

from eij_core import atomic_files
from eij_core.campaigns import (
    Reader,
    Row,
    Store,
    StoreBusy,
    StoreError,
    StoreFull,
    StoreRefused,
)
from eij_core.campaigns import (
    store_errors as faults,
)
from eij_core.campaigns.salvage import salvage
from eij_core.campaigns.store_errors import file_system
from eij_core.campaigns.traces import decode
from tests.campaign.small import campaign, essence, run

ASSETS = Path(__file__).parent / "assets"


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("finished") / "store"
    run(folder)
    return folder


@pytest.fixture
def copy(finished, tmp_path):
    return Path(shutil.copytree(finished, tmp_path / "copy"))


def row(key, **changes):
    return Row(key, "{}", "done", result_json='{"x": 1}')._replace(**changes)


def test_what_is_put_is_there(tmp_path):
    with Store(tmp_path / "s") as store:
        store.begin({"name": "x"}, "1")
        store.put([row("a"), row("b", state="failed", error="no")])
        store.note_attempts([("b", 1, 0.5, "here", 7, "worker died")])
        store.note_attempts([])
    with Reader(tmp_path / "s") as reader:
        assert reader.rows() == [row("a"), row("b", state="failed", error="no")]
        assert reader.states() == {"a": "done", "b": "failed"}
        assert reader.spec() == {"name": "x"}
        assert reader.attempts() == [("b", 1, 0.5, "here", 7, "worker died")]
        assert reader.rows()[0].result == {"x": 1}


def test_the_first_result_wins_but_a_failure_may_be_mended(tmp_path):
    with Store(tmp_path) as store:
        store.begin({}, "1")
        store.put([row("a", host="first"), row("b", state="failed")])
        store.put([row("a", host="second"), row("b", host="second")])
        hosts = {r.key: (r.state, r.host) for r in store.rows()}
    assert hosts == {"a": ("done", "first"), "b": ("done", "second")}


def test_traces_come_back_bit_by_bit(finished):
    with Reader(finished) as reader:
        traces = dict(reader.traces())
        assert len(traces) == 12
        key = sorted(traces)[3]
        ((only, rows),) = reader.traces([key])
        assert (only, rows.tobytes()) == (key, traces[key].tobytes())


def test_strays_are_swept_and_other_peoples_files_are_not(copy):
    parts = copy / "parts"
    before = sorted(path.name for path in parts.iterdir())
    (parts / f"{'0' * 32}.parquet").touch()
    (parts / f"{'0' * 32}.parquet.tmp").touch()
    (parts / "notes.txt").touch()
    Store(copy).close()
    assert sorted(path.name for path in parts.iterdir()) == sorted([*before, "notes.txt"])


def test_one_writer_a_folder(tmp_path):
    with Store(tmp_path) as store:
        store.begin({}, "1")
        with pytest.raises(StoreBusy, match=f"process {os.getpid()} on"):
            Store(tmp_path)
        Reader(tmp_path).close()
    store.close()  # a second time: nothing happens
    Store(tmp_path).close()
    assert StoreBusy.code == 75


def test_a_foreign_folder_is_left_alone(tmp_path):
    (tmp_path / "thesis.tex").write_text("x")
    with pytest.raises(StoreRefused, match=r"thesis\.tex"):
        Store(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]
    with pytest.raises(StoreRefused, match="holds no campaign"):
        Reader(tmp_path)


def test_a_foreign_database_is_left_alone(tmp_path):
    file = tmp_path / "campaign.sqlite"
    with contextlib.closing(sqlite3.connect(file)) as base:
        base.execute("CREATE TABLE recipes(name)")
    before = file.read_bytes()
    with pytest.raises(StoreRefused, match="not a campaign"):
        Store(tmp_path)
    assert file.read_bytes() == before
    file.write_text("hello")
    for kind in (Store, Reader):
        with pytest.raises(StoreRefused, match=r"damaged|not an SQLite"):
            kind(tmp_path)
    assert file.read_text() == "hello"


@pytest.mark.parametrize(("version", "words"), [(2, "newer EI/J"), (0, "never existed")])
def test_another_schema_is_refused(copy, version, words):
    with contextlib.closing(sqlite3.connect(copy / "campaign.sqlite")) as base:
        base.execute(f"PRAGMA user_version={version}")
        base.commit()
    with pytest.raises(StoreRefused, match=words):
        Store(copy)


def test_a_store_begun_and_killed_is_begun_again(tmp_path):
    (tmp_path / "campaign.sqlite").touch()
    with Store(tmp_path) as store:
        assert store.spec() == {}
        assert store.code_version() == ""
    with contextlib.closing(sqlite3.connect(tmp_path / "campaign.sqlite")) as base:
        base.executescript("PRAGMA writable_schema=1; DELETE FROM sqlite_master; VACUUM;")
    Store(tmp_path).close()


@pytest.mark.parametrize("flips", [60, pytest.param(1000, marks=pytest.mark.chaos)])
def test_a_flipped_bit_is_harmless_or_refused(finished, tmp_path, flips):
    """F34: equal or refused; never a wrong number."""
    with Reader(finished) as reader:
        truth = essence(reader)
        truth_spec = reader.spec()
    data = (finished / "campaign.sqlite").read_bytes()
    shutil.copytree(finished / "parts", tmp_path / "parts")
    dice, refused = random.Random(1), 0
    for _ in range(flips):
        broken = bytearray(data)
        at = dice.randrange(len(data) * 8)
        broken[at // 8] ^= 1 << at % 8
        (tmp_path / "campaign.sqlite").write_bytes(broken)
        try:
            with Reader(tmp_path) as reader:
                assert essence(reader)[0] == truth[0]
                assert reader.spec() == truth_spec
        except StoreRefused:
            refused += 1
        with contextlib.suppress(StoreError):
            Store(tmp_path).close()
            continue
        assert (tmp_path / "campaign.sqlite").read_bytes() == broken
    assert refused > flips / 4


def test_salvage_saves_what_is_intact(copy, tmp_path):
    with Reader(copy) as reader:
        truth, traces = essence(reader)
    file = copy / "campaign.sqlite"
    data = bytearray(file.read_bytes())
    place = data.index(b'"fitness"')
    data[place + 13] ^= 1
    file.write_bytes(data)
    part = next((copy / "parts").iterdir())
    part.write_bytes(part.read_bytes()[:-1])
    with pytest.raises(StoreRefused, match="salvage"):
        Store(copy)
    saved = salvage(copy, tmp_path / "new")
    assert 0 < saved.trials < 12
    with Reader(tmp_path / "new") as reader:
        kept, kept_traces = essence(reader)
        assert reader.spec() == campaign().data
    assert kept.items() <= truth.items()
    assert kept_traces.items() <= traces.items()
    # A part may hold the trace of a trial whose row is lost.
    assert saved.without_trace == len(kept.keys() - kept_traces.keys())
    run(tmp_path / "new")
    with Reader(tmp_path / "new") as reader:
        assert essence(reader)[0] == truth


def test_salvage_asks_for_what_is_lost(copy, tmp_path):
    with contextlib.closing(sqlite3.connect(copy / "campaign.sqlite")) as base:
        base.execute("UPDATE campaign SET spec_json = '{}'")
        base.commit()
    with pytest.raises(StoreRefused, match="--file"):
        salvage(copy, tmp_path / "new")
    assert salvage(copy, tmp_path / "new", campaign().data).trials == 12
    with pytest.raises(StoreRefused, match="not empty"):
        salvage(copy, tmp_path / "new")
    with pytest.raises(StoreRefused, match="holds no campaign"):
        salvage(tmp_path, tmp_path / "newer")


def test_a_cut_or_missing_trace_is_skipped_and_counted(copy):
    """F35: the row stays, whatever became of the part."""
    with Reader(copy) as reader:
        sizes = {path: (copy / path).stat().st_size for path in reader.parts()}
    path = max(sizes, key=sizes.get)
    whole = (copy / path).read_bytes()
    for length in [*range(0, len(whole), 256), None]:
        if length is None:
            (copy / path).unlink()
        else:
            (copy / path).write_bytes(whole[:length])
        with Reader(copy, verify=False) as reader:
            assert len(reader.rows()) == 12
            assert len(dict(reader.traces())) < 12
            assert reader.bad_parts() == [path] == reader.check_parts()


def test_a_path_in_the_store_is_not_trusted(copy, tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("x")
    with contextlib.closing(sqlite3.connect(copy / "campaign.sqlite")) as base:
        base.execute("UPDATE trial SET trace_path = ?", (str(secret),))
        base.commit()
    with Reader(copy, verify=False) as reader:
        assert list(reader.traces()) == []


class FullDisk:
    def __init__(self, monkeypatch, error):
        def refuse(*args):
            raise error

        monkeypatch.setattr(atomic_files.os, "fsync", refuse)


def test_a_full_disk_is_said_and_nothing_is_half_written(tmp_path, monkeypatch):
    with Store(tmp_path) as store:
        store.begin({}, "1")
        store.put([row("a")])
        with monkeypatch.context() as patch:
            FullDisk(patch, OSError(28, "No space left on device"))
            with pytest.raises(StoreFull, match="No space left"):
                store.put([row("b")], b"part")
        with monkeypatch.context() as patch:
            FullDisk(patch, PermissionError(13, "other trouble"))
            with pytest.raises(PermissionError):
                store.put([row("b")], b"part")
        assert list(store.states()) == ["a"]
        assert list((tmp_path / "parts").iterdir()) == []


def test_sqlites_complaints_are_told_apart(tmp_path):
    with pytest.raises(StoreFull), faults.writing(tmp_path):
        error = sqlite3.OperationalError("disk I/O error")
        error.sqlite_errorcode = sqlite3.SQLITE_IOERR | 3 << 8
        raise error
    with pytest.raises(sqlite3.OperationalError), faults.writing(tmp_path):
        raise sqlite3.OperationalError("syntax")


def test_a_network_folder_is_refused(tmp_path, monkeypatch):
    mounts = tmp_path / "mounts"
    mounts.write_text(f"x / ext4 rw\nserver:/x {tmp_path}/far nfs4 rw 0 0\nshort\n")
    assert file_system(tmp_path / "far" / "deep", mounts) == "nfs4"
    assert file_system(tmp_path / "farther", mounts) == "ext4"
    assert file_system(tmp_path, tmp_path / "none") == ""
    monkeypatch.setattr(faults, "file_system", lambda folder: "nfs4")
    with pytest.raises(StoreRefused, match="nfs4"):
        Store(tmp_path / "far")


def test_a_published_folder_can_be_read(copy, monkeypatch):
    """Without permission to write, SQLite must be told that nobody else writes either."""
    monkeypatch.setattr("eij_core.campaigns.reader.os.access", lambda *args: False)
    with Reader(copy) as reader:
        assert len(reader.rows()) == 12


def test_reading_while_writing(tmp_path):
    """F38: a consistent prefix, and the writer goes on."""
    stop, seen = threading.Event(), []

    def read():
        while not stop.is_set():
            with Reader(tmp_path) as reader:
                keys = [r.key for r in reader.rows()]
            seen.append(keys == [f"{i:04}" for i in range(len(keys))] and len(keys) % 5 == 0)

    with Store(tmp_path) as store:
        store.begin({}, "1")
        readers = [threading.Thread(target=read) for _ in range(4)]
        for reader in readers:
            reader.start()
        longest = 0.0
        for i in range(0, 200, 5):
            started = time.monotonic()
            store.put([row(f"{j:04}") for j in range(i, i + 5)])
            longest = max(longest, time.monotonic() - started)
        stop.set()
        for reader in readers:
            reader.join()
    assert seen
    assert all(seen)
    assert longest < 5.0  # 1 s is the promise; the tests share their cores


def test_old_stores_open(tmp_path):
    """F39: every schema that was released."""
    for asset in sorted(ASSETS.glob("store-v*")):
        folder = tmp_path / asset.name
        shutil.copytree(asset, folder)
        with Reader(folder) as reader:
            assert {r.state for r in reader.rows()} == {"done"}
            assert len(dict(reader.traces())) == len(reader.rows())
            assert reader.check_parts() == []
            json.dumps(reader.spec())


def test_parts_of_different_portfolios(tmp_path):
    plan = campaign(algorithms=["ils:steps=10", "ils:operators=flip-1+flip-2+flip-3,steps=10"])
    run(tmp_path, plan)
    with Reader(tmp_path) as reader:
        widths = {rows["applications"].shape[1] for _, rows in reader.traces()}
        data = (tmp_path / next(iter(reader.parts()))).read_bytes()
    assert widths == {2, 3}
    assert list(decode(data, set())) == []
