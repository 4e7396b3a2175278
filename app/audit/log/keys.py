"""The keys that sign checkpoints. Their private halves are encrypted with ``SECRET_KEY``."""

from __future__ import annotations

import base64
from typing import Any, Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from sqlalchemy import select

from app.audit.proof.checkpoint import write_public_key
from app.db.column_types import api_column
from app.db.queries import CompiledQuery
from app.db.transactions import insert_row
from app.models import SigningKey
from app.security.sealing import seal, unseal
from app.values import clock
from app.values.ids import new_id

_PUBLIC: Final = (SigningKey.id, SigningKey.public_key, SigningKey.created_at)
_ALL = CompiledQuery(select(*map(api_column, _PUBLIC)).order_by(SigningKey.id))
_PRIVATE = CompiledQuery(
    select(SigningKey.id, SigningKey.sealed_private_key).order_by(SigningKey.id.desc())
)


def list_keys() -> list[dict[str, Any]]:
    """The public keys, oldest first."""
    return [row._asdict() | {"algorithm": "Ed25519"} for row in _ALL.all()]


def newest_key() -> tuple[str, Ed25519PrivateKey] | None:
    """Return the id and the private half of the newest key that can sign, or None.

    Keys from a backup that was made with another ``SECRET_KEY`` cannot sign.
    """
    for row in _PRIVATE.all():
        try:
            raw = base64.b64decode(unseal(row.sealed_private_key))
        except ValueError:  # encrypted with another SECRET_KEY
            continue
        return row.id, Ed25519PrivateKey.from_private_bytes(raw)
    return None


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
