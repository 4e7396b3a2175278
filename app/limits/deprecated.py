"""Requests that use something deprecated: their responses say so, and each is counted.

RFC 9745 has the header ``Deprecation``, RFC 8594 ``Sunset``. To count such a request takes another
round trip to Valkey; all others cost nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from datetime import UTC, date, datetime, time
from functools import wraps
from typing import Final

from flask import Response, after_this_request, g, request
from werkzeug.http import http_date

from app.auth.guard import current_principal
from app.http.urls import absolute_url
from app.limits.request_counts import count, counter
from app.policy import deprecations
from app.policy.deprecations import Deprecation

_CONVERTER: Final = re.compile(r"<(?:[^:>]+:)?([^>]+)>")  # of an id in a rule
_BRACES: Final = r"{\1}"
_KNOWN: Final = "deprecations"  # of this operation
_USED: Final = "used_deprecations"

View = Callable[..., Response]


def noting(view: View, method: str, rule: str) -> View:
    """``view``, whose responses say so where anything of its operation is deprecated."""
    operation = f"{method} {_CONVERTER.sub(_BRACES, rule)}"

    @wraps(view)
    def run(**ids: str) -> Response:
        known = [each for each in deprecations.DEPRECATIONS if each.operation == operation]
        if not known:
            return view(**ids)
        setattr(g, _KNOWN, known)
        setattr(g, _USED, {each for each in known if not each.name})
        if method == "GET":  # the others have no parameters: the parser notes fields of the body
            note_sent(request.args)
        after_this_request(_tell)
        return view(**ids)

    return run


def note_sent(names: Collection[str]) -> None:
    """Note which of these parameters or fields of this request are deprecated."""
    for each in g.get(_KNOWN, ()):
        if each.name in names:
            g.get(_USED).add(each)


def _tell(response: Response) -> Response:
    """Add the headers, and count the request for its credential."""
    used: set[Deprecation] = g.get(_USED)
    if not used:
        return response
    first = min(used, key=lambda each: each.since)
    response.headers["Deprecation"] = f"@{int(_midnight(first.since).timestamp())}"
    if sunsets := [each.sunset for each in used if each.sunset is not None]:
        response.headers["Sunset"] = http_date(_midnight(min(sunsets)))
    page = absolute_url("/docs#deprecations")
    response.headers.add("Link", f'<{page}>; rel="deprecation"; type="text/html"')
    if (principal := current_principal()) is not None:
        for each in used:
            count(counter(principal.account_id, principal.counted_as, each.id))
    return response


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)
