"""The undocumented names of Flask-Limiter that the service uses are those of the pinned version.

When a test fails after an upgrade: read what changed in the library, change ``app.limits.library``,
then the version it names and the lines here.
"""

from __future__ import annotations

import inspect
import re
from importlib.metadata import version

from flask import Flask
from flask_limiter import Limiter
from flask_limiter._limits import RuntimeLimit
from flask_limiter._manager import LimitManager
from limits import RateLimitItem, RateLimitItemPerMinute

from app.limits.library import FLASK_LIMITER_VERSION, SingleLimiter
from config import ROOT


class _Two(SingleLimiter):
    """Two requests a minute."""

    def request_limit(self) -> RateLimitItem:
        return RateLimitItemPerMinute(2)


def _functions(app: Flask) -> list[int]:
    """How many functions run before a request, after it, and at its end."""
    before, after = app.before_request_funcs, app.after_request_funcs
    return [len(funcs.get(None, [])) for funcs in (before, after, app.teardown_request_funcs)]


def _limited(kind: type[Limiter]) -> Flask:
    app = Flask("limited")
    kind(lambda: "client", app=app, storage_uri="memory://")
    app.add_url_rule("/", view_func=lambda: "ok", endpoint="root")
    return app


def test_the_version_is_the_one_that_was_read() -> None:
    assert version("flask-limiter") == FLASK_LIMITER_VERSION
    requirements = (ROOT / "requirements.in").read_text()
    assert re.findall(r"^flask-limiter==(\S+)", requirements, re.MULTILINE) == [
        FLASK_LIMITER_VERSION
    ]


def test_the_methods_have_the_same_parameters() -> None:
    checked = inspect.signature(Limiter._check_request_limit).parameters
    assert list(checked) == ["self", "callable_name", "in_middleware"]
    assert list(inspect.signature(RuntimeLimit).parameters)[:3] == ["limit", "key_func", "scope"]
    resolved = inspect.signature(LimitManager.resolve_limits).parameters
    assert list(resolved)[:3] == ["self", "app", "endpoint"]
    assert len(inspect.signature(LimitManager).parameters) == 6


def test_the_library_has_three_functions_of_which_one_is_kept() -> None:
    assert _functions(_limited(Limiter)) == [1, 1, 1]
    app = _limited(_Two)
    assert _functions(app) == [1, 0, 0]
    (limiter,) = app.extensions["limiter"]
    assert limiter.initialized
    assert app.before_request_funcs[None] == [limiter._check_request_limit]
