"""Rendering errors: each exception becomes the envelope of an error."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import asdict
from typing import Any, Final

from flask import Flask, Response, current_app, request
from sqlalchemy.exc import SQLAlchemyError
from werkzeug.exceptions import HTTPException

from app.api.requests import request_id
from app.auth.guard import is_caller_deleted
from app.db.engines import is_outage, is_storage_fault
from app.db.postgresql.connection import CommitOutcomeUnknown
from app.db.revisions import OtherTables
from app.http import errors
from app.http.errors import ApiError
from app.values.strict_json import dumps

log = logging.getLogger(__name__)

_BY_STATUS: Final[dict[int, type[ApiError]]] = {
    kind.status: kind
    for kind in (
        errors.BadRequest,
        errors.NotFound,
        errors.MethodNotAllowed,
        errors.PayloadTooLarge,
        errors.UnsupportedMediaType,
    )
}

_DEBUGGER: Final = "werkzeug.debug.preserve_context"  # in a request to `flask run --debug`
_FORMATS: Final = "canopy_error_formats"
_DELETED: Final = "The account or person that this request was made for has just been deleted."
_OUTCOME_UNKNOWN: Final = (
    "The database did not confirm the change, which may have been made or not. Repeat the request "
    "with its Idempotency-Key, if it had one; otherwise read what is there before you repeat it."
)
_OTHER_TABLES: Final = (
    "The service has another version than its database, as during an upgrade. Until they match, "
    "requests that change something are rejected; others work."
)
_STORAGE: Final = (
    "The storage of the service is full or read-only, so nothing can be saved. Reading works. Try "
    "again when its operator has made room."
)
_UPGRADE_SECONDS: Final = 30

ErrorFormat = Callable[[ApiError, str], Response | None]


def init_app(app: Flask, *formats: ErrorFormat) -> None:
    """Turn exceptions into responses.

    Args:
        formats: functions of an error and the request's id, which return a response or None. The
            first response is used; without one, the envelope.
    """
    app.extensions[_FORMATS] = formats
    app.register_error_handler(ApiError, render_error)
    app.register_error_handler(HTTPException, _render_http)
    app.register_error_handler(SQLAlchemyError, _render_database)
    app.register_error_handler(Exception, _render_unknown)


def render_error(error: ApiError, **extra: Any) -> Response:
    """The error envelope, with the error's own status and headers, and ``extra`` members; or
    another format, such as a page for a browser."""
    formatted = (make(error, request_id()) for make in current_app.extensions[_FORMATS])
    response = next(filter(None, formatted), None) or _error_envelope(error, extra)
    response.headers.update(error.headers)
    return response


def _error_envelope(error: ApiError, extra: dict[str, Any]) -> Response:
    body = {
        **extra,
        "error": {
            "code": error.code,
            "message": error.message,
            "details": [
                {name: value for name, value in asdict(detail).items() if value is not None}
                for detail in error.details
            ],
        },
        "meta": {"request_id": request_id()},
    }
    return Response(dumps(body), status=error.status, content_type="application/json")


def as_api_error(error: SQLAlchemyError) -> ApiError | None:
    """The error response for a failure of the database, or None if it is a bug."""
    if not is_outage(error):
        return None
    cause = getattr(error, "orig", None) or error
    if isinstance(cause, OtherTables):  # logged elsewhere, once
        return errors.ServiceUnavailable(_OTHER_TABLES, retry_after=_UPGRADE_SECONDS)
    log.warning("database unavailable: %s", cause)
    if isinstance(cause, CommitOutcomeUnknown):
        return errors.ServiceUnavailable(_OUTCOME_UNKNOWN)
    return errors.ServiceUnavailable(_STORAGE if is_storage_fault(error) else None)


def _render_http(error: HTTPException) -> Response:
    """Render werkzeug's errors (an unknown route, a wrong method) with their headers."""
    error_class = _BY_STATUS.get(error.code or 500)
    if error_class is None:
        if (error.code or 500) >= 500:
            return render_error(errors.InternalError())
        error_class = errors.BadRequest
    headers = {name: value for name, value in error.get_headers() if name == "Allow"}
    return render_error(error_class(headers=headers))


def _render_database(error: SQLAlchemyError) -> Response:
    refusal = as_api_error(error)
    return render_error(refusal) if refusal is not None else _render_unknown(error)


def _render_unknown(error: Exception) -> Response:
    if is_caller_deleted():  # rows that every request relies on are gone, whatever failed first
        return render_error(errors.Unauthorized(_DELETED))
    if _DEBUGGER in request.environ:
        raise error
    log.error("unhandled error", exc_info=error)
    return render_error(errors.InternalError())
