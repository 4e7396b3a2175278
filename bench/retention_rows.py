"""Events, deliveries and log entries of a busy instance: most expired, and some that must stay."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice
from typing import Any, Final, cast

from sqlalchemy import ColumnElement, Table, exists, func, select
from ulid import ULID

from app.db.column_types import Base
from app.db.extensions import db
from app.models import Delivery, DeliveryLog, Event
from app.policy.bounds import EVENT_DAYS
from app.policy.deliveries import LOG_DAYS
from app.values import clock
from app.values.ids import PREFIXES, first_id, new_id
from bench.delivering import EVENT, Target, make_webhooks

WEBHOOKS: Final = 50  # each in an account of its own
SUBJECTS: Final = 5_000  # projects that the events are about
FRESH: Final = 0.05  # of the events: not expired
PENDING: Final = 0.01  # of the expired ones: still to be delivered
_CHUNK: Final = 5_000  # events in a transaction
_DAY: Final = timedelta(days=1)

Row = dict[str, Any]


@dataclass(frozen=True)
class Stored:
    """How many rows there are, and the ids of those that must stay."""

    rows: int
    kept: dict[type[Base], set[str]]

    @property
    def expired(self) -> int:
        """How many rows must go."""
        return self.rows - sum(map(len, self.kept.values()))


def store(events: int) -> Stored:
    """So many events, each with a delivery and an entry of the log. The expired ones are of one
    day, and come in the order of time."""
    targets = make_webhooks(["https://receiver.example/hook"] * WEBHOOKS)
    rng = random.Random(events)
    subjects = [new_id("project") for _ in range(SUBJECTS)]
    kept: dict[type[Base], set[str]] = {Event: set(), Delivery: set(), DeliveryLog: set()}
    moments = _moments(rng, events)
    while chunk := list(islice(moments, _CHUNK)):
        made = [_rows(rng, moment, targets, rng.choice(subjects), kept) for moment in chunk]
        for place, model in enumerate((Event, Delivery, DeliveryLog)):
            insert = cast("Table", model.__table__).insert()
            db.session.execute(insert, [rows[place] for rows in made])
        db.session.commit()
    return Stored(3 * events, kept)


def _moments(rng: random.Random, events: int) -> Iterator[tuple[datetime, bool]]:
    """When each event came, and whether it is still to be delivered."""
    now, fresh = clock.now(), round(events * FRESH)
    oldest = now - timedelta(days=max(EVENT_DAYS, LOG_DAYS)) - _DAY * 1.01
    expired = sorted(oldest + _DAY * rng.random() for _ in range(events - fresh))
    yield from ((moment, rng.random() < PENDING) for moment in expired)
    days = min(EVENT_DAYS, LOG_DAYS) - 1
    recent = sorted(now - _DAY * days * rng.random() for _ in range(fresh))
    yield from ((moment, False) for moment in recent)


def _rows(
    rng: random.Random,
    when: tuple[datetime, bool],
    targets: list[Target],
    subject: str,
    kept: dict[type[Base], set[str]],
) -> tuple[Row, Row, Row]:
    """An event, its delivery and the entry of its first attempt."""
    moment, is_pending = when
    account_id, webhook_id = rng.choice(targets)
    ids = {kind: _id(rng, kind, moment) for kind in ("event", "delivery", "log")}
    common = {"account_id": account_id, "created_at": moment}
    outcome = {"webhook_id": webhook_id, "event_id": ids["event"], "cause": "event"}
    is_fresh = clock.now() - moment < timedelta(days=min(EVENT_DAYS, LOG_DAYS))
    if is_fresh or is_pending:
        kept[Event].add(ids["event"])
        kept[Delivery].add(ids["delivery"])
    if is_fresh:
        kept[DeliveryLog].add(ids["log"])
    body = EVENT | {"id": ids["event"], "created_at": clock.format_time(moment)}
    event = common | {
        "id": ids["event"], "type": EVENT["type"], "subject_id": subject, "body": json.dumps(body),
    }  # fmt: skip
    delivery = common | outcome | {
        "id": ids["delivery"], "state": "pending" if is_pending else "succeeded", "attempts": 1,
        "due_at": clock.now() + _DAY if is_pending else None,
    }  # fmt: skip
    entry = outcome | {
        "id": ids["log"], "account_id": account_id, "delivery_id": ids["delivery"],
        "event_type": EVENT["type"], "attempt": 1, "sent_at": moment, "delivered_at": moment,
        "status": "failed" if is_pending else "success",
        "response_code": 500 if is_pending else 200,
        "response_time_ms": 40, "resolve_ms": 1, "connect_ms": 9, "tls_ms": 10, "wait_ms": 20,
    }  # fmt: skip
    return event, delivery, entry


def _id(rng: random.Random, kind: str, moment: datetime) -> str:
    """An identifier as it was made at a moment."""
    number = int(moment.timestamp() * 1000) << 80 | rng.getrandbits(80)
    return PREFIXES[kind] + str(ULID.from_int(number)).lower()


def expired_left() -> int:
    """How many rows are expired and still there."""
    left = sum(
        db.session.scalar(select(func.count()).select_from(model).where(condition)) or 0
        for model, condition in _expired()
    )
    db.session.rollback()
    return left


def is_done() -> bool:
    """Whether nothing expired is left. It reads few rows, as it is asked while others measure."""
    left = [
        db.session.scalar(select(model.__table__.c.id).where(condition).limit(1))
        for model, condition in _expired()
    ]
    db.session.rollback()
    return not any(left)


def _expired() -> list[tuple[type[Base], ColumnElement[bool]]]:
    now = clock.now()
    is_pending = exists().where(Delivery.event_id == Event.id, Delivery.due_at.is_not(None))
    is_old = Delivery.event_id <= first_id("event", now - timedelta(days=EVENT_DAYS))
    return [
        (Delivery, is_old & Delivery.due_at.is_(None)),
        (Event, (Event.created_at <= now - timedelta(days=EVENT_DAYS)) & ~is_pending),
        (DeliveryLog, DeliveryLog.id <= first_id("log", now - timedelta(days=LOG_DAYS))),
    ]


def lost(stored: Stored) -> int:
    """How many rows that must stay are gone."""
    missing = 0
    for model, ids in stored.kept.items():
        missing += len(ids - set(db.session.scalars(select(model.__table__.c.id))))
    db.session.rollback()
    return missing
