"""Files of MaxCut, QUBO, MAX-SAT and knapsacks: read, or refused with the place of the fault."""

import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eij_core import InputError, InstanceError, Trial, solve
from eij_core.components import check_component
from eij_core.problems.bits.maxcut import maxcut, parse_graph
from eij_core.problems.bits.maxsat import Formula, build
from eij_core.problems.bits.maxsat_file import parse_formula
from eij_core.problems.bits.mkp_file import parse_mkp
from eij_core.problems.bits.qubo import parse_matrix
from eij_core.registry import problems
from tests import oracles

GRAPH = b"4 5\n1 2 1\n2 3 -2\n3 4 3\n4 1 4\n1 3 5\n"
MATRIX = b"2\n3 4\n1 1 2\n1 2 -3\n2 3 4\n3 3 -1\n2 1\n1 2 9\n"
CNF = b"c small\np cnf 3 3\n1 -2 0\n2 3 0\n-1 -3 0\n"
WCNF = b"p wcnf 3 4 20\n20 1 -2 0\n20 2 3 0\n5 -1 -3 0\n7 -2 0\n"
WCNF_2022 = b"c new\nh 1 -2 0\nh 2 3 0\n5 -1 -3 0\n7 -2 0\n"
KNAPSACKS = b"2\n3 2 11.0\n4 5.5 7\n1 2 3\n3 2 1\n4 5\n2 1 0\n10 20\n3 4\n5\n"

READERS = {
    "maxcut-file": (parse_graph, GRAPH),
    "qubo-file": (parse_matrix, MATRIX),
    "maxsat-file": (parse_formula, WCNF),
    "mkp-file": (parse_mkp, KNAPSACKS),
}


def plain(read):
    """What was read, as lists."""
    return [part.tolist() if isinstance(part, np.ndarray) else part for part in read]


# --- what is there --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", READERS)
def test_line_ends_tabs_blanks_and_marks_change_nothing(name):
    parse, data = READERS[name]
    read = plain(parse(data))
    for change in (
        lambda d: d.replace(b"\n", b"\r\n"),
        lambda d: d.replace(b" ", b"\t \t"),
        lambda d: d.replace(b"\n", b"\n\n \n"),
        lambda d: b"\xef\xbb\xbf" + d,
        lambda d: d.rstrip(),
    ):
        np.testing.assert_equal(plain(parse(change(data))), read)


@pytest.mark.parametrize("name", ["maxcut-file", "qubo-file", "mkp-file"])
def test_comments(name):
    parse, data = READERS[name]
    commented = b"# by hand\n" + data.replace(b"\n", b"\n  % more\n", 1) + b"#end"
    np.testing.assert_equal(plain(parse(commented)), plain(parse(data)))


def test_a_graph():
    assert plain(parse_graph(GRAPH)) == [
        4, [[0, 1], [1, 2], [2, 3], [3, 0], [0, 2]], [1, -2, 3, 4, 5]
    ]  # fmt: skip
    assert plain(parse_graph(b"3 1\n3 1\n")) == [3, [[2, 0]], [1]]
    assert plain(parse_graph(b"3 0\n")) == [3, [], []]


def test_matrices():
    assert plain(parse_matrix(MATRIX)) == [3, [[0, 0], [0, 1], [1, 2], [2, 2]], [2, -3, 4, -1]]
    assert plain(parse_matrix(MATRIX, 2)) == [2, [[0, 1]], [9]]
    assert plain(parse_matrix(MATRIX.replace(b"\n", b" "), 2)) == [2, [[0, 1]], [9]]


def test_formulas():
    assert parse_formula(CNF) == Formula(3, [[1, -2], [2, 3], [-1, -3]], [1, 1, 1])
    assert parse_formula(CNF + b"%\n0\n\n") == parse_formula(CNF)
    assert parse_formula(CNF.replace(b"1 -2 0\n2 3 0\n", b"1\n-2 0 2\n3 0\n")) == parse_formula(CNF)
    hard = Formula(3, [[1, -2], [2, 3], [-1, -3], [-2]], [0, 0, 5, 7])
    assert parse_formula(WCNF) == parse_formula(WCNF_2022) == hard
    soft = parse_formula(WCNF.replace(b" 20\n20", b"\n20"))
    assert soft == hard._replace(weights=[20, 20, 5, 7])
    assert parse_formula(b"p cnf 2 2\n0\n1 0\n") == Formula(2, [[], [1]], [1, 1])


def test_the_best_of_a_formula_keeps_its_hard_clauses():
    problem = build(parse_formula(WCNF))
    values = {}
    for v in range(8):
        x = np.array(list(f"{v:03b}"), np.uint8)
        values[v] = problem.fitness(x)
        assert problem.feasible(x) == (values[v] >= 0)
    assert max(values.values()) == values[0b001] == 12.0


def test_knapsacks_with_decimals():
    problem = parse_mkp(KNAPSACKS)
    assert problem.profits.tolist() == [40, 55, 70]
    assert problem.weights.tolist() == [[1, 3], [2, 2], [3, 1]]
    best = oracles.best(3, lambda x: problem.fitness(np.array(x, np.uint8)))
    assert problem.optimum == best == 11.0
    assert problem.fitness(np.array([1, 1, 0], np.uint8)) == 9.5
    second = parse_mkp(KNAPSACKS, 2)
    assert math.isnan(second.optimum)
    assert second.fitness(np.array([0, 1], np.uint8)) == 20.0
    fine = parse_mkp(b"1 2 1 0 1.25 2. 0.5 3 3.5")
    assert (fine.weights.ravel().tolist(), fine.capacities.tolist()) == ([5, 30], [35])
    assert fine.fitness(np.array([1, 1], np.uint8)) == 3.25


@given(st.integers(2, 12), st.data())
def test_a_graph_that_is_written_is_read(n, data):
    degree = data.draw(st.integers(1, n - 1))
    problem = maxcut(n=n, degree=degree, weights="signs", instance=data.draw(st.integers(0, 99)))
    rows = np.repeat(np.arange(n), np.diff(problem.first.astype(np.int64)))
    edges = [
        (i, j, -c // 2)
        for i, j, c in zip(rows, problem.neighbours, problem.couplings, strict=True)
        if i < j
    ]
    text = f"{n} {len(edges)}\n" + "".join(f"{i + 1} {j + 1} {w}\n" for i, j, w in edges)
    _, pairs, weights = parse_graph(text.encode())
    assert [(*pair, w) for pair, w in zip(pairs.tolist(), weights.tolist(), strict=True)] == edges


# --- what is wrong --------------------------------------------------------------------------------

HUGE, COST = str(2**52), str((2**52 + 1) ** 2)
BAD = {
    "graph: nothing": (parse_graph, "", 1, 1, "the end of the file"),
    "graph: comments alone": (parse_graph, "# a\n% b\n", 3, 1, "the end of the file"),
    "graph: one number": (parse_graph, "3\n1 2 1\n", 1, 2, "the end of the line"),
    "graph: three numbers": (parse_graph, "3 1 1\n1 2 1\n", 1, 5, "1"),
    "graph: no vertices": (parse_graph, "0 0\n", 1, 1, "0"),
    "graph: many vertices": (parse_graph, "100001 1\n1 2 1\n", 1, 1, "100001"),
    "graph: many edges": (parse_graph, "9 999999999999\n1 2 1\n", 1, 3, "999999999999"),
    "graph: vertex 0": (parse_graph, "3 1\n0 2 1\n", 2, 1, "0"),
    "graph: vertex n + 1": (parse_graph, "3 1\n1\t4 1\n", 2, 3, "4"),
    "graph: loop": (parse_graph, "3 1\n2 2 1\n", 2, 3, "2"),
    "graph: decimals": (parse_graph, "3 1\n1 2 0.5\n", 2, 5, "0.5"),
    "graph: four in a line": (parse_graph, "3 1\n1 2 1 1\n", 2, 7, "1"),
    "graph: one in a line": (parse_graph, "3 1\n1\n", 2, 2, "the end of the line"),
    "graph: too few edges": (parse_graph, "3 2\r\n1 2 1\r\n", 3, 1, "the end of the file"),
    "graph: too many edges": (parse_graph, "3 1\n1 2 1\n\n2 3 1\n", 4, 1, "2"),
    "graph: total": (parse_graph, f"3 2\n1 2 {HUGE}\n2 3 -{HUGE}\n", 1, 3, str(2**53)),
    "graph: minus": (parse_graph, "3 1\n1 2 --1\n", 2, 5, "--1"),
    "graph: code": (parse_graph, "3 1\n1 2 __import__('os')\n", 2, 5, "__import__('os')"),
    "matrix: no instance": (parse_matrix, "0\n", 1, 1, "0"),
    "matrix: bits": (parse_matrix, "1\n0 1\n1 1 1\n", 2, 1, "0"),
    "matrix: entries": (parse_matrix, "1\n2 1000001\n", 2, 3, "1000001"),
    "matrix: outside": (parse_matrix, "1\n2 1\n1 3 1\n", 3, 3, "3"),
    "matrix: ends early": (parse_matrix, "1\n2 2\n1 2 1\n1\n", 5, 1, "the end of the file"),
    "matrix: goes on": (parse_matrix, "1\n2 1\n1 2 1 7\n", 3, 7, "7"),
    "matrix: goes on below": (parse_matrix, "1\n2 1\n1 2 1\n7\n", 4, 1, "7"),
    "matrix: second missing": (parse_matrix, "2\n2 1\n1 2 1\n", 4, 1, "the end of the file"),
    "matrix: total": (parse_matrix, f"1\n2 1\n1 2 {HUGE}\n", 2, 1, str(2**53)),
    "formula: nothing": (parse_formula, "c only\n", 2, 1, "the end of the file"),
    "formula: p alone": (parse_formula, "p\n1 0\n", 1, 1, "p"),
    "formula: kind": (parse_formula, "p sat 3 1\n1 0\n", 1, 3, "sat"),
    "formula: short head": (parse_formula, "p cnf 3\n1 0\n", 1, 7, "3"),
    "formula: long head": (parse_formula, "p cnf 3 1 9\n1 0\n", 1, 11, "9"),
    "formula: variables": (parse_formula, "p cnf 100001 1\n1 0\n", 1, 7, "100001"),
    "formula: clauses": (parse_formula, "p cnf 3 500001\n1 0\n", 1, 9, "500001"),
    "formula: literal": (parse_formula, "p cnf 3 1\n1 -4 0\n", 2, 3, "-4"),
    "formula: word": (parse_formula, "p cnf 3 1\n1 x 0\n", 2, 3, "x"),
    "formula: no 0": (parse_formula, "p cnf 3 1\n1 2\n", 3, 1, "the end of the file"),
    "formula: few clauses": (parse_formula, "p cnf 3 2\n1 2 0\n", 3, 1, "the end of the file"),
    "formula: many clauses": (parse_formula, "p cnf 3 1\n1 2 0\n3 0\n", 3, 1, "3"),
    "formula: weight 0": (parse_formula, "p wcnf 3 1 5\n0 1 0\n", 2, 1, "0"),
    "formula: above top": (parse_formula, "p wcnf 3 1 5\n6 1 0\n", 2, 1, "6"),
    "formula: top": (parse_formula, "p wcnf 3 1 x\n6 1 0\n", 1, 12, "x"),
    "formula: two heads": (parse_formula, "p cnf 3 1\np cnf 3 1\n1 0\n", 2, 1, "p"),
    "formula: new, odd start": (parse_formula, "h 1 0\ng 1 0\n", 2, 1, "g"),
    "formula: new, ends": (parse_formula, "h 1 0\n5 1\n", 3, 1, "the end of the file"),
    "formula: new, many": (parse_formula, "h 100001 0\n", 1, 3, "100001"),
    "formula: total": (parse_formula, f"h 1 0\nh 2 0\n{HUGE} 1 0\n", 1, 1, str(3 * 2**52 + 2)),
    "knapsack: items": (parse_mkp, "1\n0 1 0\n", 2, 1, "0"),
    "knapsack: rows": (parse_mkp, "1\n1 10001 0\n", 2, 3, "10001"),
    "knapsack: n times m": (parse_mkp, "1\n100000 21 0\n", 2, 8, "21"),
    "knapsack: minus": (parse_mkp, "1\n1 1 0\n-5\n1\n1\n", 3, 1, "-5"),
    "knapsack: decimals": (parse_mkp, "1\n1 1 0\n0.1234567\n1\n1\n", 3, 1, "0.1234567"),
    "knapsack: exponent": (parse_mkp, "1\n1 1 0\n1e5\n1\n1\n", 3, 1, "1e5"),
    "knapsack: ends": (parse_mkp, "1\n2 1 0\n5 5\n1 1\n", 5, 1, "the end of the file"),
    "knapsack: goes on": (parse_mkp, "1\n1 1 0\n5\n1\n1\n\n8\n", 7, 1, "8"),
    "knapsack: total": (parse_mkp, f"1\n2 1 0\n{HUGE} {HUGE}\n1 1\n1\n", 2, 1, str(2**53)),
    "knapsack: penalty": (parse_mkp, f"1\n1 1 0\n{HUGE}\n{HUGE}\n1\n", 2, 1, COST),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_bad_files_are_refused_with_the_place(name):
    parse, text, line, column, found = BAD[name]
    with pytest.raises(InstanceError) as info:
        parse(text.encode())
    error = info.value
    assert (error.line, error.column, error.found) == (line, column, found)
    assert pickle.loads(pickle.dumps(error)).args == error.args


@pytest.mark.parametrize("parse", [parse for parse, _ in READERS.values()])
@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"3 1\n1 2 \0", "a text file"),
        (b"3 1\n1 2 \xe9", "a text file in UTF-8"),
        (b" " * 70_000, "65536 bytes a line"),
        (b" " * 5_000_001, "at most 5000000 bytes"),
        (b"1 " * 2_000_001, "at most 2000000 entries"),
    ],
    ids=["nul", "latin", "line", "bytes", "entries"],
)
def test_what_every_reader_refuses(parse, data, expected):
    with pytest.raises(InstanceError, match=expected):
        parse(data)


@pytest.mark.parametrize(("parse", "data"), [(parse_matrix, MATRIX), (parse_mkp, KNAPSACKS)])
def test_an_instance_that_is_not_there(parse, data):
    with pytest.raises(InstanceError, match="line 1, column 1: expected an instance number 3"):
        parse(data, 3)


WORDS = [b"", b"0", b"-1", b"1e5", b"nan", b"99999999999999999999", b"x", b"p", b"h", b"\n", b"%"]


@given(
    st.sampled_from([*READERS.values(), (parse_formula, CNF), (parse_formula, WCNF_2022)]),
    st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 2), st.sampled_from(WORDS))),
)
def test_mutated_files_are_read_or_refused(reader, changes):
    parse, data = reader
    tokens = data.replace(b"\n", b" \n ").split(b" ")
    for where, dropped, word in changes:
        at = where % (len(tokens) + 1)
        tokens[at : at + dropped] = [word]
    try:
        parse(b" ".join(tokens))
    except InstanceError as error:
        assert error.line >= 1
        assert error.column >= 1


# --- the registered problems ----------------------------------------------------------------------


@pytest.fixture(params=READERS)
def spec(request, tmp_path):
    path = tmp_path / "small.txt"
    path.write_bytes(READERS[request.param][1])
    return f"{request.param}:file={path}"


def test_the_problem_of_a_file(spec):
    name = spec.partition(":")[0]
    assert problems.is_private(name)
    problem = problems.make(spec)
    assert problem.n in (3, 4)
    assert check_component(problem) == []
    trial = Trial(spec, "ils:steps=4,operators=flip-1+flip-2", meter="model", budget="3 J")
    everything = (np.array(list(f"{v:0{problem.n}b}"), np.uint8) for v in range(2**problem.n))
    assert solve(trial, compiled=False).best.fitness == max(map(problem.fitness, everything))


def test_a_changed_file_is_noticed_and_a_fault_names_it(spec, tmp_path):
    trial = Trial(spec, meter="model")
    (tmp_path / "small.txt").write_bytes(b"1 x\n")
    with pytest.raises(InputError, match="the file has changed"):
        trial.make("problem")
    with pytest.raises(InstanceError, match=r"small\.txt, line 1, column \d"):
        problems.make(spec)
