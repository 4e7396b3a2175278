"""Whether somebody may have the rest of a file; the request that asked for it was let in before."""

from __future__ import annotations

import time
from collections.abc import Iterator

from flask import Flask

from app.policy.files import EXPORT_CHECK_SECONDS
from app.site.access_check import access_check


def while_allowed(pieces: Iterator[bytes], app: Flask) -> Iterator[bytes]:
    """The pieces of a file for the caller of this request, until they may no longer have it.

    Raises, instead of a later piece or at the end:
        Unauthorized: their key or token is revoked or has expired.
        Forbidden: they have signed out, are no member any more, or may do less than before.
    """
    check = access_check()

    def checked() -> Iterator[bytes]:
        due = time.monotonic() + EXPORT_CHECK_SECONDS
        for piece in pieces:
            if time.monotonic() >= due:
                with app.app_context():
                    check()
                due = time.monotonic() + EXPORT_CHECK_SECONDS
            yield piece
        # Once the deletion of an account has begun, its rows soon go, and a file must not look
        # complete without them.
        with app.app_context():
            check()

    return checked()
