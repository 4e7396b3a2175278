"""The envelopes of responses: one resource, a page, a whole list, nothing.

One resource, or a page, that has a geometry is a Feature or FeatureCollection where the client asks
for GeoJSON.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain, islice
from typing import IO, Any, Final
from urllib.parse import urlencode

from flask import Response, g, request

from app.api.media_types import JSON, wanted_features
from app.api.openapi.geojson import GEOJSON
from app.api.requests import request_id
from app.formats.writers.features import Feature
from app.http import etags
from app.http.body_files import blocks_of, body_file
from app.http.etags import entity_tag, is_known, with_coding
from app.http.urls import absolute_url
from app.values import clock
from app.values.batching import batched_by_bytes
from app.values.strict_json import dumps

LARGE: Final = 1024 * 1024
BLOCK: Final = 256 * 1024
_END: Final = b"]"  # the last piece of an array

# Returns (bytes after the array of a list, their part in the entity tag).
_Ending = Callable[[], tuple[bytes, bytes]]


def record_response(
    record: Mapping[str, Any], *, status: int = 200, location: str | None = None, **more: Any
) -> Response:
    """One resource: ``{data, meta: {request_id, timestamp}}``, with its entity tag.

    Args:
        location: the path of a new resource.
        more: further members of ``meta``.
    """
    data = dumps(record)
    tag = entity_tag([data])
    if features := wanted_features():
        body = dumps(features.feature(record).as_geojson())
        response = _tagged_response(
            [body], len(body), with_coding(tag, etags.GEOJSON), status, GEOJSON
        )
    else:
        meta = {"request_id": request_id(), "timestamp": clock.format_time(clock.now()), **more}
        parts = [b'{"data":', data, b',"meta":', dumps(meta), b"}"]
        response = _tagged_response(parts, sum(map(len, parts)), tag, status)
    if location is not None:
        response.headers["Location"] = absolute_url(location)
    return response


def page_response(records: Iterable[Any], *, total: int, number: int, size: int) -> Response:
    """One page of a list: ``{data, meta: {total, page, per_page, total_pages}}`` with ``Link``; or
    a FeatureCollection, with the members of OGC API Features (OGC 17-069r4, section 7.15)."""
    last = -(-total // size)
    pages = _neighboring_pages(number, max(last, 1))
    parameters = {"format": "geojson"} if (features := wanted_features()) else {}
    if features:
        response = _feature_collection(map(features.feature, records), total, pages)
    else:
        meta = {"total": total, "page": number, "per_page": size, "total_pages": last}
        response = _in_envelope(records, meta)
    page_url = _page_url(**parameters)
    links = (f'<{page_url}{target}>; rel="{rel}"' for rel, target in pages.items())
    response.headers["Link"] = ", ".join(links)
    return response


def complete_list(records: Iterable[Any], **more: Any) -> Response:
    """A list without pages: ``{data, meta: {total}}``; ``more`` is further members of ``meta``."""
    records = list(records)
    return _in_envelope(records, {"total": len(records), **more})


def empty_response() -> Response:
    """204 without a body."""
    response = Response(status=204)
    del response.headers["Content-Type"]
    return response


def bare_response(value: Mapping[str, Any]) -> Response:
    """A response without an envelope."""
    return Response(dumps(value), content_type=JSON)


def _in_envelope(records: Iterable[Any], meta: Mapping[str, Any]) -> Response:
    ending = dumps(meta)
    return _list_response(records, b'{"data":', lambda: (b',"meta":%b}' % ending, ending), JSON)


def _feature_collection(
    features: Iterable[Feature], total: int, pages: Mapping[str, int]
) -> Response:
    """A FeatureCollection. Its entity tag leaves out the time of the request."""
    returned = 0

    def counted() -> Iterator[dict[str, Any]]:
        nonlocal returned
        for feature in features:
            returned += 1
            yield feature.as_geojson()

    def ending() -> tuple[bytes, bytes]:
        numbers = dumps({"numberMatched": total, "numberReturned": returned})
        page_url = _page_url(format="geojson")
        members = {
            "timeStamp": clock.format_time(clock.now()),
            "links": [
                {"rel": rel, "type": GEOJSON, "href": f"{page_url}{pages[rel]}"}
                for rel in ("prev", "next")
                if rel in pages
            ],
        }
        return b",%b,%b" % (numbers[1:-1], dumps(members)[1:]), numbers

    head = b'{"type":"FeatureCollection","features":'
    return _list_response(counted(), head, ending, GEOJSON)


def _list_response(items: Iterable[Any], head: bytes, ending: _Ending, media_type: str) -> Response:
    """A list: a small one in memory, a large one through a file.

    Raises:
        ServiceUnavailable: there is no room on the disk for a large one.
    """
    pieces = _json_array_pieces(items)
    first = list(islice(pieces, 3))
    if first[-1] != _END:
        return _from_file(head, chain(first, pieces), ending, media_type)
    end, tagged = ending()
    parts = [head, *first, end]
    return _tagged_response(
        parts, sum(map(len, parts)), entity_tag([*first, tagged]), 200, media_type
    )


def _from_file(head: bytes, array: Iterable[bytes], ending: _Ending, media_type: str) -> Response:
    """A list that may not fit into memory, such as one of large boundaries."""
    with body_file("Ask for fewer records with per_page.") as (file, stack):
        file.write(head)
        tag = entity_tag(chain(_write_through(array, file), _written_end(ending, file)))
        size = file.tell()
        file.seek(0)
        if size < LARGE:
            return _tagged_response([file.read()], size, tag, 200, media_type)
        response = _tagged_response(blocks_of(file), size, tag, 200, media_type)
        response.call_on_close(stack.pop_all().close)
        return response


def _json_array_pieces(records: Iterable[Any]) -> Iterator[bytes]:
    """Yield the JSON array of the records in pieces, with ``_END`` last.

    A list of one block has three pieces.
    """
    opening = b"["
    for texts in batched_by_bytes(map(dumps, records), len, BLOCK):
        yield opening
        yield b",".join(texts)
        opening = b","
    if opening == b"[":
        yield opening
    yield _END


def _write_through(pieces: Iterable[bytes], file: IO[bytes]) -> Iterator[bytes]:
    """Write each piece to the file, and yield it."""
    for piece in pieces:
        file.write(piece)
        yield piece


def _written_end(ending: _Ending, file: IO[bytes]) -> Iterator[bytes]:
    """Write the ending to the file, and yield its part in the entity tag."""
    end, tagged = ending()
    file.write(end)
    yield tagged


def file_response(body: bytes, media_type: str, name: str) -> Response:
    """A small file to download, with its entity tag."""
    response = _tagged_response([body], len(body), entity_tag([body]), 200, media_type)
    if response.status_code == 200:
        response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


def _tagged_response(
    parts: Iterable[bytes], size: int, tag: str, status: int, media_type: str = JSON
) -> Response:
    """The response of these bytes, or 304 if the client has it."""
    if request.method in ("GET", "HEAD") and is_known(tag):
        # Not sent; app.http.compression computes the tag from them.
        response = Response(status=304, content_type=media_type)
        response.content_length = size
    elif size < LARGE:
        response = Response(b"".join(parts), status=status, content_type=media_type)
    else:  # without a copy in one piece
        response = Response(parts, status=status, content_type=media_type)
        response.content_length = size
    if "features" in g:
        response.headers["Vary"] = "Accept"
    response.headers["ETag"] = tag
    response.headers["Cache-Control"] = "private, no-cache"
    return response


def _neighboring_pages(number: int, last: int) -> dict[str, int]:
    """The first, previous, next and last page, by their relation to this one (RFC 8288)."""
    pages = {"first": 1}
    if number > 1:
        pages["prev"] = min(number - 1, last)
    if number < last:
        pages["next"] = number + 1
    return pages | {"last": last}


def _page_url(**parameters: str) -> str:
    """The URL of another page up to its number, with the parameters of this one."""
    own = {name: value for name, value in request.args.items() if name != "page"}
    query = urlencode(own | parameters | {"page": ""})
    return absolute_url(f"{request.path}?{query}")
