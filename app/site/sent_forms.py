"""Forms that make a secret. Sent twice, as by reloading the response, they make one; the page that
follows shows it once.

Each such form has a mark. The session's cookie keeps the marks of the last ones that have made a
secret, and the page where what they made is found.
"""

from __future__ import annotations

import secrets
from typing import Any, Final

from flask import Flask, Response, request, session
from markupsafe import Markup

from app.site.pages import page, redirect_to

_KEY: Final = "sent_forms"
_KEPT: Final = 5
_MARK_BYTES: Final = 9
_MARK_LENGTH: Final = 12


def init_app(app: Flask) -> None:
    """Let templates write ``mark_field()`` into forms that make a secret."""
    app.add_template_global(mark_field)


def mark_field() -> Markup:
    """The hidden field with the mark of a form: a new one, or that which was sent with it."""
    mark = _sent_mark() or secrets.token_urlsafe(_MARK_BYTES)
    return Markup('<input type="hidden" name="mark" value="{}">').format(mark)


def sent_before(remedy: str) -> Response | None:
    """The response to a form that has made its secret before; None if it has not.

    Args:
        remedy: what to do if nobody has copied the secret, such as ``rotate it``.
    """
    mark = _sent_mark()
    path = next((path for known, path in session.get(_KEY, ()) if known == mark), None)
    if path is None:
        return None
    return redirect_to(
        path,
        "This form was sent before, and nothing was done again. A secret is shown only once: if "
        f"nobody has copied it, {remedy}.",
    )


def show_once(path: str, template: str, **values: Any) -> Response:
    """The page with the secret that the current form has made. Sending the form again leads to
    ``path``. A form without a mark may be sent again."""
    if mark := _sent_mark():
        session[_KEY] = [*session.get(_KEY, ()), (mark, path)][-_KEPT:]
    return page(template, **values)


def _sent_mark() -> str | None:
    mark = request.form.get("mark", "")
    return mark if len(mark) == _MARK_LENGTH else None
