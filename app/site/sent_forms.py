"""Forms that make a secret and show it once. Sent twice, as by a reload, they make one.

Each form has a mark. The session has the marks of the last forms that made a secret, with the path
of the page of what they made.
"""

from __future__ import annotations

import secrets
from typing import Any, Final

from flask import Flask, Response, request, session
from markupsafe import Markup

from app.site.pages import page, redirect_to

_KEY: Final = "sent_forms"
_MOST_MARKS: Final = 5
_MARK_BYTES: Final = 9
_MARK_LENGTH: Final = 12


def init_app(app: Flask) -> None:
    """Let templates write ``mark_field()`` into forms that make a secret."""
    app.add_template_global(mark_field)


def mark_field() -> Markup:
    """Return the hidden field with the mark that was sent, or a new one."""
    mark = _sent_mark() or secrets.token_urlsafe(_MARK_BYTES)
    return Markup('<input type="hidden" name="mark" value="{}">').format(mark)


def sent_before(remedy: str) -> Response | None:
    """Return the response to a form that has already made its secret, or None.

    Args:
        remedy: what to do if nobody copied the secret, such as ``rotate it``.
    """
    mark = _sent_mark()
    path = next((path for sent, path in session.get(_KEY, ()) if sent == mark), None)
    if path is None:
        return None
    return redirect_to(
        path,
        "This form was sent before, and nothing was done again. A secret is shown only once: if "
        f"nobody has copied it, {remedy}.",
    )


def show_once(path: str, template: str, **values: Any) -> Response:
    """Render the page with the secret that the current form has made. Sent again, the form leads to
    ``path``, unless it has no mark."""
    if mark := _sent_mark():
        session[_KEY] = [*session.get(_KEY, ()), (mark, path)][-_MOST_MARKS:]
    return page(template, **values)


def _sent_mark() -> str | None:
    mark = request.form.get("mark", "")
    return mark if len(mark) == _MARK_LENGTH else None
