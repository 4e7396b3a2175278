"""The shapes of answers: one resource, a page of them, a whole list, nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from flask import Response, request

from app.api.requests import request_id
from app.core import clock
from app.core.etags import entity_tag, parse_tags
from app.core.strict_json import dumps

JSON = "application/json"
_LARGE = 1024 * 1024


def single(
    record: Mapping[str, Any], *, status: int = 200, location: str | None = None
) -> Response:
    """One resource: ``{data, meta: {request_id, timestamp}}``, with its entity tag."""
    data = dumps(record)
    meta = {"request_id": request_id(), "timestamp": clock.format_time(clock.now())}
    response = _tagged(data, meta, entity_tag(data), status)
    if location is not None:
        response.headers["Location"] = location
    return response


def page(records: Sequence[Any], *, total: int, number: int, size: int) -> Response:
    """One page of a list: ``{data, meta: {total, page, per_page, total_pages}}`` with ``Link``."""
    last = -(-total // size)
    meta = {"total": total, "page": number, "per_page": size, "total_pages": last}
    response = _listed(records, meta)
    response.headers["Link"] = _links(number, max(last, 1))
    return response


def whole(records: Sequence[Any]) -> Response:
    """A list without pages: ``{data, meta: {total}}``."""
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
    data = dumps(records)
    return _tagged(data, meta, entity_tag(data, dumps(meta)), 200)


def _tagged(data: bytes, meta: Mapping[str, Any], tag: str, status: int) -> Response:
    if request.method in ("GET", "HEAD") and _is_known(tag):
        response = Response(status=304)
        del response.headers["Content-Type"]
    else:
        response = _enveloped(data, dumps(meta), status)
    response.headers["ETag"] = tag
    response.headers["Cache-Control"] = "private, no-cache"
    return response


def _enveloped(data: bytes, meta: bytes, status: int) -> Response:
    """``{data, meta}``; large data goes out as it is, rather than as part of a copy."""
    parts = [b'{"data":', data, b',"meta":', meta, b"}"]
    if len(data) < _LARGE:
        return Response(b"".join(parts), status=status, content_type=JSON)
    response = Response(parts, status=status, content_type=JSON)
    response.content_length = sum(map(len, parts))
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
    stem = f"{request.path}?{urlencode(others | {'page': ''})}"
    return ", ".join(f'<{stem}{target}>; rel="{rel}"' for rel, target in pages.items())
