"""Parts of pages that a script reloads now and then (``js/live.js``)."""

from __future__ import annotations

import hashlib
from typing import Any

from flask import Response, request
from flask_wtf.csrf import generate_csrf

from app.site.pages import page


def live_part(template: str, **values: Any) -> Response:
    """A part of a page as it is now, or 304 if the page has it already.

    The part is a separate template, which the page includes. The tokens of its forms differ each
    time, and do not count.
    """
    response = page(template, **values)
    text = response.get_data().replace(generate_csrf().encode(), b"")
    response.set_etag(hashlib.sha256(text).hexdigest()[:24])
    response.make_conditional(request.environ)
    return response
