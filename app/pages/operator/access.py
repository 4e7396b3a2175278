"""Access to the pages of operators."""

from __future__ import annotations

from functools import wraps
from typing import Any

from app.auth.sessions import SignedIn
from app.http.errors import Forbidden
from app.site.signed_in import View, signed_in


def of_operator(view: View) -> View:
    """Decorate a view for operators with a confirmed address. Others get a 403 that says why,
    people who are not signed in the sign-in page."""

    @wraps(view)
    def run(person: SignedIn, **arguments: Any) -> Any:
        if not person.is_operator:
            raise Forbidden("This page is for operators of this instance.")
        if not person.is_verified:
            raise Forbidden("Confirm your email address first: request a link on your profile.")
        return view(**arguments)

    wrapped = signed_in(run)
    wrapped.for_operators = True  # type: ignore[attr-defined]  # for the generated documentation
    return wrapped
