"""Forms whose answer is shown once: reloading it sends the form again, which must not do again what
it did.

Each such form has a mark. The session's cookie keeps the last ones that were sent, and the page
that each has led to.
"""

from __future__ import annotations

import secrets
from typing import Final

from flask import session

_KEY: Final = "sent_forms"
_KEPT: Final = 5
_MARK_BYTES: Final = 9
_MARK_LENGTH: Final = 12


def new_mark() -> str:
    """The mark of a form that is shown for the first time."""
    return secrets.token_urlsafe(_MARK_BYTES)


def sent_before(mark: str | None) -> str | None:
    """The page that the form with this mark has led to; None if it was not sent before."""
    return next((path for known, path in session.get(_KEY, ()) if known == mark), None)


def remember_sent(mark: str | None, path: str) -> None:
    """Remember what the form with this mark has led to. A form without one may be sent again."""
    if mark and len(mark) == _MARK_LENGTH:
        session[_KEY] = [*session.get(_KEY, ()), (mark, path)][-_KEPT:]
