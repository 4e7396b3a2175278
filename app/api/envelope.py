"""The shapes of answers: one resource, a page of them, a whole list, nothing."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from functools import partial
from itertools import chain, islice
from tempfile import SpooledTemporaryFile
from typing import IO, Any, Final
from urllib.parse import urlencode

from flask import Response, current_app, request

from app.api.requests import request_id
from app.http.errors import ServiceUnavailable
from app.http.etags import entity_tag, parse_tags
from app.http.urls import absolute_url
from app.values import clock
from app.values.strict_json import dumps

log = logging.getLogger(__name__)

JSON: Final = "application/json"
_LARGE: Final = 1024 * 1024
_IN_MEMORY: Final = 8 * _LARGE  # of a list; the rest of a longer one waits in a file
_BLOCK: Final = 256 * 1024
_END: Final = b"]"  # of an array


def single(
    record: Mapping[str, Any], *, status: int = 200, location: str | None = None
) -> Response:
    """One resource: ``{data, meta: {request_id, timestamp}}``, with its entity tag.

    Args:
        location: the path of a new resource.
    """
    data = dumps(record)
    meta = {"request_id": request_id(), "timestamp": clock.format_time(clock.now())}
    parts = [b'{"data":', data, b',"meta":', dumps(meta), b"}"]
    response = _tagged(parts, sum(map(len, parts)), entity_tag([data]), status)
    if location is not None:
        response.headers["Location"] = absolute_url(location)
    return response


def page(records: Iterable[Any], *, total: int, number: int, size: int) -> Response:
    """One page of a list: ``{data, meta: {total, page, per_page, total_pages}}`` with ``Link``."""
    last = -(-total // size)
    meta = {"total": total, "page": number, "per_page": size, "total_pages": last}
    response = _listed(records, meta)
    response.headers["Link"] = _links(number, max(last, 1))
    return response


def complete_list(records: Iterable[Any]) -> Response:
    """A list without pages: ``{data, meta: {total}}``."""
    records = list(records)
    return _listed(records, {"total": len(records)})


def nothing() -> Response:
    """204 without a body."""
    response = Response(status=204)
    del response.headers["Content-Type"]
    return response


def bare(value: Mapping[str, Any]) -> Response:
    """An answer without an envelope."""
    return Response(dumps(value), content_type=JSON)


def _listed(records: Iterable[Any], meta: Mapping[str, Any]) -> Response:
    """A list: a small one is written at once, a large one piece by piece.

    Raises:
        ServiceUnavailable: there is no room on the disk for a large one.
    """
    ending = dumps(meta)
    pieces = _array(records)
    first = list(islice(pieces, 3))
    if first[-1] != _END:
        return _from_file(chain(first, pieces), ending)
    parts = [b'{"data":', *first, b',"meta":', ending, b"}"]
    return _tagged(parts, sum(map(len, parts)), entity_tag([*first, ending]), 200)


def _from_file(array: Iterable[bytes], ending: bytes) -> Response:
    """A list that may be larger than the memory, as one of large boundaries may."""
    folder = current_app.instance_path  # not /tmp, which is memory on many machines
    place = folder if os.path.isdir(folder) else None
    try:
        with ExitStack() as stack:
            file = stack.enter_context(SpooledTemporaryFile(_IN_MEMORY, dir=place))
            file.write(b'{"data":')
            tag = entity_tag(chain(_written(array, file), [ending]))
            file.write(b',"meta":%b}' % ending)
            size = file.tell()
            file.seek(0)
            if size < _LARGE:
                return _tagged([file.read()], size, tag, 200)
            response = _tagged(iter(partial(file.read, _BLOCK), b""), size, tag, 200)
            response.call_on_close(stack.pop_all().close)
            return response
    except OSError as error:  # also of closing the file, which tries once more to write
        log.error("no disk space for a page of a list: %s", error)
        message = (
            "The server has no room for a page of this size. Ask for fewer records with per_page."
        )
        raise ServiceUnavailable(message) from None


def _array(records: Iterable[Any]) -> Iterator[bytes]:
    """The JSON array of the records in blocks, a bracket or comma before each; ``_END`` is last.

    A list of one block has three pieces.
    """
    opening, some, size = b"[", list[bytes](), 0
    for record in records:
        some.append(dumps(record))
        size += len(some[-1])
        if size > _BLOCK:
            yield opening
            yield b",".join(some)
            opening, some, size = b",", [], 0
    yield opening if some or opening == b"[" else b""
    yield b",".join(some)
    yield _END


def _written(pieces: Iterable[bytes], file: IO[bytes]) -> Iterator[bytes]:
    """The pieces, each of which is written to the file on its way."""
    for piece in pieces:
        file.write(piece)
        yield piece


def _tagged(parts: Iterable[bytes], size: int, tag: str, status: int) -> Response:
    """The answer of these bytes, or 304 when the client has it already."""
    if request.method in ("GET", "HEAD") and _is_known(tag):
        # These two are not sent: they say what it stands for (``app.http.compression``).
        response = Response(status=304, content_type=JSON)
        response.content_length = size
    elif size < _LARGE:
        response = Response(b"".join(parts), status=status, content_type=JSON)
    else:  # goes out as it is, rather than as part of a copy
        response = Response(parts, status=status, content_type=JSON)
        response.content_length = size
    response.headers["ETag"] = tag
    response.headers["Cache-Control"] = "private, no-cache"
    return response


def _is_known(tag: str) -> bool:
    header = request.headers.get("If-None-Match")
    if header is None:
        return False
    tags = parse_tags(header, "If-None-Match")
    return tags is None or tag in {known.removeprefix("W/") for known in tags}


def _links(number: int, last: int) -> str:
    """RFC 8288 links to the first, previous, next and last page."""
    pages = {"first": 1}
    if number > 1:
        pages["prev"] = min(number - 1, last)
    if number < last:
        pages["next"] = number + 1
    pages["last"] = last
    others = {name: value for name, value in request.args.items() if name != "page"}
    stem = absolute_url(f"{request.path}?{urlencode(others | {'page': ''})}")
    return ", ".join(f'<{stem}{target}>; rel="{rel}"' for rel, target in pages.items())
