"""The routes below /api, for the web application and for providers that call in.

Bodies are parsed as strictly as those of /v1, with the same errors. Responses have no timestamp.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import marshmallow as ma
from flask import Response, request

from app.api.media_types import JSON
from app.api.parsing import PARSER, refuse_parameters, whole_body
from app.api.requests import request_id
from app.http.errors import ServiceUnavailable, Unauthorized
from app.security.signatures import is_signed
from app.values.strict_json import dumps

SIGNATURE = "X-Service-Signature"


def json_response(data: Mapping[str, Any]) -> Response:
    """200 with ``{data, meta: {request_id}}``."""
    body = {"data": data, "meta": {"request_id": request_id()}}
    response = Response(dumps(body), content_type=JSON)
    response.headers["Cache-Control"] = "no-store"
    return response


def read_body(schema: type[ma.Schema]) -> dict[str, Any]:
    """Parse the body of this request.

    Raises:
        BadRequest: it is not JSON, or the address has parameters.
        ValidationFailed: a field is wrong.
    """
    refuse_parameters(request)
    loaded: dict[str, Any] = PARSER.parse(schema(), request, location="json")
    return loaded


def verify_signature(secret: str | None, setting: str) -> None:
    """Verify the ``X-Service-Signature`` of this request's raw body, before it is parsed.

    Args:
        secret: the sender's secret, or None if it is not set.
        setting: the setting that holds the secret.

    Raises:
        ServiceUnavailable: the secret is not set.
        Unauthorized: the signature is missing or wrong.
    """
    body = signed_body(secret, setting)
    if not is_signed(secret or "", body, request.headers.get(SIGNATURE)):
        raise bad_signature(
            SIGNATURE,
            "Send 'sha256=' and the hexadecimal HMAC-SHA256 of the raw body, keyed with "
            f"{setting}.",
        )


def signed_body(secret: str | None, setting: str) -> bytes:
    """The raw body of a request that must be signed.

    Raises:
        ServiceUnavailable: the secret is not set.
    """
    if not secret:
        raise ServiceUnavailable(
            f"This route is switched off. The operator has to set {setting}.", retry_after=3600
        )
    return whole_body(request)


def bad_signature(header: str, advice: str) -> Unauthorized:
    """The error for a request whose signature is missing or wrong."""
    return Unauthorized(
        f"The signature in {header} is missing or does not match the body. {advice}",
        scheme=f'Signature header="{header}"',
    )
