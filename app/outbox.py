"""Events, written where the change is: in the caller's transaction.

Nothing is sent from here. A change and its event land together or not at all, so whoever delivers
events later needs the database and nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.core import clock
from app.core.ids import new_id
from app.core.strict_json import dumps
from app.extensions import db
from app.models import Account, Event, User
from app.policy.events import EVENTS


def emit(
    event_type: str,
    subject: Mapping[str, Any],
    *,
    account_id: str,
    actor_id: str | None = None,
    **extra: Any,
) -> Event:
    """Write an event.

    Args:
        event_type: one of ``app.policy.events.EVENTS``.
        subject: the record of what it happened to, as it is now; the catalogue picks its fields.
        account_id: the account that it happened in.
        actor_id: the person who did it; for a key or a token, the member who made it.
        extra: what the catalogue asks for besides, such as ``changes``.

    Raises:
        KeyError: the type is unknown, or the subject lacks a field of the catalogue.
        ValueError: ``extra`` or the actor is not what the catalogue asks for.
    """
    kind = EVENTS[event_type]
    if set(extra) != set(kind.extra) or (actor_id is None) != (kind.actor is None):
        raise ValueError(f"{event_type} needs {kind.extra} and actor {kind.actor}")
    data = {name: subject[name] for name in kind.fields} | extra
    if kind.actor is not None:
        person = db.session.get_one(User, actor_id)
        data[kind.actor] = {"id": person.id, "email": person.email}
    account = db.session.get_one(Account, account_id)
    event_id, moment = new_id("event"), clock.now()
    body = {
        "id": event_id,
        "type": event_type,
        "created_at": clock.format_time(moment),
        "data": data,
        "account": {"id": account.id, "name": account.name},
    }
    event = Event(
        id=event_id,
        account_id=account_id,
        type=event_type,
        subject_id=subject["id"],
        body=dumps(body).decode(),
        created_at=moment,
    )
    db.session.add(event)
    return event
