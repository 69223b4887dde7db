"""TSPLIB, QAPLIB, LibOpt and Taillard files: what they say, and what is wrong with others."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eij_core import InputError, Trial, solve
from eij_core.components import check_component
from eij_core.errors import InstanceError
from eij_core.problems.permutations.flowshop import flowshop
from eij_core.problems.permutations.flowshop_file import parse_flowshop
from eij_core.problems.permutations.qap_file import parse_qap
from eij_core.problems.permutations.tsp_file import parse_tsp
from eij_core.registry import problems
from tests import oracles

PLACES = [(38.24, 20.42), (39.57, 26.15), (40.56, 25.32), (-36.26, 23.12)]
HEAD = "NAME: four\nTYPE : TSP\nCOMMENT: by hand: 4\nDIMENSION : 4\n"
MATRIX = [[0, 3, 5, 9], [3, 0, 4, 8], [5, 4, 0, 7], [9, 8, 7, 0]]
EXPLICIT = (
    HEAD + "EDGE_WEIGHT_TYPE: EXPLICIT\nEDGE_WEIGHT_FORMAT: {}\nEDGE_WEIGHT_SECTION\n{}\nEOF\n"
)


def placed(rule):
    rows = "".join(f"{i} {a} {b}\n" for i, (a, b) in enumerate(PLACES, 1))
    return f"{HEAD}EDGE_WEIGHT_TYPE : {rule}\nNODE_COORD_SECTION\n{rows}EOF\n".encode()


def entries(form):
    """Return the numbers that a form of the matrix has, row by row."""
    upper = form.startswith("UPPER") == form.endswith("ROW")
    off = "DIAG" not in form
    ranges = {
        "full": lambda i: range(4),
        "upper": lambda i: range(i + off, 4),
        "lower": lambda i: range(i + 1 - off),
    }
    part = "full" if form == "FULL_MATRIX" else "upper" if upper else "lower"
    return [MATRIX[i][j] for i in range(4) for j in ranges[part](i)]


@pytest.mark.parametrize("rule", ["EUC_2D", "CEIL_2D", "ATT", "GEO"])
def test_places(rule):
    problem = parse_tsp(placed(rule))
    rows = [[oracles.tsplib_distance(rule, a, b) for b in PLACES] for a in PLACES]
    for x in ([0, 1, 2, 3], [2, 0, 3, 1]):
        assert problem.fitness(np.array(x)) == oracles.tour(rows, x)
    assert problem.places.tolist() == [list(place) for place in PLACES]


@pytest.mark.parametrize(
    "form",
    [
        *("FULL_MATRIX", "UPPER_ROW", "LOWER_ROW", "UPPER_DIAG_ROW", "LOWER_DIAG_ROW"),
        *("UPPER_COL", "LOWER_COL", "UPPER_DIAG_COL", "LOWER_DIAG_COL"),
    ],
)
def test_distances(form):
    numbers = " ".join(map(str, entries(form)))
    problem = parse_tsp(EXPLICIT.format(form, numbers.replace(" 9", "\r\n\t9")).encode())
    assert problem.table.tolist() == MATRIX
    assert check_component(problem) == []


def test_places_to_display_are_skipped():
    text = EXPLICIT.format("UPPER_ROW", "3 5 9 4 8 7").replace(
        "EOF", "DISPLAY_DATA_SECTION\n1 0 0\n2 0 1\n3 1 1\n4 1 0"
    )
    assert parse_tsp(text.encode()).table.tolist() == MATRIX


@pytest.mark.parametrize(
    ("before", "after", "where", "expected"),
    [
        ("DIMENSION : 4", "DIMENSION : 4000000000", (4, 13), "number of cities"),
        ("DIMENSION : 4", "DIMENSION : four", (4, 13), "number of cities"),
        ("TYPE : TSP", "TYPE : ATSP", (2, 8), "one of TSP"),
        ("TYPE : EUC_2D", "TYPE : MAN_2D", (5, 20), "one of EUC_2D"),
        ("TYPE : EUC_2D", "TYPE EUC_2D x", (5, 25), "a keyword and its value"),
        ("NODE_COORD_SECTION", "NODES: 4", (6, 1), "one of TYPE"),
        ("DIMENSION : 4\n", "", (5, 1), "DIMENSION before"),
        ("1 38.24 20.42", "1 38.24", (7, 8), "the number of a city and its place"),
        ("1 38.24 20.42", "1 38.24 1e99", (7, 9), "a coordinate"),
        ("1 38.24 20.42", "1 nan 20.42", (7, 3), "a coordinate"),
        ("2 39.57", "1 39.57", (8, 1), "each city once"),
        ("2 39.57", "5 39.57", (8, 1), "the number of a city"),
        ("4 -36.26 23.12\n", "", (10, 1), "the number of a city and its place"),
        ("TYPE : TSP", "DIMENSION : 3", (4, 1), "DIMENSION once"),
        ("EDGE_WEIGHT_TYPE : EUC_2D\n", "", (10, 1), "EDGE_WEIGHT_TYPE before"),
    ],
)
def test_what_is_wrong_with_a_map(before, after, where, expected):
    text = placed("EUC_2D").decode()
    assert before in text
    with pytest.raises(InstanceError, match=expected) as info:
        parse_tsp(text.replace(before, after, 1).encode())
    assert (info.value.line, info.value.column) == where


@pytest.mark.parametrize(
    ("form", "numbers", "expected"),
    [
        ("FULL_MATRIX", "0 3 5 9 3 0 4 8 5 4 0 7 9 8 1 0", "7, the distance of the way back"),
        ("UPPER_ROW", "3 5 9 4 8", "a distance"),
        ("UPPER_ROW", "3 5 9 4 8 7 1", "the end of the line"),
        ("UPPER_ROW", "3 5 9 4 8 -7", "a distance"),
        ("FUNCTION", "3", "EDGE_WEIGHT_FORMAT as one of"),
    ],
)
def test_what_is_wrong_with_distances(form, numbers, expected):
    with pytest.raises(InstanceError, match=expected):
        parse_tsp(EXPLICIT.format(form, numbers).encode())


DAT = b"3\r\n\r\n0 1\t2\r\n3 0 4\r\n5 6 0\r\n\r\n0 7 8\r\n9 0 1\r\n2 3 0\r\n"
FLP = (
    b"NAME : three\nCOMMENT : N : 7\nN : 3\nFLOWS_BETWEEN_FACILITIES\n0 1 2 3 0 4\n5 6 0\n"
    b"DISTANCES_BETWEEN_LOCATIONS\n0 7 8\n9 0 1 2 3 0\nEOF\n"
)


@pytest.mark.parametrize("data", [DAT, FLP, FLP.replace(b"N : 3", b"N: 3")])
def test_assignments(data):
    problem = parse_qap(data)
    a, b = [[0, 1, 2], [3, 0, 4], [5, 6, 0]], [[0, 7, 8], [9, 0, 1], [2, 3, 0]]
    assert problem.fitness(np.array([2, 0, 1])) == oracles.assignment(a, b, [2, 0, 1])
    assert not problem.symmetric


@pytest.mark.parametrize(
    ("data", "where", "expected"),
    [
        (b"", (1, 1), "the number of facilities"),
        (b"1000000\n", (1, 1), "the number of facilities"),
        (DAT.replace(b"5 6 0", b"5 x 0"), (5, 3), "an entry of a matrix"),
        (DAT + b"1\n", (10, 1), "the end of the file"),
        (DAT[:-4], (9, 4), "an entry of a matrix"),
        (FLP.replace(b"FLOWS", b"FLOW"), (4, 1), "FLOWS_BETWEEN"),
        (FLP.replace(b"N : 3", b"N 3"), (3, 3), ":"),
    ],
)
def test_what_is_wrong_with_an_assignment(data, where, expected):
    with pytest.raises(InstanceError, match=expected) as info:
        parse_qap(data)
    assert info.value.line == where[0]


SHOP = "number of jobs, machines, seed, bounds :\n {} {} 873654221 1278 1232\nprocessing times :\n"


def shop_file():
    problem = flowshop()
    rows = "\n".join(" ".join(map(str, row)) for row in problem.times.T.tolist())
    return SHOP.format(20, 5) + rows + "\n"


def test_schedules():
    text = shop_file() + SHOP.format(2, 1) + "3 4\n"
    problem = parse_flowshop(text.encode())
    assert (problem.times == flowshop().times).all()
    assert np.isnan(problem.optimum)
    assert parse_flowshop(text.encode(), 2).times.tolist() == [[3], [4]]
    solved = text.replace("1278 1232", "1278 1278")
    assert parse_flowshop(solved.encode()).optimum == 1278.0


@pytest.mark.parametrize(
    ("text", "line", "expected"),
    [
        (SHOP.format(2, 1) + "3\n", 4, "a line of times"),
        (SHOP.format(2, 1) + "3 4 5\n", 4, "the end of the line"),
        (SHOP.format(2, 2) + "3 4\n", 5, "a line of times"),
        (SHOP.format(2, 1) + "3 -4\n", 4, "a time"),
        (SHOP.format(10**6, 1), 2, "the number of jobs"),
    ],
)
def test_what_is_wrong_with_a_schedule(text, line, expected):
    with pytest.raises(InstanceError, match=expected) as info:
        parse_flowshop(text.encode())
    assert info.value.line == line
    with pytest.raises(InstanceError):
        parse_flowshop(shop_file().encode(), 2)


@given(st.binary(max_size=200) | st.text("019 .:\nTYPEDIMNSO_", max_size=120).map(str.encode))
def test_any_file_is_read_or_refused(data):
    for parse in (parse_tsp, parse_qap, parse_flowshop):
        try:
            parse(data)
        except InstanceError as error:
            assert error.line >= 1
            assert error.column >= 1


@pytest.mark.parametrize(
    ("kind", "data"), [("tsp", placed("EUC_2D")), ("qap", FLP), ("flowshop", shop_file().encode())]
)
def test_a_run_on_a_file(tmp_path, kind, data):
    path = tmp_path / "instance"
    path.write_bytes(data)
    trial = Trial(
        f"{kind}-file:file={path}", "permutation-ga:population=4", "uniform", "model", "1 J"
    )
    assert solve(trial, compiled=False).best.fitness > 0
    assert len(trial.problem.parameters["sha256"]) == 64
    path.write_bytes(data + b"\n")
    with pytest.raises(InputError, match="the file has changed"):
        trial.make("problem")
    assert problems.is_private(f"{kind}-file")
