"""Opaque, prefixed identifiers that sort by time of creation."""

from __future__ import annotations

import re
import secrets
import threading
from datetime import datetime
from typing import Final

from ulid import ULID

from app.values.clock import unix_milliseconds

PREFIXES: Final = {
    "account": "acct_",
    "user": "user_",
    "project": "proj_",
    "asset": "asset_",
    "boundary": "bnd_",
    "webhook": "wh_",
    "event": "evt_",
    "delivery": "dlv_",
    "log": "log_",
    "replay": "rpl_",
    "import": "imp_",
    "upload": "upl_",
    "selection": "sel_",
    "api_key": "key_",
    "service_token": "svc_",
    "application": "app_",
    "authorization": "grant_",
    "session": "sess_",
    "audit_entry": "aud_",
    "signing_key": "sk_",
    "passkey": "pk_",
    "sign_in_identity": "sid_",
    "mail": "mail_",
    "request": "req_",
}
_BODY = "[0-9a-hjkmnp-tv-z]{26}"
PATTERNS: Final = {kind: f"^{prefix}{_BODY}$" for kind, prefix in PREFIXES.items()}
_FORMS = {kind: re.compile(pattern) for kind, pattern in PATTERNS.items()}

_RANDOM_BITS: Final = 80  # the lowest bits of a ULID, below the milliseconds

_lock = threading.Lock()
_last = 0
_last_at = 0


def new_id(kind: str) -> str:
    """A new identifier: the kind's prefix and a lower-case ULID (https://github.com/ulid/spec).

    In one process each is greater than the one before, so that the events of a change sort in their
    order.
    """
    global _last
    with _lock:
        _last = max(int(ULID()), _last + 1)
        return PREFIXES[kind] + str(ULID.from_int(_last)).lower()


def new_id_at(kind: str, moment: datetime) -> str:
    """A new identifier with the time ``moment``.

    Those of one process and millisecond sort in the order in which they are made.
    """
    global _last_at
    with _lock:
        milliseconds = unix_milliseconds(moment)
        is_same = _last_at >> _RANDOM_BITS == milliseconds
        random_part = secrets.randbits(_RANDOM_BITS - 1)
        _last_at = _last_at + 1 if is_same else milliseconds << _RANDOM_BITS | random_part
        return PREFIXES[kind] + str(ULID.from_int(_last_at)).lower()


def first_id(kind: str, time: datetime) -> str:
    """A lower bound of the identifiers that any process makes at ``time`` or later, by its
    clock."""
    number = max(unix_milliseconds(time), 0) << _RANDOM_BITS  # nothing was made before 1970
    return PREFIXES[kind] + str(ULID.from_int(number)).lower()


def last_id(kind: str, time: datetime) -> str:
    """An upper bound of the identifiers that any process makes before the end of the millisecond of
    ``time``, by its clock."""
    following = (unix_milliseconds(time) + 1) << _RANDOM_BITS
    return PREFIXES[kind] + str(ULID.from_int(max(following - 1, 0))).lower()


def time_of(identifier: str) -> datetime:
    """The time of an identifier, by the clock of the process that made it."""
    return ULID.from_str(identifier.rpartition("_")[2].upper()).datetime


def is_id(kind: str, text: str) -> bool:
    """True if ``text`` has the form of an identifier of this kind.

    Other text is not looked up: a path may contain characters that a database rejects.
    """
    return _FORMS[kind].fullmatch(text) is not None
