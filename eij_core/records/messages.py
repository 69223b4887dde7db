"""The messages of an Arrow stream, without what is in their bodies.

A message is 0xFFFFFFFF, the length of its header, the header (a flatbuffer) and a body. The header
has the length of the body and the metadata: where a run stands is known without reading a row.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

from .arrow import KEY, STREAM

PREFIX = 8
LONGEST = 64_000_000
"""Bytes of a header, at most; a longer one is damage."""
HEADER, BODY_LENGTH, CUSTOM_METADATA = 2, 3, 4
"""The fields of a Message that are read, by their place in Arrow's Message.fbs."""
SCHEMA_METADATA = 2
"""The same of a Schema, in Schema.fbs."""


class Message(NamedTuple):
    """One message: a schema or a batch of rows."""

    start: int
    end: int
    metadata: bytes
    """The text of ours that it carries."""


def messages(file: BinaryIO, start: int = 0) -> Iterator[Message]:
    """Yield the whole messages from a place in a file on; the first one of a file is the schema.

    ValueError where there is no message.
    """
    file.seek(0, 2)
    size = file.tell()
    while start + PREFIX <= size:
        file.seek(start)
        mark, length = struct.unpack("<4si", file.read(PREFIX))
        if mark != STREAM or not 0 <= length <= LONGEST:
            raise ValueError(f"no message at byte {start}")
        if not length:
            return  # the end of a stream that was closed
        header = file.read(length)
        if len(header) < length:
            return
        try:
            end = start + PREFIX + length + _body_length(header)
            found = _metadata(header, is_schema=not start)
        except (struct.error, IndexError) as error:
            raise ValueError(f"no header at byte {start}: {error}") from None
        if end > size:
            return
        yield Message(start, end, found)
        start = end


def _body_length(header: bytes) -> int:
    place = _field(header, _root(header), BODY_LENGTH)
    (length,) = struct.unpack_from("<q", header, place) if place else (0,)
    if length < 0:
        raise IndexError("a body of negative length")
    return int(length)


def _metadata(header: bytes, *, is_schema: bool) -> bytes:
    table, field = _root(header), CUSTOM_METADATA
    if is_schema:
        table, field = _follow(header, _field(header, table, HEADER)), SCHEMA_METADATA
    place = _field(header, table, field)
    if not place:
        return b""
    vector = _follow(header, place)
    for i in range(_unsigned(header, vector)):
        pair = _follow(header, vector + 4 + 4 * i)
        key, value = (_text(header, _field(header, pair, part)) for part in (0, 1))
        if key == KEY:
            return value
    return b""


# --- flatbuffers: tables whose fields are found by a table of offsets -----------------------------


def _root(buffer: bytes) -> int:
    return _unsigned(buffer, 0)


def _field(buffer: bytes, table: int, number: int) -> int:
    """Return where a field of a table is; 0: it is not there."""
    offsets = table - int(struct.unpack_from("<i", buffer, table)[0])
    if offsets < 0:
        raise IndexError("a table before the beginning")
    if 4 + 2 * number >= struct.unpack_from("<H", buffer, offsets)[0]:
        return 0
    offset = int(struct.unpack_from("<H", buffer, offsets + 4 + 2 * number)[0])
    return table + offset if offset else 0


def _follow(buffer: bytes, place: int) -> int:
    return place + _unsigned(buffer, place)


def _text(buffer: bytes, place: int) -> bytes:
    text = _follow(buffer, place)
    return buffer[text + 4 : text + 4 + _unsigned(buffer, text)]


def _unsigned(buffer: bytes, place: int) -> int:
    return int(struct.unpack_from("<I", buffer, place)[0])
