"""Signing in with a second factor: the step between the right password and the session.

Signing in with a password or a mailed link goes through ``begin_sign_in``. For people with a second
factor it starts a pending sign-in instead of a session. Its token is in a cookie of this browser,
and only opens the page of the second step.
"""

from __future__ import annotations

from typing import Any, Final

from flask import Response
from sqlalchemy import select

from app.auth.pending_sign_ins import find_pending, start_pending
from app.db.extensions import db
from app.models import User
from app.policy.second_factor import SECOND_STEP_LIFE
from app.site.cookies import read_cookie, set_cookie
from app.site.pages import redirect_to
from app.site.signed_in import sign_in

SECOND_STEP: Final = "/login/second-factor"

_COOKIE: Final = "canopy_second_step"


def has_second_step(user_id: str) -> bool:
    """True if a person has a second factor, in the current transaction."""
    has_factor = select(User.second_factor_since.is_not(None)).where(User.id == user_id)
    return bool(db.session.scalars(has_factor).one())


def begin_sign_in(target: str, user_id: str, account_id: str | None, message: str = "") -> Response:
    """Sign a person in who has just given their password or followed a mailed link, in the current
    transaction; or, if they have a second factor, lead them to the second step.

    Args:
        target: the local path of the next page.
        account_id: the account of the session.
        message: the message on the next page.
    """
    if not has_second_step(user_id):
        response = redirect_to(target, message)
        sign_in(response, user_id, account_id, confirmed=True)
        return response
    response = redirect_to(SECOND_STEP, message)
    token = start_pending(user_id, account_id, target)
    set_cookie(response, _COOKIE, token, int(SECOND_STEP_LIFE.total_seconds()))
    return response


def pending_sign_in() -> Any:
    """Return the pending sign-in of this browser from ``find_pending``, or None."""
    token = read_cookie(_COOKIE)
    return find_pending(token) if token else None


def end_second_step(response: Response) -> None:
    """Delete the cookie of a pending sign-in."""
    set_cookie(response, _COOKIE, "", 0)
