"""The credential of requests below ``/ogc``, as programs that draw maps send it.

They can seldom send a bearer token. So the token may also be the password of HTTP Basic
authentication with any user name, the header ``X-Api-Key``, or the parameter ``key``.
"""

from __future__ import annotations

import base64
import binascii
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
    header = request.headers.get("Authorization")
    if header is None:
        return None
    scheme, _, value = header.strip().partition(" ")
    return f"Bearer {_password(value)}" if scheme.lower() == "basic" else header


def _password(encoded: str) -> str:
    """The password of Basic authentication (RFC 7617), or an empty string."""
    try:
        pair = base64.b64decode(encoded.strip(), validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return ""
    return pair.partition(":")[2]
