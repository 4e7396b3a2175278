"""Requests that can be repeated safely: the ``Idempotency-Key`` header.

The first response is stored in the transaction of the change, so there is never a change without
its response, nor a response without its change. Not stored are 401, 403 and 429, which are decided
each time before the key is read, and 5xx. Beyond the account's limit of large responses, only the
headers are stored. A response with ``Cache-Control: no-store`` holds a secret, and is stored
encrypted.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Final

from flask import Response, request
from sqlalchemy import bindparam, delete, text

from app.api.expensive import reading_body
from app.api.merge_patch import MERGE_PATCH
from app.api.openapi.operations import REPEATABLE
from app.api.parsing import whole_body
from app.auth.principal import Principal
from app.auth.tenant import columns_of
from app.db.engines import insert_into
from app.db.extensions import db
from app.db.queries import CompiledQuery
from app.http.errors import BadRequest, Conflict, Detail, InvalidField
from app.limits.storage import MINUTE_MS, WindowKey, add_bytes
from app.models import IdempotentResponse
from app.policy.request_limits import (
    IDEMPOTENCY_BYTES,
    IDEMPOTENCY_HOURS,
    IDEMPOTENCY_KEY_LENGTH,
    IDEMPOTENCY_LARGE_BYTES,
)
from app.security.sealing import seal, unseal
from app.values import clock
from app.values.strict_json import JsonInvalid, canonical_json, dumps, loads, with_whole_numbers

HEADER: Final = "Idempotency-Key"
_BLOCK: Final = 1024 * 1024
_NO_CONTENT: Final = 204
_WINDOW_MS: Final = IDEMPOTENCY_HOURS * 60 * MINUTE_MS
_PRINTABLE: Final = re.compile(rf"[\x20-\x7e]{{1,{IDEMPOTENCY_KEY_LENGTH}}}")
_FORMS: Final = ("multipart/form-data", "application/x-www-form-urlencoded")
_KEPT_HEADERS: Final = ("Content-Type", "Location", "ETag", "Link", "Cache-Control", "Retry-After")

_STORED = CompiledQuery(
    columns_of(
        IdempotentResponse,
        IdempotentResponse.fingerprint,
        IdempotentResponse.status,
        IdempotentResponse.headers,
        IdempotentResponse.body,
    ).where(
        IdempotentResponse.key == bindparam("key"),
        IdempotentResponse.created_at > bindparam("oldest"),
    )
)


class StillRunning(Conflict):
    """The first request with the same key is still running."""

    def __init__(self) -> None:
        message = "The first request with this Idempotency-Key is still running. Try again shortly."
        super().__init__("still_running", "Idempotency-Key", message)


@dataclass(frozen=True, slots=True)
class IdempotentRequest:
    """One request with an Idempotency-Key."""

    account_id: str
    key: str  # the stored form
    fingerprint: str  # of the values of a JSON body
    of_bytes: str  # of the bytes of the body, as releases before 1.1 stored it

    def stored_response(self) -> Response | None:
        """The response to the first request, or None.

        Raises:
            ValidationFailed: the key was used for another request.
            Conflict: it holds a secret that can no longer be read, or was not stored.
        """
        row = _STORED.first(account_id=self.account_id, key=self.key, oldest=_oldest_kept())
        if row is None:
            return None
        if row.fingerprint not in (self.fingerprint, self.of_bytes):
            message = (
                "This key was used for a different request. Use a new key for each new request."
            )
            raise InvalidField(HEADER, message, "not_unique")
        if not row.body and row.status != _NO_CONTENT:
            raise _not_stored(row.headers.get("Location", "what it changed"))
        body = _unseal_body(row.body) if _holds_secret(row.headers) else row.body
        response = Response(body, status=row.status)
        del response.headers["Content-Type"]  # werkzeug's, which 204 has not
        response.headers.update(row.headers)
        response.headers["Idempotency-Replayed"] = "true"
        return response

    def claim(self) -> bool:
        """Reserve the key in the open transaction. Returns False if it has a response meanwhile.

        Raises:
            StillRunning: the first request with this key is still running. (SQLite has one writer
                at a time: there a repeat waits for the first and then finds its response.)
        """
        if db.engine.dialect.name == "postgresql":
            lock = text("SELECT pg_try_advisory_xact_lock(hashtextextended(:name, 7))")
            name = f"{self.account_id} {self.key}"
            if not db.session.execute(lock, {"name": name}).scalar_one():
                raise StillRunning
        db.session.execute(
            delete(IdempotentResponse).where(
                IdempotentResponse.account_id == self.account_id,
                IdempotentResponse.key == self.key,
                IdempotentResponse.created_at <= _oldest_kept(),
            )
        )
        statement = insert_into(IdempotentResponse).values(
            account_id=self.account_id,
            key=self.key,
            fingerprint=self.fingerprint,
            status=0,
            headers={},
            body=b"",
            created_at=clock.now(),
        )
        claimed = db.session.execute(
            statement.on_conflict_do_nothing().returning(IdempotentResponse.key)
        )
        return claimed.first() is not None

    def store(self, response: Response) -> None:
        """Complete the reserved row with the response, in the open transaction."""
        row = db.session.get_one(IdempotentResponse, (self.account_id, self.key))
        row.status = response.status_code
        row.headers = {
            name: response.headers[name] for name in _KEPT_HEADERS if name in response.headers
        }
        body = response.get_data()
        if not self._has_room(len(body)):
            return
        row.body = seal(body.decode()).encode() if _holds_secret(row.headers) else body

    def _has_room(self, size: int) -> bool:
        """True if a body may be stored: many large ones could fill the disk."""
        window = WindowKey(f"stored:{self.account_id}", IDEMPOTENCY_BYTES, _WINDOW_MS)
        return size <= IDEMPOTENCY_LARGE_BYTES or add_bytes(size, window)


def read_key(principal: Principal) -> IdempotentRequest | None:
    """The request's key, or None without one, and for DELETE, whose repeat is 404.

    Raises:
        BadRequest: the header is not 1 to 255 printable ASCII characters, or the body is cut off.
        ServiceUnavailable: the body is large, and too many others wait.
    """
    key = request.headers.get(HEADER)
    if key is None or request.method not in REPEATABLE:
        return None
    if not _PRINTABLE.fullmatch(key):
        message = f"Must be 1 to {IDEMPOTENCY_KEY_LENGTH} printable ASCII characters."
        detail = Detail(HEADER, message, "wrong_format")
        raise BadRequest(f"The header {HEADER} is not valid.", details=[detail])
    digest = hashlib.sha256(f"{request.method} {request.full_path}\n".encode())
    if request.mimetype == MERGE_PATCH:  # the same body as JSON is another change
        digest.update(MERGE_PATCH.encode())
    of_bytes = digest.copy()
    for part in _request_content():
        of_bytes.update(part)
    if request.mimetype in _FORMS:
        digest = of_bytes
    else:
        with reading_body():
            digest.update(_body_values(whole_body(request)))
    stored_key = _stored_key(key, principal)
    return IdempotentRequest(
        principal.account_id, stored_key, digest.hexdigest(), of_bytes.hexdigest()
    )


def _stored_key(key: str, principal: Principal) -> str:
    """The stored form of a key. A credential that is limited to some projects has its own keys, so
    that it learns nothing of other projects."""
    if principal.project_ids is None:
        return key
    return f"{principal.credential_id}\n{hashlib.sha256(key.encode()).hexdigest()}"


def _request_content() -> Iterator[bytes]:
    """Yield the content of a request; for a form its parts, as clients separate them
    differently."""
    if request.mimetype not in _FORMS:
        yield whole_body(request)
        return
    yield dumps(sorted(request.form.items(multi=True)))
    for name, file in sorted(request.files.items(multi=True)):
        yield dumps([name, file.filename])
        yield from iter(partial(file.stream.read, _BLOCK), b"")
        file.stream.seek(0)


def _body_values(raw: bytes) -> bytes:
    """The canonical text of a JSON body; the body itself if no operation accepts it."""
    try:
        return canonical_json(with_whole_numbers(loads(raw)))
    except (JsonInvalid, TypeError):  # TypeError: deeper than what can be written
        return raw


def _holds_secret(headers: Mapping[str, str]) -> bool:
    return headers.get("Cache-Control") == "no-store"


def _not_stored(place: str) -> Conflict:
    message = (
        "The request was carried out. Its response is not stored, as the account has had too many "
        f"large ones. Read {place}."
    )
    return Conflict("response_lost", "Idempotency-Key", message)


def _unseal_body(sealed: bytes) -> bytes:
    try:
        text: str = unseal(sealed.decode())
    except ValueError:  # the operator has changed the key since
        message = (
            "The request was carried out. Its response held a secret and cannot be shown again."
        )
        raise Conflict("response_lost", "Idempotency-Key", message) from None
    return text.encode()


def _oldest_kept() -> datetime:
    return clock.now() - timedelta(hours=IDEMPOTENCY_HOURS)
