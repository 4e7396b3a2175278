"""``factory._surround_routes`` names all that is done with each request."""

from __future__ import annotations

import inspect
import re
from typing import Any, Final

from flask import Flask

from app import factory
from app.api import requests
from app.http import proxies
from app.site import protection
from tests.make import second_app

# Which of the modules named there has set up the functions of another one.
SET_UP_BY: Final = {
    "flask_wtf.csrf": protection.__name__,
    "app.limits.library": requests.__name__,
    "app.limits.limiter": requests.__name__,
    "werkzeug.middleware.proxy_fix": proxies.__name__,
}


def test_what_surrounds_each_request_is_named(app: Flask) -> None:
    source = inspect.getsource(factory._surround_routes)
    calls = re.findall(r"^    (\w+)\.init_app\(app", source, re.MULTILINE)
    named = {getattr(factory, each).__name__ for each in calls}
    settings = {"cors_origins": frozenset({"*"}), "trusted_proxies": 1, "metrics_token": "m" * 32}
    with second_app(app, **settings) as whole:
        found = {SET_UP_BY.get(each, each) for each in _modules(whole)}
    assert named - found == {"app.api.error_handlers"}  # Flask calls these when something is raised
    assert found <= named


def _modules(app: Flask) -> set[str]:
    """Those of the functions before and after each request, and of what wraps the application."""
    hooks = (app.before_request_funcs, app.after_request_funcs, app.teardown_request_funcs)
    modules = {each.__module__ for functions in hooks for each in functions[None]}
    wrapper: Any = app.wsgi_app
    while not inspect.ismethod(wrapper):
        modules.add(type(wrapper).__module__)
        wrapper = getattr(wrapper, "app", None) or wrapper._application
    return modules
