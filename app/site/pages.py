"""Pages for people: how one is answered, and where it may lead."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final
from urllib.parse import urlsplit

from flask import Blueprint, Flask, Response, flash, g, redirect, request
from flask import render_template as render

from app.http.middleware import FORM_ACTION
from app.site import protection
from app.values.clock import describe_duration, format_optional_time
from config import Settings

_LONGEST_PATH: Final = 8_000  # characters; an authorization request of an application is long


bp = Blueprint(  # the templates and files that all pages share
    "site",
    __name__,
    template_folder="templates",
    static_folder="static",
    static_url_path="/static/site",
)


def init_app(app: Flask, settings: Settings) -> None:
    """Give pages their templates, static files, filters and protection against forged posts."""
    app.register_blueprint(bp)
    protection.init_app(app, settings)
    app.context_processor(lambda: {"person": g.get("person"), "csrf_field": protection.csrf_field})
    app.add_template_filter(_moment, "moment")
    app.add_template_filter(describe_duration, "span")
    app.add_template_filter(lambda role: "an" if role[0] in "aeo" else "a", "article")


class PageBlueprint(Blueprint):
    """Pages: each post is from a form of ours, and belongs to who sees it."""

    def __init__(self, name: str, import_name: str) -> None:
        super().__init__(name, import_name, template_folder="templates")
        self.before_request(protection.protect)


def page(template: str, status: int = 200, **values: Any) -> Response:
    """A page for the person at hand; no cache keeps it."""
    response = Response(render(template, **values), status, content_type="text/html; charset=utf-8")
    response.headers["Cache-Control"] = "no-store"
    return response


def redirect_to(path: str, message: str = "") -> Response:
    """Lead on to another page of ours, which shows the message."""
    if message:
        flash(message)
    response: Any = redirect(path, 303)
    response.headers["Cache-Control"] = "no-store"
    return response  # type: ignore[no-any-return]


def allow_form_action(url: str) -> None:
    """Let a form of this page be answered with a redirect to the origin of ``url``: browsers hold
    that against the page's ``form-action``. A policy has no name for an IPv6 address or for a
    scheme of an application's own; there all of the scheme is allowed."""
    parts = urlsplit(url)
    is_named = parts.scheme in ("http", "https") and "[" not in parts.netloc
    request.environ[FORM_ACTION] = (
        f"{parts.scheme}://{parts.netloc}" if is_named else f"{parts.scheme}:"
    )


def own_path(target: str | None) -> str:
    """Where to go on after signing in: the path that was asked for, if it leads to this service."""
    if not target or not target.isprintable() or len(target) > _LONGEST_PATH:
        return "/"
    leads_away = "\\" in target or target.startswith("//") or not target.startswith("/")
    return "/" if leads_away else target


def _moment(value: datetime | str) -> str:
    """A moment for people: ``2026-01-31, 14:05 UTC``."""
    shown = str(format_optional_time(value))
    return f"{shown[:10]}, {shown[11:16]} UTC"
