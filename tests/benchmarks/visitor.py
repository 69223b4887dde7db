"""A visitor without a browser: speaks the page's websocket, answers its heartbeat, clicks.

It reads only what it must, so that it takes little of the processors that it measures.
"""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import Callable
from typing import Any

from tornado.httpclient import AsyncHTTPClient, HTTPRequest
from tornado.websocket import WebSocketClientConnection, websocket_connect

__all__ = ["Visitor"]

DECISIONS = re.compile(r"<b>([\d\s]+)</b><span>decisions</span>")


class Visitor:
    """One open page.

    Attributes
    ----------
    frames : list of float
        When each frame came, by `time.monotonic`.
    decisions : int
        The number of decisions that the page shows.
    over : bool
        Whether the page says that its run is over.
    """

    def __init__(self, url: str) -> None:
        self.url = url
        self.frames: list[float] = []
        self.decisions = 0
        self.over = False
        self.deaf = False
        """Set it, and the visitor neither reads nor answers any more."""
        self.opened = 0.0
        """Seconds from the request to the whole document."""
        self._models: dict[str, dict[str, Any]] = {}
        self._number = 0
        self._waiting: list[tuple[Callable[[dict[str, Any]], bool], asyncio.Future[float]]] = []
        self._socket: WebSocketClientConnection | None = None
        self._listening: asyncio.Task[None] | None = None

    async def open(self) -> Visitor:
        """Ask for the page, connect, and take in its document, as a browser does."""
        began = time.monotonic()
        page = await AsyncHTTPClient().fetch(self.url, request_timeout=120.0)
        token = re.search(rb'"token":"([^"]+)"', page.body)
        assert token is not None, "the page has no token"
        address = self.url.partition("?")[0].replace("http", "ws", 1) + "/ws"
        self._socket = await websocket_connect(
            HTTPRequest(address, headers={"Origin": self.url.rpartition("/")[0]}),
            subprotocols=["bokeh", token[1].decode()],
            max_message_size=2**27,
        )
        self._socket.protocol.stream.set_nodelay(True)  # type: ignore[union-attr]
        await self._receive()  # the acknowledgement
        self._send("PULL-DOC-REQ", {})
        while (message := await self._receive())[0] != "PULL-DOC-REPLY":
            pass
        self.opened = time.monotonic() - began
        self._learn(message[1])
        self._listening = asyncio.create_task(self._listen())
        self._tell("document_ready", {})
        heart = self._named("Heartbeat")
        self._heart = heart["attributes"]["data"]["id"]
        self._echo(0)
        return self

    async def click(self, label: str) -> None:
        """Press the button with this label."""
        button = next(m for m in self._models.values() if _is_labelled(m, label))
        values = {
            "model": {"id": button["id"]},
            "node": "click",
            "data": {"type": "map", "entries": [["type", "click"]]},
        }
        self._tell("dom_event", values)

    async def click_until(self, label: str, change: str, seconds: float = 60.0) -> float:
        """Press a button; return the seconds until some label of the page has become `change`."""
        loop = asyncio.get_running_loop()
        answered: asyncio.Future[float] = loop.create_future()
        self._waiting.append((lambda event: event.get("new") == change, answered))
        began = time.monotonic()
        await self.click(label)
        return await asyncio.wait_for(answered, seconds) - began

    async def leave(self) -> None:
        """Close the page."""
        if self._listening is not None:
            self._listening.cancel()
        if self._socket is not None:
            self._socket.close()

    # --- the protocol: a message is a header, metadata, content, and buffers ---

    async def _receive(self) -> tuple[str, dict[str, Any]]:
        header = json.loads(await self._read())
        await self._read()
        content = json.loads(await self._read())
        for _ in range(header.get("num_buffers", 0)):
            await self._read()
            await self._read()
        return header["msgtype"], content

    async def _read(self) -> Any:
        assert self._socket is not None
        message = await self._socket.read_message()
        if message is None:
            raise ConnectionError("the server has closed the connection")
        return message

    def _send(self, kind: str, content: dict[str, Any]) -> None:
        assert self._socket is not None
        self._number += 1
        for part in ({"msgid": str(self._number), "msgtype": kind}, {}, content):
            self._socket.write_message(json.dumps(part))

    def _patch(self, event: dict[str, Any]) -> None:
        self._send("PATCH-DOC", {"events": [event]})

    def _tell(self, name: str, values: dict[str, Any]) -> None:
        entries = [[key, value] for key, value in values.items()]
        event = {"type": "event", "name": name, "values": {"type": "map", "entries": entries}}
        self._patch({"kind": "MessageSent", "msg_type": "bokeh_event", "msg_data": event})

    def _echo(self, beat: int) -> None:
        model = {"id": self._heart}
        self._patch({"kind": "ModelChanged", "model": model, "attr": "echo", "new": beat})

    async def _listen(self) -> None:
        while not self.deaf:
            kind, content = await self._receive()
            if kind == "ERROR":
                raise RuntimeError(content.get("text"))
            for event in content.get("events", ()):
                self._take(event)

    def _take(self, event: dict[str, Any]) -> None:
        if event.get("kind") != "ModelChanged":
            return
        new = event.get("new")
        identity = event["model"]["id"]
        if identity in self._models:
            self._models[identity]["attributes"][event["attr"]] = new
        if identity == self._heart and event["attr"] == "beat":
            self.frames.append(time.monotonic())
            self._echo(int(new))
        elif isinstance(new, str) and (found := DECISIONS.search(_plain(new))):
            self.decisions = int("".join(found[1].split()))
        elif isinstance(new, str) and new.startswith(("Finished", "Stopped", "Failed")):
            self.over = True
        elif isinstance(new, (dict, list)):
            self._learn(new)
        for waits in tuple(self._waiting):
            condition, answered = waits
            if condition(event):
                self._waiting.remove(waits)
                if not answered.done():
                    answered.set_result(time.monotonic())

    def _learn(self, node: Any) -> None:
        """Note every model of a document or of a part of it."""
        if isinstance(node, dict):
            if node.get("type") == "object" and "id" in node:
                self._models[node["id"]] = {**node, "attributes": node.get("attributes", {})}
            for value in node.values():
                self._learn(value)
        elif isinstance(node, list):
            for value in node:
                self._learn(value)

    def _named(self, name: str) -> dict[str, Any]:
        return next(m for m in self._models.values() if m["attributes"].get("name") == name)


def _is_labelled(model: dict[str, Any], label: str) -> bool:
    data = model["attributes"].get("data")
    return isinstance(data, dict) and data.get("attributes", {}).get("label") == label


def _plain(html: str) -> str:
    return html.replace("&lt;", "<").replace("&gt;", ">")
