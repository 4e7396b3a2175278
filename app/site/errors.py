"""Errors as pages, for browsers."""

from __future__ import annotations

import contextlib
from typing import Final

from flask import Response, g, request
from sqlalchemy.exc import SQLAlchemyError

from app.http.errors import ApiError
from app.http.urls import is_ogc
from app.site.pages import page
from app.site.signed_in import current_person, login_path
from app.values.text import pluralize

# Only programs request these.
_API_PATHS: Final = (
    "/v1/", "/api/", "/.well-known/", "/oauth/token", "/oauth/revoke", "/oauth/introspect",
    "/healthz", "/readyz", "/metrics",
)  # fmt: skip
_TITLES: Final = {
    400: "This request is invalid",
    401: "Sign in to see this page",
    403: "You are not allowed to do this",
    404: "Page not found",
    405: "This cannot be done here",
    409: "This conflicts with the current state",
    413: "This is too large",
    422: "This form is invalid",
    429: "Too many attempts",
    503: "Temporarily unavailable",
}
_CLOSED: Final = "You cannot open this page"  # for a GET with 403
_DEFAULT_TITLE: Final = "Something went wrong"
# Instead of the default messages of the API.
_MESSAGES: Final = {
    400: "Your browser sent something that cannot be read. Go back and try again.",
    401: "Only people and programs with access can see this.",
    403: "Your role does not allow it, or you are signed in as someone else.",
    404: "The address may be mistyped, or the page no longer exists.",
    405: "This page does not accept what was sent. Go back and try again.",
    409: "Someone may have changed it in the meantime. Go back and reload the page.",
    413: "Send less per request.",
    500: "Something went wrong on our side. The error has been logged.",
    503: "The service cannot reach its database right now. It keeps trying.",
}


def error_page(error: ApiError, request_id: str) -> Response | None:
    """Return the page for an error, or None if the client wants JSON."""
    if request.path.startswith(_API_PATHS) or not _wants_page():
        return None
    g.is_failure = error.status >= 500
    _find_person()
    return page(
        "error.html",
        error.status,
        title=_status_title(error.status),
        message=_message_for_people(error),
        details=[detail for detail in error.details if detail.message != error.message],
        request_id=request_id,
        login=login_path() if error.status == 401 else None,
        wait=error.headers.get("Retry-After") if error.status == 503 else None,
    )


def _find_person() -> None:
    """Find who is signed in for the page, unless the database may be down."""
    if not g.is_failure:
        with contextlib.suppress(ApiError, SQLAlchemyError):
            current_person()
    g.setdefault("person", None)


def _status_title(status: int) -> str:
    if status == 403 and request.method in ("GET", "HEAD"):
        return _CLOSED
    return _TITLES.get(status, _DEFAULT_TITLE)


def _message_for_people(error: ApiError) -> str:
    """Return the message for people: the error's own, unless that is the default of the API."""
    if error.status == 429 and (wait := error.headers.get("Retry-After")):
        return f"Please wait {pluralize(int(wait), 'second')} and try again."
    is_general = error.message == error.default_message
    return _MESSAGES.get(error.status, error.message) if is_general else error.message


def _wants_page() -> bool:
    if is_ogc(request.path) and "f" in request.args:
        return request.args["f"] == "html"
    accepted = request.accept_mimetypes
    return accepted.best_match(["application/json", "text/html"]) == "text/html"
