"""Pages for passwords, which do not exist where ``PASSWORD_SIGN_IN`` is false."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from app.site.pages import instance, page
from app.site.signed_in import current_person

View = Callable[..., Any]


def with_passwords(view: View) -> View:
    """Decorate a view that needs passwords. Without them, a page says what to do instead."""

    @wraps(view)
    def run(*positional: Any, **arguments: Any) -> Any:
        if instance().password_sign_in:
            return view(*positional, **arguments)
        current_person()
        return page("no_passwords.html", 403)

    return run
