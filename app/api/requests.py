"""Before every request: its id, the size and the type of its body, and who asks."""

from __future__ import annotations

import io
import re
from typing import Final

from flask import Flask, Response, current_app, g, request

from app.auth.guard import current_principal, identify
from app.core.errors import PayloadTooLarge, UnsupportedMediaType
from app.core.ids import new_id
from app.usage import requests as request_usage

_KEPT_ID: Final = re.compile(r"[A-Za-z0-9_-]{8,64}")
_JSON_ROUTES: Final = ("/v1/", "/api/")
_PUBLIC: Final = frozenset({"/v1/openapi.json"})


def init_app(app: Flask) -> None:
    """Register the steps in the order in which they run."""
    app.before_request(_give_id)
    app.before_request(_bound_body)
    app.before_request(_identify)
    app.after_request(_show_id)


def request_id() -> str:
    """The id of this request, also when it failed before it had one."""
    if "request_id" not in g:
        _give_id()
    kept: str = g.request_id
    return kept


def _give_id() -> None:
    sent = request.headers.get("X-Request-Id", "")
    g.request_id = sent if _KEPT_ID.fullmatch(sent) else new_id("request")


def _show_id(response: Response) -> Response:
    response.headers["X-Request-Id"] = request_id()
    return response


def _bound_body() -> None:
    """Refuse a body that is too large or not JSON, before anything else is looked at.

    A chunked body has no announced length, and werkzeug would cut it short without a word; so it
    is read here, one byte past the limit.
    """
    if not request.path.startswith(_JSON_ROUTES):
        return
    limit = current_app.config["SETTINGS"].max_body_bytes
    if request.environ.get("HTTP_TRANSFER_ENCODING", "").lower() == "chunked":
        body = request.environ["wsgi.input"].read(limit + 1)
        request.environ["wsgi.input"] = io.BytesIO(body)
        request.environ["CONTENT_LENGTH"] = str(len(body))
        request.environ.pop("HTTP_TRANSFER_ENCODING")
        request.__dict__.pop("content_length", None)
    length = int(request.environ.get("CONTENT_LENGTH") or 0)
    if length > limit:
        raise PayloadTooLarge(f"The body is larger than {limit:,} bytes.")
    if length and request.routing_exception is None:
        _require_json()


def _require_json() -> None:
    charset = request.mimetype_params.get("charset", "utf-8").lower()
    if request.mimetype != "application/json" or charset not in ("utf-8", "utf8"):
        raise UnsupportedMediaType
    if request.headers.get("Content-Encoding", "identity").lower() != "identity":
        raise UnsupportedMediaType("Send the body as it is, without a Content-Encoding.")


def _identify() -> None:
    if not request.path.startswith("/v1/") or request.path in _PUBLIC:
        return
    identify()
    principal = current_principal()
    if principal is not None:
        request_usage.count(principal.account_id)
