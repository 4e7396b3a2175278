"""Saving the last use of credentials, applications and browsers, and the last activity of people.

It is a hint for people, and delays no request: it is written at most once a minute, a row that
another request is writing is skipped, and while the database is locked nothing is written.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple

from sqlalchemy import bindparam, select, update
from sqlalchemy.exc import DBAPIError, OperationalError
from sqlalchemy.orm import InstrumentedAttribute

from app.db.engines import is_storage_fault, without_waiting
from app.models import Credential, Membership, OAuthAuthorization, OAuthToken, Session
from app.policy.request_limits import LAST_USED_SECONDS
from app.values import clock


class LastUseTarget(NamedTuple):
    """A statement that writes the time of a use, and the columns that find the row."""

    statement: Any
    keys: tuple[str, ...]


def _last_use_target(
    moment: InstrumentedAttribute[Any],
    *keys: InstrumentedAttribute[Any],
    **others: InstrumentedAttribute[Any],
) -> LastUseTarget:
    """Make the target. ``others`` are further columns by parameter, whose names must not be names
    of columns, as SQLAlchemy would write those, too."""
    own = [key == bindparam(f"own_{key.key}") for key in keys]
    free = select(keys[-1]).where(*own).with_for_update(skip_locked=True).scalar_subquery()
    statement = update(moment.class_).where(*own[:-1], keys[-1] == free)
    values: dict[Any, Any] = {moment: bindparam("moment")}
    values |= {column: bindparam(name) for name, column in others.items()}
    return LastUseTarget(statement.values(values), tuple(key.key for key in keys))


CREDENTIAL: Final = _last_use_target(
    Credential.last_used_at, Credential.id, used_from=Credential.last_used_address
)
APPLICATION: Final = _last_use_target(
    OAuthAuthorization.last_used_at, OAuthAuthorization.account_id, OAuthAuthorization.id
)
ACCESS_TOKEN: Final = _last_use_target(OAuthToken.used_at, OAuthToken.token_hash)
SESSION: Final = _last_use_target(Session.last_used_at, Session.id)
MEMBER: Final = _last_use_target(
    Membership.last_active_at, Membership.account_id, Membership.user_id
)


def save_last_use(
    noted_at: datetime | None, ids: Mapping[str, str], *touches: LastUseTarget
) -> None:
    """Write the time of a use.

    Args:
        noted_at: the last time that was written.
        ids: the keys of all ``touches`` by column, and the client's ``address``.
    """
    now, address = clock.now(), ids.get("address", "")[:45]
    if noted_at is not None and now - noted_at < timedelta(seconds=LAST_USED_SECONDS):
        return
    try:
        with without_waiting() as connection:
            for touch in touches:
                own = {f"own_{key}": ids[key] for key in touch.keys}
                connection.execute(touch.statement, own | {"moment": now, "used_from": address})
    except DBAPIError as error:
        may_be_lost = isinstance(error, OperationalError) and not error.connection_invalidated
        if not may_be_lost and not is_storage_fault(error):
            raise
