"""The credentials of requests below ``/ogc``, from programs that draw maps.

Few of them can send a bearer token. So the token may also be the password of HTTP Basic
authentication with any user name, its user name without a password (``curl -u KEY:``), the header
``X-Api-Key``, or the parameter ``key``.
"""

from __future__ import annotations

from typing import Final

from flask import request

from app.http.query_key import KEY

CHALLENGE: Final = 'Basic realm="canopy", charset="UTF-8"'


def sent_credential() -> str | None:
    """The credential of this request in the form ``Bearer …``, or None. The parameter comes first,
    then X-Api-Key, then Authorization."""
    key = request.environ.get(KEY, request.headers.get("X-Api-Key"))
    if key is not None:
        return f"Bearer {key}"
    sent = request.authorization
    if sent is not None and sent.type == "basic":
        return f"Bearer {sent.password or sent.username}"
    return request.headers.get("Authorization")
