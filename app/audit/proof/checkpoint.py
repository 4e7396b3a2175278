"""Checkpoints: the texts that are hashed and signed.

``docs/audit-log.md`` describes them for other verifiers.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

FORMAT: Final = "canopy-audit-1"  # the first word of each text
NO_HASH: Final = "0" * 64  # ``previous_hash`` of the first checkpoint
_HASH_LENGTH: Final = 64
_LARGEST: Final = 2**63 - 1  # the largest number in a database
_WORD: Final = re.compile(r"[!-~]+")  # without spaces, which separate words


class Checkpoint(NamedTuple):
    """A sealed batch of an account's entries, ``first`` to ``last`` by number.

    ``entry_hashes`` is the concatenated SHA-256 of each entry, in hexadecimal; None once the
    entries are deleted.
    """

    account_id: str
    number: int
    first: int
    last: int
    sealed_at: str
    previous_hash: str
    hash: str
    key_id: str
    signature: str  # base64
    entry_hashes: str | None = None

    @classmethod
    def of(cls, record: Any) -> Checkpoint:
        """Read an exported or listed checkpoint. Raises ValueError if it is not one."""
        if not isinstance(record, Mapping):
            raise ValueError("not an object")
        checkpoint = cls(*(record.get(name) for name in cls._fields))  # type: ignore[arg-type]
        for name, value in checkpoint._asdict().items():
            if not _is_valid(name, value):
                raise ValueError(f"{name} is missing or wrong")
        return checkpoint

    def is_valid(self) -> bool:
        """True if each field has its type: SQLite stores values of any type."""
        return all(_is_valid(name, value) for name, value in self._asdict().items())

    def hashes(self) -> list[str]:
        """The hashes of the entries."""
        text = self.entry_hashes or ""
        return [text[at : at + _HASH_LENGTH] for at in range(0, len(text), _HASH_LENGTH)]

    def without_hashes(self) -> Checkpoint:
        """The public part of it."""
        return self._replace(entry_hashes=None)


def entry_hash(body: bytes) -> str:
    """The hash of an exported entry, without its line end."""
    return hashlib.sha256(body).hexdigest()


def checkpoint_hash(checkpoint: Checkpoint) -> str:
    """The correct ``hash``, which covers the entries and all earlier checkpoints."""
    identity = (checkpoint.account_id, checkpoint.number, checkpoint.first, checkpoint.last)
    text = _signed_text(*identity, checkpoint.previous_hash, checkpoint.entry_hashes)
    return hashlib.sha256(text).hexdigest()


def signed_text(checkpoint: Checkpoint) -> bytes:
    """The text to sign: all other fields. ``hash`` covers the entries."""
    return _signed_text(*checkpoint[: Checkpoint._fields.index("signature")])


def sign_checkpoint(key: Ed25519PrivateKey, checkpoint: Checkpoint) -> Checkpoint:
    """The checkpoint with its hash and its signature."""
    hashed = checkpoint._replace(hash=checkpoint_hash(checkpoint))
    signature = key.sign(signed_text(hashed))
    return hashed._replace(signature=base64.b64encode(signature).decode())


def is_signed(key: Ed25519PublicKey, checkpoint: Checkpoint) -> bool:
    """True if the signature is by this key."""
    try:
        key.verify(base64.b64decode(checkpoint.signature, validate=True), signed_text(checkpoint))
    except (InvalidSignature, ValueError):
        return False
    return True


def read_public_key(text: str) -> Ed25519PublicKey:
    """Read a public key, 32 bytes in base64. Raises ValueError if it is not one."""
    return Ed25519PublicKey.from_public_bytes(base64.b64decode(text, validate=True))


def write_public_key(key: Ed25519PublicKey) -> str:
    """The inverse of ``read_public_key``."""
    return base64.b64encode(key.public_bytes_raw()).decode()


def read_kept(text: bytes) -> list[Checkpoint]:
    """Read checkpoints that somebody saved: a response of the API, a list, or one on each line, as
    in exports and events.

    Raises:
        ValueError: there are none.
    """
    try:
        records = [json.loads(text)]
    except (ValueError, RecursionError):
        records = [json.loads(line) for line in text.splitlines() if line.strip()]
    checkpoints = [Checkpoint.of(item) for record in records for item in _checkpoints_in(record)]
    if not checkpoints:
        raise ValueError("there is no checkpoint in it")
    return checkpoints


def _checkpoints_in(record: Any) -> Iterator[Any]:
    if isinstance(record, list):
        for item in record:
            yield from _checkpoints_in(item)
    elif isinstance(record, Mapping):
        inner = record.get("data", record.get("checkpoint"))
        if isinstance(inner, list | Mapping):
            yield from _checkpoints_in(inner)
        elif "previous_hash" in record:
            yield record


def _is_valid(name: str, value: Any) -> bool:
    if name in ("number", "first", "last"):
        return type(value) is int and 0 < value <= _LARGEST
    if name == "entry_hashes" and value is None:
        return True
    return isinstance(value, str) and _WORD.fullmatch(value) is not None


def _signed_text(*words: object) -> bytes:
    return " ".join(map(str, (FORMAT, *words))).encode()
