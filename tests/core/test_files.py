"""Knapsack files: three formats are read, everything else is refused with its place."""

import gzip
import io
import os
import pickle
import random
import subprocess
import sys
import zipfile

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from eij_core import InputError, InstanceError, Trial
from eij_core.problems import reading
from eij_core.problems.bits.files import parse_knapsack
from eij_core.problems.bits.knapsack import build, pisinger
from eij_core.registry import FILE_BYTES, Registry, problems, read_file

CLASSIC = b"3 10\n5 4\n6 3\n7 20\n1 1 0\n"
KPLIB = b"\n3\n10\n\n5 4\n6 3\n7 20\n"
CSV = (
    b"knapPI_1_3_10_1\nn 3\nc 10\nz 11\ntime 0.00\n1,5,4,1\n2,6,3,1\n3,7,20,0\n-----\n\n"
    b"knapPI_1_2_10_2\nn 2\nc 8\nz 9\ntime 12.5\n1,9,8,1\n2,1,9,0\n-----\n\n"
)
EXPECTED = ([5, 6, 7], [4, 3, 20], 10)


def parsed(data, instance=1):
    profits, weights, capacity = parse_knapsack(data, instance)
    assert profits.dtype == weights.dtype == np.int64
    return profits.tolist(), weights.tolist(), capacity


@pytest.mark.parametrize(
    "data",
    [
        CLASSIC,
        b"3 10\n5 4\n6 3\n7 20",
        b"\xef\xbb\xbf3 10\n5 4\n6 3\n7 20\n",
        b"  3\t10 \r\n5 4\r\n\r\n6   3\r\n7 20\r\n1 1 0\r\n\r\n",
        KPLIB,
        CSV,
        CSV.removesuffix(b"-----\n\n"),
        CSV.partition(b"-----")[0],
    ],
)
def test_the_same_instance_in_every_format(data):
    assert parsed(data) == EXPECTED


def test_the_second_of_several_instances():
    assert parsed(CSV, 2) == ([9, 1], [8, 9], 8)


items = st.lists(st.tuples(st.integers(0, 10**9), st.integers(1, 10**9)), min_size=1, max_size=30)


@given(items.filter(lambda pairs: any(p for p, _ in pairs)), st.integers(0, 10**12))
def test_what_is_written_is_read(pairs, capacity):
    lines = "".join(f"{p} {w}\n" for p, w in pairs)
    bits = " ".join("0" for _ in pairs)
    table = "".join(f"{i},{p},{w},0\n" for i, (p, w) in enumerate(pairs, 1))
    n = len(pairs)
    expected = [p for p, _ in pairs], [w for _, w in pairs], capacity
    for text in (
        f"{n} {capacity}\n{lines}",
        f"{n} {capacity}\n{lines}{bits}\n",
        f"{n}\n{capacity}\n\n{lines}",
        f"name\nn {n}\nc {capacity}\nz 0\ntime 0.1\n{table}-----\n",
    ):
        assert parsed(text.encode()) == expected


BAD = {
    "nothing": (b"", 1, 1, "the end of the file"),
    "blank": (b" \n\n\t\n", 4, 1, "the end of the file"),
    "no capacity": (b"3\n", 2, 1, "the end of the file"),
    "three in the head": (b"3 10 4\n", 1, 6, "4"),
    "n = 0": (b"0 10\n", 1, 1, "0"),
    "n = 10^12": (b"1000000000000 10\n1 1\n", 1, 1, "1000000000000"),
    "n too long": (b"9999999999999999999999 1\n", 1, 1, "9999999999999999999999"),
    "n one too many": (b"100001 10\n", 1, 1, "100001"),
    "negative capacity": (b"1 -1\n1 1\n", 1, 3, "-1"),
    "nan": (b"1 5\nnan 1\n", 2, 1, "nan"),
    "inf": (b"1 5\n1 inf\n", 2, 3, "inf"),
    "1e999": (b"1 5\n1e999 1\n", 2, 1, "1e999"),
    "underscore": (b"1 5\n1_000 1\n", 2, 1, "1_000"),
    "decimal": (b"1 5\n1.5 1\n", 2, 1, "1.5"),
    "plus": (b"1 5\n+1 1\n", 2, 1, "+1"),
    "hexadecimal": (b"1 5\n0x1 1\n", 2, 1, "0x1"),
    "other digits": ("1 5\n٣ 1\n".encode(), 2, 1, "٣"),
    "negative weight": (b"1 5\n1 -1\n", 2, 3, "-1"),
    "zero weight": (b"1 5\n1 0\n", 2, 3, "0"),
    "too few items": (b"2 5\n1 1\n", 3, 1, "the end of the file"),
    "too many items": (b"1 5\n1 1\n2 2\n", 3, 3, "2"),
    "one in a line": (b"2 5\n1\n2 2\n", 2, 2, "the end of the line"),
    "three in a line": (b"1 5\n1 2 3\n", 2, 5, "3"),
    "short solution": (b"3 5\n1 1\n1 1\n1 1\n0 1\n", 5, 4, "the end of the line"),
    "solution of 2": (b"2 5\n1 1\n1 1\n0 2\n", 4, 3, "2"),
    "more after it": (b"2 5\n1 1\n1 1\n0 1\n0 1\n", 5, 1, "0"),
    "no profit": (b"2 5\n0 1\n0 1\n", 1, 1, "0"),
    "sum too large": (b"2 5\n1 %d\n1 %d\n" % (2**52, 2**52), 1, 1, str(2**53)),
    "odd start": (b"*3 10\n", 1, 1, "*3"),
    "csv: wrong key": (b"name\nm 3\n", 2, 1, "m"),
    "csv: order": (b"name\nc 3\n", 2, 1, "c"),
    "csv: no value": (b"name\nn\n", 2, 2, "the end of the line"),
    "csv: time": (b"name\nn 1\nc 1\nz 1\ntime soon\n", 5, 6, "soon"),
    "csv: index": (b"name\nn 1\nc 1\nz 1\ntime 0\n2,1,1,0\n", 6, 1, "2"),
    "csv: bit": (b"name\nn 1\nc 1\nz 1\ntime 0\n1,1,1,2\n", 6, 7, "2"),
    "csv: empty cell": (b"name\nn 1\nc 1\nz 1\ntime 0\n1,,1,0\n", 6, 3, ""),
    "csv: cells": (b"name\nn 1\nc 1\nz 1\ntime 0\n1,1,1\n", 6, 6, "the end of the line"),
    "csv: no dashes": (b"name\nn 1\nc 1\nz 1\ntime 0\n1,1,1,0\nmore\n", 7, 1, "more"),
    "UTF-16": ("3 10\n".encode("utf-16"), 1, 4, "a NUL byte at offset 3"),
    "Latin-1": (b"3 10\n5 \xe9\n", 2, 3, "byte 0xe9 at offset 7"),
    "mark, then Latin-1": (b"\xef\xbb\xbf3 \xe9\n", 1, 6, "byte 0xe9 at offset 5"),
    "bidi": ("3 \u202e10\n".encode(), 1, 3, "\u202e10"),
    "lone carriage return": (b"1 5\r1 1\r", 1, 5, "1"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_files_are_refused_with_the_place(name):
    data, line, column, found = BAD[name]
    if name == "lone carriage return":
        found, column = "1\r", 5
        with pytest.raises(InstanceError):
            parse_knapsack(data)
        return
    with pytest.raises(InstanceError) as info:
        parse_knapsack(data)
    error = info.value
    assert (error.line, error.column, error.found) == (line, column, found)
    assert str(error).startswith(f"line {line}, column {column}: expected ")
    assert pickle.loads(pickle.dumps(error)).args == error.args


@pytest.mark.parametrize(("data", "instance"), [(CLASSIC, 2), (KPLIB, 3), (CSV, 3), (CSV, 99)])
def test_an_instance_that_is_not_there(data, instance):
    with pytest.raises(InstanceError, match=str(instance)):
        parse_knapsack(data, instance)


def zipped():
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("a.kp", CLASSIC)
    return file.getvalue()


@pytest.mark.parametrize(
    "data",
    [gzip.compress(CLASSIC), zipped(), b"\x89PNG\r\n\x1a\n", pickle.dumps([1]), CLASSIC + b"\0"],
    ids=["gzip", "zip", "png", "pickle", "nul"],  # archives hold the time, and ids must not
)
def test_what_is_not_text(data):
    with pytest.raises(InstanceError, match="text file"):
        parse_knapsack(data)


def test_limits_of_size(monkeypatch):
    with pytest.raises(InstanceError, match=f"at most {FILE_BYTES} bytes"):
        parse_knapsack(b" " * (FILE_BYTES + 1))
    wide = b"1 5\n1 1" + b" " * (reading.LINE_BYTES - 3) + b"\n"
    assert parsed(wide) == ([1], [1], 5)
    with pytest.raises(InstanceError, match="65536 bytes a line"):
        parse_knapsack(wide.replace(b"1 1 ", b"1 1  "))
    with pytest.raises(InstanceError, match="65536 bytes a line"):
        parse_knapsack("1 5\n1 1{}\n".format("é" * 40_000).encode())
    with pytest.raises(InstanceError, match="at most 2000000 entries"):
        parse_knapsack(b"1 2\n" * 1_000_001)
    monkeypatch.setattr(reading, "TOKENS", 3)
    with pytest.raises(InstanceError, match="at most 3 entries"):
        parse_knapsack(CLASSIC)


@given(st.binary(max_size=300))
@example(b"1 1\n1 1\n\x85")
def test_any_bytes_are_read_or_refused(data):
    read_or_refused(data)


WORDS = [
    *("", "0", "-1", "1e5", "nan", "inf", "1_0", "99999999999999999999", "0.5", "x", "\x00"),
    *("n", "c", "-----", ",", "é", "\u202e", "\n", "\r", " ", "\t", "1 1", "1,1,1,1"),
]
mutations = st.lists(
    st.tuples(
        st.sampled_from(["drop", "double", "swap", "replace", "insert"]),
        st.integers(0, 10**6),
        st.sampled_from(WORDS),
    ),
    max_size=4,
)


@given(st.sampled_from([CLASSIC, KPLIB, CSV]), mutations, st.integers(1, 3))
def test_mutated_files_are_read_or_refused(data, changes, instance):
    tokens = data.decode().replace("\n", " \n ").replace(",", " , ").split(" ")
    for kind, where, word in changes:
        at = where % max(1, len(tokens))
        match kind:
            case "drop":
                del tokens[at : at + 1]
            case "double":
                tokens[at:at] = tokens[at : at + 1]
            case "swap":
                tokens[at : at + 2] = tokens[at : at + 2][::-1]
            case "replace":
                tokens[at : at + 1] = [word]
            case "insert":
                tokens.insert(at, word)
    text = " ".join(tokens).replace(" \n ", "\n").replace(" , ", ",")
    read_or_refused(text.encode("utf-8", "surrogatepass"), instance)


@pytest.mark.chaos
def test_ten_thousand_mutants():
    draw = random.Random(1)
    for _ in range(10_000):
        data = bytearray(draw.choice([CLASSIC, KPLIB, CSV]))
        for _ in range(draw.randrange(1, 6)):
            at = draw.randrange(len(data))
            data[at : at + draw.randrange(3)] = draw.choice(WORDS).encode()
        read_or_refused(bytes(data))


def read_or_refused(data, instance=1):
    try:
        profits, weights, capacity = parse_knapsack(data, instance)
    except InstanceError as error:
        assert error.line >= 1
        assert error.column >= 1
        return
    assert profits.size == weights.size >= 1
    assert profits.min() >= 0
    assert weights.min() >= 1
    assert capacity >= 0
    assert np.isfinite(build(profits, weights, min(capacity, 1000)).penalty)


def test_a_huge_head_allocates_nothing():
    code = (
        "import resource; from eij_core.problems.bits.files import parse_knapsack as p\n"
        "resource.setrlimit(resource.RLIMIT_AS, (2**30, 2**30))\n"
        "try: p(b'1000000000000 5\\n1 1\\n')\n"
        "except ValueError as error: print(error)"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True,
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
    )  # fmt: skip
    assert "found '1000000000000'" in ended.stdout


# --- the registered problem -----------------------------------------------------------------------


@pytest.fixture
def kp(tmp_path):
    path = tmp_path / "small.kp"
    path.write_bytes(CLASSIC)
    return path


def test_the_problem(kp):
    problem = problems.make(f"knapsack-file:file={kp}")
    assert (problem.n, problem.capacity, problem.optimum) == (3, 10, 11.0)
    assert problems.is_private("knapsack-file")


def test_the_generated_instance_from_a_file(tmp_path):
    profits, weights, capacity = pisinger("uncorrelated", 100, 1000, 1)
    lines = [f"100 {capacity}", *(f"{p} {w}" for p, w in zip(profits, weights, strict=True))]
    path = tmp_path / "knapPI_1_100_1000_1"
    path.write_text("\n".join(lines), "utf-8")
    assert problems.make(f"knapsack-file:file={path}").optimum == 9147.0


def test_the_key_is_the_content_not_the_path(kp, tmp_path):
    other = tmp_path / "elsewhere.txt"
    other.write_bytes(CLASSIC)
    different = tmp_path / "different.kp"
    different.write_bytes(KPLIB)
    trials = [Trial(f"knapsack-file:file={path}", meter="model") for path in (kp, other, different)]
    assert trials[0].key == trials[1].key != trials[2].key
    assert trials[0] != trials[1]
    assert Trial.from_json(trials[0].to_json()) == trials[0]
    assert str(kp) in trials[0].to_json()


def test_a_changed_file_is_noticed(kp):
    trial = Trial(f"knapsack-file:file={kp}", meter="model")
    kp.write_bytes(KPLIB)
    with pytest.raises(InputError, match="the file has changed"):
        trial.make("problem")


def test_a_trial_can_be_read_where_its_file_is_not(kp):
    trial = Trial(f"knapsack-file:file={kp}", meter="model")
    text = trial.to_json()
    kp.unlink()
    assert Trial.from_json(text) == trial
    with pytest.raises(InputError, match="No such file"):
        trial.make("problem")


def test_nothing_fits(tmp_path, caplog):
    path = tmp_path / "a.kp"
    path.write_text("1 3\n5 4\n", "utf-8")
    assert problems.make(f"knapsack-file:file={path}").optimum == 0.0
    assert "no item fits" in caplog.text


def test_the_fault_names_the_file(tmp_path):
    path = tmp_path / "a.kp"
    path.write_text("1 3\n5 x\n", "utf-8")
    with pytest.raises(InstanceError, match=r"a\.kp, line 2, column 3"):
        problems.make(f"knapsack-file:file={path}")


@pytest.mark.parametrize("path", ["a,b", " a", "a\n", "a\x00b"])
def test_paths_that_a_spec_cannot_hold(path):
    with pytest.raises(InputError):
        problems.check(files_spec(path))


def files_spec(path):
    from eij_core import Spec

    return Spec("knapsack-file", {"file": path})


def test_only_small_regular_files_are_read(tmp_path):
    with pytest.raises(InputError, match="a regular file"):
        read_file("file", str(tmp_path))
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="a regular file"):
        read_file("file", str(tmp_path / "pipe"))
    with pytest.raises(InputError, match="No such file"):
        read_file("file", str(tmp_path / "x" / ".." / ".." / "y"))
    with pytest.raises(InputError, match="name too long"):
        read_file("file", "x" * 5000)
    large = tmp_path / "large"
    with large.open("wb") as file:
        file.truncate(FILE_BYTES)
    assert len(read_file("file", str(large))) == FILE_BYTES
    with large.open("wb") as file:
        file.truncate(FILE_BYTES + 1)
    with pytest.raises(InputError, match="at most 5 MB"):
        read_file("file", str(large))


def test_components_without_files_are_as_they_were():
    plain = Registry("plain")

    @plain.add("it")
    def it(size: int = 3):
        return size

    spec = plain.check("it:size=4")
    assert plain.identity(spec) == spec
