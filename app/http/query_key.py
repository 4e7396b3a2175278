"""Removing API keys from URLs before anything can log or show them.

Many programs that draw maps are configured with a URL alone, so below ``/ogc`` a key may be a query
parameter. It is moved to ``environ``, so that no log line, error, link or page contains it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final
from urllib.parse import unquote_plus

from flask import Flask

from app.http.urls import is_ogc

KEY: Final = "canopy.query_key"
_PARAMETER: Final = "key"
_ADDRESSES: Final = ("RAW_URI", "REQUEST_URI")  # copies of the whole URL


class QueryKeyMiddleware:
    """WSGI middleware that moves the parameter ``key`` of the query to ``KEY``. A repeated one
    counts as no key."""

    def __init__(self, application: Callable[..., Iterable[bytes]]) -> None:
        self._application = application

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        query = environ.get("QUERY_STRING", "")
        if query and is_ogc(environ.get("PATH_INFO", "")):
            _take_key(environ, query)
        return self._application(environ, start_response)


def init_app(app: Flask) -> None:
    """Wrap the application."""
    app.wsgi_app = QueryKeyMiddleware(app.wsgi_app)  # type: ignore[method-assign]


def _take_key(environ: dict[str, Any], query: str) -> None:
    other_parts, keys = list[str](), list[str]()
    for part in query.split("&"):
        name, _, value = part.partition("=")
        if unquote_plus(name) == _PARAMETER:
            keys.append(unquote_plus(value))
        else:
            other_parts.append(part)
    if not keys:
        return
    environ[KEY] = keys[0] if len(keys) == 1 else ""
    environ["QUERY_STRING"] = "&".join(other_parts)
    for name in _ADDRESSES:
        if name in environ:
            path = environ[name].partition("?")[0]
            environ[name] = f"{path}?{environ['QUERY_STRING']}" if other_parts else path
