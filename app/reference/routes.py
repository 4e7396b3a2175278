"""The OpenAPI document and the reference page."""

from __future__ import annotations

import re
from functools import partial
from typing import Any, Final

from flask import Blueprint, Response, current_app, redirect, render_template
from markupsafe import Markup, escape

from app.api.openapi.components import REFUSALS
from app.api.openapi.document import api_description
from app.http.urls import absolute_url
from app.limits.plan_file import plans
from app.policy import deliveries, oauth, rate_limits, request_limits
from app.policy.causes import CAUSES
from app.policy.deprecations import DEPRECATIONS
from app.policy.events import EVENTS
from app.policy.permissions import PERMISSIONS, SCOPES
from app.reference.curl import ADDRESS, curl_command
from app.reference.document import Group, operation_groups
from app.settings.current import current_settings
from app.site.instance_state import shown_message, shown_sign_up
from app.site.pages import revalidated, theme
from app.site.signed_in import may_be_signed_in
from app.values.clock import describe_duration
from app.values.strict_json import dumps

_PAGES: Final = "canopy_reference_pages"

bp = Blueprint("reference", __name__, template_folder="templates")


@bp.get("/v1/openapi.json")
def openapi() -> Response:
    """The OpenAPI 3.1 document."""
    text = dumps(api_description(absolute_url("")))
    return revalidated(text, "application/json", public=True)


@bp.get("/openapi.json")
def moved_openapi() -> Any:
    """Redirect programs that look for the OpenAPI document here."""
    return redirect("/v1/openapi.json", 308)


@bp.get("/docs")
def page() -> Response:
    """The reference page, rendered from the document; it loads nothing from other hosts."""
    html = _reference_page(may_be_signed_in(), theme()).replace(ADDRESS, escape(absolute_url("")))
    response = revalidated(html.encode(), "text/html; charset=utf-8", public=True)
    response.vary.add("Cookie")
    return response


def _reference_page(is_signed_in: bool, theme: str | None) -> str:
    """Return the rendered page, with ``ADDRESS`` in place of the instance's address. It is cached
    while the settings of operators on it stay the same.

    Args:
        theme: the theme, which all templates get from their context.
    """
    state = (shown_message(), shown_sign_up())
    cached: tuple[Any, dict[Any, str]] = current_app.extensions.get(_PAGES, (None, {}))
    if cached[0] != state:
        cached = current_app.extensions[_PAGES] = (state, {})
    pages, key = cached[1], (is_signed_in, theme)
    if key not in pages:
        pages[key] = _render_reference(is_signed_in)
    return pages[key]


def _render_reference(is_signed_in: bool) -> str:
    document = api_description()
    groups = operation_groups(document)
    anchors = _operation_anchors(groups)
    values = {
        "api": document,
        "groups": groups,
        "text": lambda sentence: _linked_text(sentence, anchors),
        "is_signed_in": is_signed_in,
        "deprecations": DEPRECATIONS,
        "section": "/docs",
    }
    return render_template("reference.html", **values, **_guide_variables())


def _guide_variables() -> dict[str, Any]:
    """Return the variables of the guide on the page, which are from the policy."""
    settings = current_settings()
    return {
        "address": ADDRESS,
        "issuer": settings.public_url,
        "errors": sorted(REFUSALS.values(), key=lambda kind: kind.status),
        "causes": CAUSES,
        "plans": plans(),
        "permissions": PERMISSIONS,
        "scopes": SCOPES,
        "events": EVENTS,
        "request_limits": request_limits,
        "deliveries": deliveries,
        "oauth": oauth,
        "rate_limits": rate_limits,
        "curl": curl_command,
        "duration": partial(describe_duration, day="1 day"),
        "most_mebibytes": settings.max_body_bytes / 2**20,
    }


def _operation_anchors(groups: list[Group]) -> dict[str, str]:
    """Return the anchors of operations, by their names in texts, such as ``GET /v1/me``."""
    operations = [operation for group in groups for operation in group.operations]
    return {
        f"{method} {operation.path}": operation.id
        for operation in operations
        for method in operation.method.split(" or ")
    }


def _linked_text(sentence: str, anchors: dict[str, str]) -> Markup:
    """Mark up text between backticks as code, with a link if it names an operation. Escapes the
    rest."""
    parts = []
    for index, part in enumerate(re.split(r"`([^`]+)`", sentence)):
        if index % 2 == 0:
            parts.append(escape(part))
        elif part in anchors:
            parts.append(Markup('<a href="#{}"><code>{}</code></a>').format(anchors[part], part))
        else:
            parts.append(Markup("<code>{}</code>").format(part))
    return Markup("").join(parts)
