"""The server as a process: the limit of pages, crashes, signals, clients that misbehave."""

import asyncio
import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import psutil
import pytest
from tornado.httpclient import HTTPRequest
from tornado.websocket import WebSocketClosedError, websocket_connect

from app.server.serve import check_free, supervise
from eij_core import InputError
from tests.app.processes import PATIENCE, ROOT, get, serving, until
from tests.benchmarks.visitor import Visitor

pytestmark = pytest.mark.long


def told(story):
    """Run a coroutine on a thread of its own: a browser's loop may be running on this one."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, story).result()


@pytest.fixture(scope="module")
def server():
    with serving() as (process, port):
        yield process, port


def test_the_root_leads_to_the_page(server):
    status, headers, _ = get(server[1], "/")
    assert status in (301, 302)
    assert headers["Location"].endswith("/app")


def test_a_page_too_many_is_refused_and_let_in_later():
    """F14, with a house for one."""

    async def story(port):
        visitor = await Visitor(f"http://127.0.0.1:{port}/app").open()
        status, headers, page = get(port, "/app")
        assert status == 503
        assert headers["Retry-After"]
        assert "This server is full" in page
        assert "Bokeh" not in page
        assert get(port, "/liveness")[0] == 200
        await visitor.leave()

    with serving(sessions=1) as (_, port):
        told(story(port))
        until(lambda: get(port, "/app")[0] == 200)


async def open_socket(port, origin=None, token=None):
    """Connect as a page does; with the page's token if none is given."""
    if token is None:
        page = get(port, "/app")[2]
        token = page.partition('"token":"')[2].partition('"')[0]
    request = HTTPRequest(
        f"ws://127.0.0.1:{port}/app/ws", headers={"Origin": origin or f"http://127.0.0.1:{port}"}
    )
    return await websocket_connect(request, subprotocols=["bokeh", token])


async def outcome(port, frames=(), **options):
    """Return how the server answers: "refused", "closed" or "open"."""
    try:
        connection = await open_socket(port, **options)
    except Exception:
        return "refused"
    try:
        for frame in frames:
            await connection.write_message(frame, binary=isinstance(frame, bytes))
        while await asyncio.wait_for(connection.read_message(), 10.0) is not None:
            pass
    except TimeoutError:
        return "open"
    except WebSocketClosedError:
        pass
    finally:
        connection.close()
    return "closed"


@pytest.mark.parametrize(
    "case",
    [
        {"token": "forged"},
        {"origin": "http://elsewhere.example"},
        {"frames": ["no JSON at all"] * 3},
        {"frames": [b"\x00\xff" * 50] * 3},
        {"frames": ["x" * (8_388_608 + 1)]},
    ],
    ids=["forged token", "foreign origin", "garbage", "binary garbage", "oversized"],
)
def test_what_no_page_would_send_ends_the_connection_not_the_server(server, case):
    """F22."""
    assert told(outcome(server[1], **case)) in ("refused", "closed")
    assert get(server[1], "/liveness")[0] == 200


def test_a_client_that_does_not_read_costs_little(server):
    """F21: it gets one frame at most, however long its run is on."""

    async def story():
        link = "problem=knapsack&algorithm=ils&budget=40%20MJ&pace=0&compare=false"
        visitor = await Visitor(f"http://127.0.0.1:{server[1]}/app?{link}").open()
        while len(visitor.frames) < 3:
            await asyncio.sleep(0.05)
        await visitor.click("Run")
        while visitor.decisions < 100:
            await asyncio.sleep(0.05)
        visitor.deaf = True
        child = psutil.Process(server[0].pid).children()[0]
        await asyncio.sleep(1.0)
        before, frames = child.memory_info().rss, len(visitor.frames)
        await asyncio.sleep(5.0)
        assert len(visitor.frames) <= frames + 1
        assert child.memory_info().rss - before < 20e6
        await visitor.leave()

    told(asyncio.wait_for(story(), 2 * PATIENCE))


def test_a_crashed_server_is_started_anew_and_ends_when_asked():
    """F20."""
    with serving() as (process, port):
        parent = psutil.Process(process.pid)
        first = until(parent.children)[0]
        first.send_signal(signal.SIGSEGV)
        until(lambda: [child for child in parent.children() if child.pid != first.pid])
        until(lambda: get(port, "/liveness"))
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) == 128 + signal.SIGTERM
        assert get(port, "/liveness") is None


@pytest.mark.parametrize("code", [0, 3])
def test_what_ends_by_itself_stays_ended(code, tmp_path):
    noted = tmp_path / "starts"
    script = f"open({str(noted)!r}, 'a').write('x'); raise SystemExit({code})"
    assert supervise([sys.executable, "-c", script], dict(os.environ)) == code
    assert noted.read_text() == "x"


def test_a_server_that_cannot_live_is_given_up(tmp_path):
    noted = tmp_path / "starts"
    script = f"import os; open({str(noted)!r}, 'a').write('x'); os.abort()"
    assert supervise([sys.executable, "-c", script], dict(os.environ)) == 1
    assert noted.read_text() == "xxx"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_end_it(number):
    child = "import time; print('up', flush=True); time.sleep(600)"
    code = (
        "import os, sys; from app.server.serve import supervise; "
        f"raise SystemExit(supervise([sys.executable, '-c', {child!r}], dict(os.environ)))"
    )
    command = [sys.executable, "-c", code]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"up\n"
        process.send_signal(number)
        assert process.wait(PATIENCE) == 128 + number


def test_the_address_is_printed_when_the_server_listens():
    """A7: what is printed can be opened at once."""
    with serving() as (process, port):
        address = f"The dashboard: http://127.0.0.1:{port}/app\n"
        lines = iter(process.stdout.readline, b"")  # the server's own log comes between
        assert any(line.decode() == address for line in lines)
        assert get(port, "/liveness")[0] == 200


def test_an_address_that_cannot_be_listened_on_is_refused():
    with pytest.raises(InputError, match=r"203.0.113.1:5006: expected an address to listen on"):
        check_free("203.0.113.1", 5006)
    check_free("127.0.0.1", 0)
