"""`eij serve`: what it asks of the dashboard, and what it refuses."""

import socket
import sys

import pytest


@pytest.mark.parametrize(
    ("options", "asked"),
    [
        ([], {}),
        (["--port", 8080, "--public"], {"port": 8080, "public": True}),
        (["--no-warm"], {"warm": False}),
    ],
)
def test_it_starts_the_dashboard(eij, monkeypatch, options, asked):
    seen = {}
    monkeypatch.setattr("app.server.serve.serve", lambda **options: seen.update(options))
    assert eij("serve", *options)[0] == 0
    default = {"address": "127.0.0.1", "port": 5006, "public": False, "warm": True, "imports": ""}
    assert seen == {**default, **asked}


@pytest.mark.parametrize("name", ["panel", "app.server.serve"])
def test_without_the_dashboard(eij, monkeypatch, name):
    """A7: one line, and no address."""
    monkeypatch.setitem(sys.modules, name, None)
    code, out, err = eij("serve")
    assert (code, out) == (2, "")
    assert f"no {name}" in err
    assert "pip install 'eij[app]'" in err


@pytest.mark.parametrize("port", [0, 80000, "x"])
def test_it_refuses_a_port_out_of_range(eij, port):
    code, out, err = eij("serve", "--port", port)
    assert (code, out) == (2, "")
    assert "--port" in err
    assert "1 to 65535" in err


def test_it_says_that_a_port_is_taken(eij):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        code, out, err = eij("serve", "--port", port)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert f"127.0.0.1:{port}" in err
