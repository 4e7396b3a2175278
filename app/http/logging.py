"""Log lines: JSON for machines, plain text on a terminal, one line a request.

A line never holds a secret, a body, or the value of a query parameter.
"""

from __future__ import annotations

import logging
import sys
import time
from functools import lru_cache
from typing import Final

import click
import orjson
from flask import Flask, Response, g, request
from flask.cli import FlaskGroup

from app.http.middleware import REQUEST_ID, STARTED
from config import Settings

log = logging.getLogger("canopy.request")

# A line break would begin a line that nothing wrote, and a terminal obeys what follows an escape.
_ESCAPES: Final = str.maketrans({"\n": "\\n", "\r": "\\r", "\x1b": "\\x1b"})
_QUIET: Final = ("werkzeug", "alembic", "rq", "redis")


class JsonFormatter(logging.Formatter):
    """A JSON object on each line; ``record.fields`` are members of it."""

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": f"{_format_second(int(record.created))}.{int(record.msecs):03d}Z",
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return orjson.dumps(line, default=str).decode()


class TextFormatter(logging.Formatter):
    """A line for people; the fields of a request come after the message."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)-7s %(message)s", "%H:%M:%S")

    def formatMessage(self, record: logging.LogRecord) -> str:
        """One line, whatever a text of somebody else holds."""
        return super().formatMessage(record).translate(_ESCAPES)


def configure_logging(settings: Settings) -> None:
    """Set up the root logger, once for each process."""
    command = click.get_current_context(silent=True)  # Flask's, such as "flask run"
    as_json = settings.log_format == "json"
    if settings.log_format == "auto":
        as_json = command is None and not sys.stderr.isatty()
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter() if as_json else TextFormatter())
    # Skips what lines do not show (logging how-to, "Optimization").
    logging.logThreads = logging.logMultiprocessing = False
    logging._srcfile = None
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(settings.log_level.upper())
    for name in _QUIET:
        logging.getLogger(name).setLevel(logging.WARNING)
    if command is not None:
        _let_flask_speak(command)


def _let_flask_speak(command: click.Context) -> None:
    """Show what a command of Flask shows elsewhere: ``run`` its address and a line for each
    request, ``db`` the revisions that it applies."""
    werkzeug = logging.getLogger("werkzeug")
    werkzeug.setLevel(logging.INFO)
    werkzeug.propagate = False  # it adds its own handler
    log.setLevel(logging.WARNING)
    if isinstance(command.command, FlaskGroup):  # loads the application to find commands such as db
        logging.getLogger("alembic").setLevel(logging.INFO)


def init_app(app: Flask) -> None:
    """Log a line for each request after its response."""
    app.after_request(_log_request)


def _log_request(response: Response) -> Response:
    if not log.isEnabledFor(logging.INFO):
        return response
    environ, rule, principal = request.environ, request.url_rule, g.get("principal")
    method, route = environ["REQUEST_METHOD"], rule.rule if rule is not None else None
    milliseconds = (time.perf_counter() - environ[STARTED]) * 1000
    fields = {
        "request_id": environ[REQUEST_ID],
        "method": method,
        "route": route,
        "status": response.status_code,
        "duration_ms": round(milliseconds, 2),
        "account": principal.account_id if principal else None,
        "credential": principal.credential_id if principal else None,
    }
    message = f"{method} {route} {response.status_code} {milliseconds:.1f} ms"
    log.info(message, extra={"fields": fields})
    return response


@lru_cache(maxsize=1)
def _format_second(seconds: int) -> str:
    """Format a UTC time to the second; cached, as most lines share it with the previous one."""
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))
