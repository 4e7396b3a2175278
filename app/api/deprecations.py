"""Responses to requests that use something deprecated say so.

RFC 9745 has the header ``Deprecation``, RFC 8594 ``Sunset``.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, date, datetime, time
from typing import Final

from flask import Response, after_this_request, g, request
from werkzeug.http import http_date

from app.http.urls import absolute_url
from app.policy import deprecations
from app.policy.deprecations import Deprecation

_DEPRECATED: Final = "deprecations"  # the operation's
_USED: Final = "used_deprecations"


def announce_deprecations(operation: str) -> None:
    """Add the headers to the response of this request if it uses anything deprecated.

    Args:
        operation: the operation of the request, such as ``GET /v1/projects/{project_id}``.
    """
    deprecated = [row for row in deprecations.DEPRECATIONS if row.operation == operation]
    if not deprecated:
        return
    setattr(g, _DEPRECATED, deprecated)
    setattr(g, _USED, {row for row in deprecated if not row.name})
    if request.method == "GET":  # the others have no parameters; the parser notes their fields
        note_deprecated_names(request.args)
    after_this_request(_with_deprecation_headers)


def note_deprecated_names(names: Collection[str]) -> None:
    """Note which of these parameters or fields of this request are deprecated."""
    for deprecation in g.get(_DEPRECATED, ()):
        if deprecation.name in names:
            g.get(_USED).add(deprecation)


def _with_deprecation_headers(response: Response) -> Response:
    used: set[Deprecation] = g.get(_USED)
    if not used:
        return response
    first = min(used, key=lambda row: row.since)
    response.headers["Deprecation"] = f"@{int(_midnight(first.since).timestamp())}"
    if sunsets := [row.sunset for row in used if row.sunset is not None]:
        response.headers["Sunset"] = http_date(_midnight(min(sunsets)))
    page = absolute_url("/docs#deprecations")
    response.headers.add("Link", f'<{page}>; rel="deprecation"; type="text/html"')
    return response


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)
