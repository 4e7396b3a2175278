"""Forms that are carried out once, although they are sent twice.

- A script that got no response to a form sends it again with the same Idempotency-Key, as programs
  do with the API, and gets the first response (``repeatable``).
- A form that makes a secret shows it once. It has a mark, and the session has the marks of the last
  ones that made a secret, with the path of the page of what they made.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, Final

from flask import Flask, Response, abort, flash, g, request, session
from markupsafe import Markup

from app.api.idempotency import StillRunning, read_key
from app.api.web_routes import json_response
from app.auth.principal import Principal
from app.http.errors import ServiceUnavailable
from app.site.pages import redirect_to
from app.site.protection import View
from app.site.signed_in import is_from_script

_KEY: Final = "sent_forms"
_MOST_MARKS: Final = 5
_MARK_BYTES: Final = 9
_MARK_LENGTH: Final = 12


def init_app(app: Flask) -> None:
    """Let templates write ``mark_field()`` into forms that make a secret."""
    app.add_template_global(mark_field)


def repeatable(view: View) -> View:
    """Decorate the view of a form that scripts may send again; it saves with ``saving_once``."""

    @wraps(view)
    def run(principal: Principal, **arguments: Any) -> Any:
        g.form_key = key = read_key(principal)
        stored = None if key is None else key.stored_response()
        return view(principal, **arguments) if stored is None else stored

    return run


@contextmanager
def saving_once() -> Iterator[Callable[[str, str], Response]]:
    """Store the response of a ``repeatable`` view for repeats, in the transaction within the block.

    Yields:
        A function that makes the response, from the path that it leads to and a message. A script
        gets both as ``data``; the next page shows the message, unless the script sends the form in
        the background.

    Raises:
        ServiceUnavailable: the first request with the same key is still running.
    """
    key = g.form_key
    messages = []

    def respond(path: str, message: str) -> Response:
        messages.append(message)
        found = {"path": path, "message": message}
        response = json_response(found) if is_from_script() else redirect_to(path)
        if key is not None:
            key.store(response)
        return response

    try:
        if key is not None and not key.claim():
            raise StillRunning
    except StillRunning as error:
        raise ServiceUnavailable(error.message) from None
    yield respond
    if request.headers.get("X-Requested-With") != "background":
        flash(*messages)


def mark_field() -> Markup:
    """Return the hidden field with the mark that was sent, or a new one."""
    mark = _sent_mark() or secrets.token_urlsafe(_MARK_BYTES)
    return Markup('<input type="hidden" name="mark" value="{}">').format(mark)


def check_not_sent_before(remedy: str) -> None:
    """End the request with a redirect if the form has already made its secret.

    Args:
        remedy: what to do if nobody copied the secret, such as ``rotate it``.
    """
    mark = _sent_mark()
    path = next((path for sent, path in session.get(_KEY, ()) if sent == mark), None)
    if path is not None:
        message = "This form was sent before, and nothing was done again. A secret is shown only "
        abort(redirect_to(path, f"{message}once: if nobody has copied it, {remedy}."))


def show_once(path: str, shown: Response) -> Response:
    """Return the page ``shown``, with the secret that the current form has made. Sent again, the
    form leads to ``path``, unless it has no mark."""
    if mark := _sent_mark():
        session[_KEY] = [*session.get(_KEY, ()), (mark, path)][-_MOST_MARKS:]
    return shown


def _sent_mark() -> str | None:
    mark = request.form.get("mark", "")
    return mark if len(mark) == _MARK_LENGTH else None
