"""The forms of responses: documents, features, pages of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final
from urllib.parse import urlencode

from flask import Response, request

from app.api.openapi.geojson import GEOJSON
from app.geometry.shapes import Crs
from app.http.body_files import blocks_of, body_file
from app.http.urls import absolute_url
from app.values.strict_json import dumps

JSON: Final = "application/json"
HTML: Final = "text/html"


def wants_html() -> bool:
    """True if this request is for a page, by its parameter or the header Accept."""
    if "f" in request.args:
        return request.args["f"] == "html"
    return request.accept_mimetypes.best_match((JSON, GEOJSON, HTML)) == HTML


def document_response(value: Any, media_type: str = JSON) -> Response:
    """A document of the service."""
    return _mark_private(Response(dumps(value), content_type=media_type))


def feature_response(value: Any, tag: str, crs: Crs, status: int) -> Response:
    """A feature with its entity tag, or 304 if the client has it."""
    response = _mark_private(Response(dumps(value), status=status, content_type=GEOJSON))
    response.headers["Content-Crs"] = f"<{crs.uri}>"
    response.headers["ETag"] = tag
    return response if request.method != "GET" else response.make_conditional(request)  # type: ignore[return-value]


def features_response(blocks: Iterable[bytes], crs: Crs, *, is_large: bool) -> Response:
    """A page of features. A large one goes through a file, so that it needs no memory.

    Raises:
        ServiceUnavailable: there is no room for the file.
    """
    response = _from_file(blocks) if is_large else Response(list(blocks), content_type=GEOJSON)
    response.headers["Content-Crs"] = f"<{crs.uri}>"
    return _mark_private(response)


def next_url(cursor: str) -> str:
    """The URL of the next page, with all parameters but the key."""
    parameters = {name: value for name, value in request.args.items() if name != "cursor"}
    return absolute_url(f"{request.path}?{urlencode(parameters | {'cursor': cursor})}")


def other_format(name: str) -> str:
    """The URL of this resource in another format."""
    query = urlencode({**request.args, "f": name})
    return absolute_url(f"{request.path}?{query}")


def _mark_private(response: Response) -> Response:
    response.headers["Cache-Control"] = "private, no-cache"
    response.vary.add("Accept")
    return response


def _from_file(blocks: Iterable[bytes]) -> Response:
    with body_file("Ask for fewer features with limit.") as (file, stack):
        for block in blocks:
            file.write(block)  # writelines() would hold all of them in memory
        size = file.tell()
        file.seek(0)
        response = Response(blocks_of(file), content_type=GEOJSON)
        response.content_length = size
        response.call_on_close(stack.pop_all().close)
        return response
