"""Events, written where the change is: in the caller's transaction.

Nothing is sent from here. A change and its event land together or not at all, so whoever delivers
events later needs the database and nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, cast

from sqlalchemy import Table

from app.auth.principal import Principal
from app.core import clock
from app.core.ids import new_id
from app.core.strict_json import dumps
from app.extensions import db
from app.models import Event
from app.policy.events import EVENTS

_EVENTS = cast("Table", Event.__table__)


class Origin(NamedTuple):
    """In which account something happens, and who does it: for a key, the member who made it."""

    account_id: str
    account_name: str
    actor_id: str | None = None
    actor_email: str | None = None

    @classmethod
    def of(cls, principal: Principal) -> Origin:
        return cls(
            principal.account_id,
            principal.account_name,
            principal.user_id,
            principal.user_email,
        )


def emit(
    event_type: str,
    subject: Mapping[str, Any],
    origin: Origin,
    *,
    subject_id: str | None = None,
    **extra: Any,
) -> str:
    """Write an event. Returns its id.

    Args:
        event_type: one of ``app.policy.events.EVENTS``.
        subject: the record of what it happened to, as it is now, with its ``id``; the catalogue
            picks the fields of the event from it.
        subject_id: an id of ours, where the subject's own is somebody else's, or there is none.
        extra: what the catalogue asks for besides, such as ``changes``.

    Raises:
        KeyError: the type is unknown, or the subject lacks a field of the catalogue.
        ValueError: ``extra`` or the actor is not what the catalogue asks for.
    """
    kind = EVENTS[event_type]
    if set(extra) != set(kind.extra) or (kind.actor is not None and origin.actor_id is None):
        raise ValueError(f"{event_type} needs {kind.extra} and actor {kind.actor}")
    data = {name: subject[name] for name in kind.fields} | extra
    if kind.actor is not None:
        data[kind.actor] = {"id": origin.actor_id, "email": origin.actor_email}
    event_id, moment = new_id("event"), clock.now()
    body = {
        "id": event_id,
        "type": event_type,
        "created_at": clock.format_time(moment),
        "data": data,
        "account": {"id": origin.account_id, "name": origin.account_name},
    }
    row = {
        "id": event_id,
        "account_id": origin.account_id,
        "type": event_type,
        "subject_id": subject["id"] if subject_id is None else subject_id,
        "body": dumps(body).decode(),
        "created_at": moment,
    }
    db.session.connection().execute(_EVENTS.insert(), row)
    return event_id
