"""Verifying that an instance with this ``SECRET_KEY`` wrote a backup, and that it is unchanged.

The manifest has the checksum of each table, so its signature covers the whole backup. The key is
derived from ``SECRET_KEY``: without it, nobody can sign a changed file.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Sequence

from app.maintenance import MaintenanceError
from app.maintenance.backup_file import BackupReader
from app.security.sealing import key_check
from app.security.signatures import is_same, sign_body


def signature_of(manifest: bytes, secret_key: str) -> str:
    """The HMAC-SHA256 of the bytes of a manifest, in lower-case hexadecimal."""
    derived = hmac.new(secret_key.encode(), b"canopy backup signature", hashlib.sha256)
    return sign_body(derived.hexdigest(), manifest)


def is_authentic(backup: BackupReader, secret_keys: Sequence[str]) -> bool:
    """True if a backup is signed with one of these keys, and unchanged."""
    signatures = [signature_of(backup.manifest_bytes, key) for key in secret_keys]
    return any(is_same(backup.signature or "", signature) for signature in signatures)


def require_authentic(backup: BackupReader, secret_keys: Sequence[str]) -> None:
    """Raise MaintenanceError unless the backup is authentic."""
    if is_authentic(backup, secret_keys):
        return
    if backup.signature is None:
        raise MaintenanceError(
            "The backup has no signature: somebody changed it. If you trust where it comes from, "
            "restore it with --unverified."
        )
    if backup.manifest.secret_key_check not in map(key_check, secret_keys):
        raise MaintenanceError(
            "The backup was made with another SECRET_KEY, so it cannot be verified. Set "
            "SECRET_KEY_FORMER to that key or, if you trust where the backup comes from, restore "
            "it with --unverified."
        )
    raise MaintenanceError(
        "The backup was changed after it was made: its signature does not match. Use another one."
    )
