"""Errors as pages for browsers, in place of the JSON envelope."""

from __future__ import annotations

from typing import Final

from flask import Response, g, request

from app.http.errors import ApiError
from app.limits.limiter import seconds
from app.site.pages import page

# Only programs request these.
_API_PATHS: Final = (
    "/v1/", "/api/", "/.well-known/", "/oauth/token", "/oauth/revoke", "/oauth/introspect",
    "/healthz", "/readyz", "/metrics",
)  # fmt: skip
_TITLES: Final = {
    400: "That cannot be understood",
    403: "That is not allowed",
    404: "There is nothing here",
    405: "That cannot be done here",
    409: "That does not go together",
    413: "That is too much at once",
    429: "Too many attempts",
    503: "Not at the moment",
}
_DEFAULT_TITLE: Final = "Something went wrong"
# For people, in place of the message of the API.
_MESSAGES: Final = {
    404: "The address may be mistyped, or what was here is gone.",
    500: "The fault is ours. It is noted down.",
    503: "The service cannot reach what it needs. It tries again by itself.",
}


def error_page(error: ApiError, request_id: str) -> Response | None:
    """The page for an error, or None if the client wants JSON."""
    if request.path.startswith(_API_PATHS) or not _wants_page():
        return None
    g.setdefault("person", None)  # not looked up: the database may be what failed
    return page(
        "error.html",
        error.status,
        title=_TITLES.get(error.status, _DEFAULT_TITLE),
        message=_message(error),
        details=error.details,
        request_id=request_id,
        wait=error.headers.get("Retry-After") if error.status == 503 else None,
    )


def _message(error: ApiError) -> str:
    """The message for people: a general one unless the error has a specific message."""
    if error.status == 429 and (wait := error.headers.get("Retry-After")):
        return f"Please wait {seconds(int(wait))} and try again."
    is_general = error.message == error.default_message
    return _MESSAGES.get(error.status, error.message) if is_general else error.message


def _wants_page() -> bool:
    accepted = request.accept_mimetypes
    return accepted.best_match(["application/json", "text/html"]) == "text/html"
