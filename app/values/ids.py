"""Opaque, prefixed identifiers that sort by time of creation."""

from __future__ import annotations

import re
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

_lock = threading.Lock()
_last = 0


def new_id(kind: str) -> str:
    """A new identifier: the kind's prefix and a lower-case ULID (https://github.com/ulid/spec).

    Within one process each is greater than the one before, also in the same millisecond, so that
    two events of one change sort in their order.
    """
    global _last
    with _lock:
        _last = max(int(ULID()), _last + 1)
        return PREFIXES[kind] + str(ULID.from_int(_last)).lower()


def first_id(kind: str, time: datetime) -> str:
    """A lower bound of the identifiers of this kind that any process makes at ``time`` or later, by
    the clock of its own machine."""
    return PREFIXES[kind] + str(ULID.from_int(unix_milliseconds(time) << 80)).lower()


def is_id(kind: str, text: str) -> bool:
    """Whether ``text`` has the form of an identifier of this kind.

    Other text is not looked up: no row can have it, and a path may contain characters that a
    database rejects.
    """
    return _FORMS[kind].fullmatch(text) is not None
