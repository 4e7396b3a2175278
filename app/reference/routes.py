"""The OpenAPI document and the reference page."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from flask import Blueprint, Response, redirect, render_template, request
from markupsafe import Markup, escape

from app.api.openapi import description
from app.http.etags import entity_tag
from app.http.urls import absolute_url
from app.reference.document import groups
from app.site.pages import Instance, instance
from app.site.signed_in import may_be_signed_in
from app.values.strict_json import dumps

bp = Blueprint("reference", __name__, template_folder="templates")


@bp.app_template_filter("code")
def code(text: str) -> Markup:
    """Render text between backticks as code, and escape everything else."""
    parts = re.split(r"`([^`]+)`", text)
    return Markup("").join(
        Markup("<code>{}</code>").format(part) if index % 2 else escape(part)
        for index, part in enumerate(parts)
    )


@bp.get("/v1/openapi.json")
def openapi() -> Response:
    """The OpenAPI 3.1 document."""
    text = dumps(description(absolute_url("")))
    return _cached(Response(text, content_type="application/json"))


@bp.get("/docs")
def page() -> Response:
    """The reference page, rendered from the document; it loads nothing from other hosts."""
    text = _reference(instance(), may_be_signed_in())
    response = _cached(Response(text, content_type="text/html; charset=utf-8"))
    response.vary.add("Cookie")
    return response


@bp.get("/openapi.json")
def moved_openapi() -> Any:
    """Where some programs look for the OpenAPI document: redirects to it."""
    return redirect("/v1/openapi.json", 308)


@cache
def _reference(_: Instance, is_signed_in: bool) -> str:
    """The rendered page. Like the document, it does not change while the process runs."""
    document = description()
    values = {"groups": groups(document), "is_signed_in": is_signed_in}
    return render_template("reference.html", api=document, **values)


def _cached(response: Response) -> Response:
    response.headers["ETag"] = entity_tag([response.get_data()])
    response.headers["Cache-Control"] = "no-cache"
    return response.make_conditional(request)  # type: ignore[return-value]
