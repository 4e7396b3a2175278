"""The keys that sign checkpoints. Their private halves are encrypted with ``SECRET_KEY``."""

from __future__ import annotations

import base64
from typing import Any, Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from sqlalchemy import select

from app.audit.proof.checkpoint import write_public_key
from app.db.column_types import api_column
from app.db.extensions import db
from app.db.queries import CompiledQuery, reading_as_stored
from app.db.transactions import insert_row
from app.models import SigningKey
from app.security.sealing import seal, unseal
from app.values import clock
from app.values.ids import new_id

_SHOWN = (SigningKey.id, SigningKey.public_key, SigningKey.created_at)
_ALL = CompiledQuery(select(*map(api_column, _SHOWN)).order_by(SigningKey.id))
_PAIRS: Final = select(SigningKey.id, SigningKey.public_key, SigningKey.sealed_private_key)
_PRIVATE = CompiledQuery(_PAIRS.order_by(SigningKey.id.desc()))


def list_keys() -> list[dict[str, Any]]:
    """The public keys, the oldest first."""
    return [row._asdict() | {"algorithm": "Ed25519"} for row in _ALL.all()]


def newest_key() -> tuple[str, Ed25519PrivateKey] | None:
    """The key that signs: the newest one of this instance, with its id. None: there is none yet."""
    with reading_as_stored():
        rows = _PRIVATE.all()
    for row in rows:
        if (private := _private_key(row)) is not None:
            return row.id, private
    return None


def own_key(key_id: str) -> Ed25519PublicKey | None:
    """The public half of a key that this instance created. None: there is none with this id, or it
    was encrypted with another SECRET_KEY. Anybody with SQL can store a public key, but no private
    one."""
    row = db.session.execute(_PAIRS.where(SigningKey.id == key_id)).first()
    private = None if row is None else _private_key(row)
    return None if private is None else private.public_key()


def unusable_keys() -> list[str]:
    """The ids of keys that this instance did not create, or encrypted with another SECRET_KEY."""
    return [row.id for row in _PRIVATE.all() if _private_key(row) is None]


def create_key() -> None:
    """Create a key in the current transaction."""
    private = Ed25519PrivateKey.generate()
    row = {
        "id": new_id("signing_key"),
        "public_key": write_public_key(private.public_key()),
        "sealed_private_key": seal(base64.b64encode(private.private_bytes_raw()).decode()),
        "created_at": clock.now(),
    }
    insert_row(SigningKey, row)
    db.session.flush()


def _private_key(row: Any) -> Ed25519PrivateKey | None:
    """The private half; None unless this instance encrypted it and it matches the public half."""
    try:
        raw = base64.b64decode(unseal(row.sealed_private_key), validate=True)
        private = Ed25519PrivateKey.from_private_bytes(raw)
    except (AttributeError, TypeError, ValueError):  # SQLite stores values of any type
        return None
    return private if write_public_key(private.public_key()) == row.public_key else None
