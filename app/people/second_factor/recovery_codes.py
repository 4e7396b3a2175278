"""Recovery codes for people who have lost their second factor. Each works once."""

from __future__ import annotations

import secrets
from typing import Any, Final

from sqlalchemy import bindparam, delete, func, select, update

from app.db.extensions import db
from app.db.queries import CompiledQuery
from app.models import RecoveryCode
from app.policy.second_factor import RECOVERY_CODE_LENGTH, RECOVERY_CODES
from app.security.tokens import hash_token
from app.values import clock

# Base 32 without letters that look like digits or like each other (Crockford's).
_ALPHABET: Final = "0123456789abcdefghjkmnpqrstvwxyz"
_MISREAD: Final = str.maketrans({"o": "0", "i": "1", "l": "1"})
_GROUP: Final = 4
_COUNT: Final = select(func.count()).where(
    RecoveryCode.user_id == bindparam("user_id"), RecoveryCode.used_at.is_(None)
)
_LEFT = CompiledQuery(_COUNT)


def make_recovery_codes(user_id: str) -> list[str]:
    """Give a person new codes in place of the old ones. Only hashes are stored."""
    delete_recovery_codes(user_id)
    now, codes = clock.now(), [_new_code() for _ in range(RECOVERY_CODES)]
    db.session.add_all(
        RecoveryCode(code_hash=_code_hash(user_id, code), user_id=user_id, created_at=now)
        for code in codes
    )
    return codes


def use_recovery_code(user_id: str, code: str) -> bool:
    """Use a code of a person in the open transaction. Returns False if it is wrong or was used
    before."""
    own = update(RecoveryCode).where(
        RecoveryCode.code_hash == _code_hash(user_id, code),
        RecoveryCode.user_id == user_id,
        RecoveryCode.used_at.is_(None),
    )
    result: Any = db.session.execute(own.values(used_at=clock.now()))
    return bool(result.rowcount)


def recovery_codes_left(user_id: str) -> int:
    """Count a person's unused codes."""
    return int(_LEFT.scalar(user_id=user_id))


def codes_left_now(user_id: str) -> int:
    """Count a person's unused codes in the open transaction."""
    return int(db.session.scalars(_COUNT, {"user_id": user_id}).one())


def delete_recovery_codes(user_id: str) -> None:
    """Delete all codes of a person."""
    db.session.execute(delete(RecoveryCode).where(RecoveryCode.user_id == user_id))


def _new_code() -> str:
    text = "".join(secrets.choice(_ALPHABET) for _ in range(RECOVERY_CODE_LENGTH))
    return "-".join(text[start : start + _GROUP] for start in range(0, len(text), _GROUP))


def _code_hash(user_id: str, code: str) -> str:
    """The hash of a code, however it is typed: in capitals, with spaces, with o for 0."""
    plain = "".join(filter(str.isalnum, code.lower())).translate(_MISREAD)
    return hash_token(f"{user_id}\0{plain}")
