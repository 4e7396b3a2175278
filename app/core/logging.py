"""Log lines: JSON for machines, plain text on a terminal, one line a request.

A line never holds a secret, a body, or the value of a query parameter.
"""

from __future__ import annotations

import logging
import sys
import time
from typing import Any, Final

import orjson
from flask import Flask, Response, g, request
from pythonjsonlogger.core import BaseJsonFormatter

from config import Settings

log = logging.getLogger("canopy.request")

_QUIET: Final = ("werkzeug", "alembic", "rq", "redis")


class JsonFormatter(BaseJsonFormatter):
    """One JSON object a line; python-json-logger with orjson."""

    def __init__(self) -> None:
        super().__init__(
            ["levelname", "name", "message"],
            timestamp="time",
            rename_fields={"levelname": "level", "name": "logger"},
        )

    def jsonify_log_record(self, log_data: Any) -> str:
        return orjson.dumps(log_data, default=str, option=orjson.OPT_UTC_Z).decode()


class TextFormatter(logging.Formatter):
    """A line for people; the fields of a request come after the message."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)-7s %(message)s", "%H:%M:%S")


def configure(settings: Settings) -> None:
    """Set up the root logger, once for each process."""
    as_json = settings.log_format == "json"
    if settings.log_format == "auto":
        as_json = not sys.stderr.isatty()
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter() if as_json else TextFormatter())
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(settings.log_level.upper())
    for name in _QUIET:
        logging.getLogger(name).setLevel(logging.WARNING)


def init_app(app: Flask) -> None:
    """Write one line a request, after it was answered."""
    app.before_request(_start_clock)
    app.after_request(_log_request)


def _start_clock() -> None:
    g.started = time.perf_counter()


def _log_request(response: Response) -> Response:
    duration_ms = round((time.perf_counter() - g.get("started", time.perf_counter())) * 1000, 2)
    principal = g.get("principal")
    route = request.url_rule.rule if request.url_rule is not None else "(none)"
    log.info(
        "%s %s %d %.1f ms",
        request.method,
        route,
        response.status_code,
        duration_ms,
        extra={
            "request_id": g.get("request_id"),
            "method": request.method,
            "route": route,
            "status": response.status_code,
            "duration_ms": duration_ms,
            "account": principal.account_id if principal else None,
            "credential": principal.credential_id if principal else None,
        },
    )
    return response
