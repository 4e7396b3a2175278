"""Reconciles deliveries: what was acknowledged, what arrived, and what the log says of it."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from statistics import quantiles
from typing import Any, NamedTuple, Protocol

from flask import Flask

from app.auth.tenant import rows_of
from app.db.connections import close_all
from app.db.extensions import db
from app.models import Delivery, DeliveryLog, Event
from app.security.webhook_signing import signatures
from tests.make import Client
from tests.outbound.receivers import Answering, Exchange, Received, Receiver, answering

_MODELS = (Event, Delivery, DeliveryLog)
SETTLED = 120  # seconds after the last write until all is delivered
SLACK = 0.1  # seconds; moments are cut to milliseconds, and the worker follows PostgreSQL's clock


class Arrival(NamedTuple):
    """A request that came to a receiver, and when it had come as a whole."""

    at: float  # since the epoch
    request: Received

    @property
    def delivery_id(self) -> str:
        return self.request.headers["x-service-delivery"]


class Inbox:
    """A receiver that notes when each request came."""

    def __init__(self, certificate: Path, *, address: str, port: int = 0) -> None:
        self.arrivals: list[Arrival] = []
        self.answer: Answering = answering()
        self.receiver = Receiver(certificate, address=address, port=port)
        self.receiver.answer = self._receive

    def _receive(self, exchange: Exchange) -> bool:
        self.arrivals.append(Arrival(time.time(), exchange.request))
        return self.answer(exchange)


@dataclass
class Customer:
    """An account, a webhook of it, and where that leads to."""

    client: Client
    webhook: dict[str, Any]
    inbox: Inbox


class Ledger(Protocol):
    """A client's: what it was told is done."""

    acknowledged: dict[str, float]  # id of the project, seconds since the epoch


@dataclass(frozen=True)
class Delays:
    """Seconds from events to their deliveries, or from something else that happened."""

    seconds: Sequence[float]
    of: str = "events"  # what they are

    @property
    def p50(self) -> float:
        return percentile(self.seconds, 50)

    @property
    def p99(self) -> float:
        return percentile(self.seconds, 99)

    @property
    def longest(self) -> float:
        return max(self.seconds, default=0.0)

    def __str__(self) -> str:
        return (
            f"p50 {self.p50 * 1000:5,.0f} ms, p99 {self.p99 * 1000:5,.0f} ms, "
            f"longest {self.longest:.2f} s, {len(self.seconds):,} {self.of}"
        )


@dataclass
class Reconciliation:
    """What the reconciliation found, over all customers."""

    acknowledged: int = 0
    events: int = 0
    requests: int = 0
    entries: int = 0  # of the logs
    failed: int = 0  # of these
    received: dict[str, float] = field(default_factory=dict)  # by event, since the epoch
    written: dict[str, float] = field(default_factory=dict)  # likewise
    wrong: list[str] = field(default_factory=list)

    @property
    def repeated(self) -> int:
        """Requests with what had come before."""
        return self.requests - len(self.received)

    @property
    def delays(self) -> Delays:
        return self.during(0, float("inf"))

    def during(self, since: float, until: float) -> Delays:
        """The delays of the events of a time, in seconds since the epoch."""
        return Delays(
            [
                max(0.0, at - self.written[event_id])
                for event_id, at in self.received.items()
                if since <= self.written[event_id] < until
            ]
        )

    def line(self) -> str:
        return (
            f"  {self.acknowledged:,} writes acknowledged, {self.events:,} events, "
            f"{self.requests:,} requests, {self.repeated:,} of them repeated; "
            f"{self.entries:,} log entries, {self.failed:,} failed"
        )


def percentile(values: Sequence[float], number: int) -> float:
    return quantiles(values, n=100)[number - 1] if len(values) > 1 else max(values, default=0.0)


def wait_until_settled(app: Flask, customers: Iterable[Customer], seconds: float = SETTLED) -> bool:
    """Wait until nothing of the customers is to be delivered anymore. Returns whether it is so."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if not any(_pending(app, customer) for customer in customers):
            return True
        time.sleep(0.25)
    return False


def _pending(app: Flask, customer: Customer) -> bool:
    found = rows_of(customer.client.account_id, Delivery).where(Delivery.due_at.is_not(None))
    with app.app_context():
        try:
            return db.session.scalars(found.limit(1)).first() is not None
        finally:
            db.session.rollback()


def reconcile(
    app: Flask, customers: Sequence[Customer], writers: Sequence[Ledger], *, is_timed: bool = True
) -> Reconciliation:
    """Compare what the customers got with what the writers know and the database says.

    Args:
        is_timed: whether the times in the log are those of the receivers' clock.
    """
    with app.app_context():
        close_all()  # the database may have been another process meanwhile
    found = Reconciliation()
    for customer, writer in zip(customers, writers, strict=True):
        events, deliveries, logs = (_rows(app, customer, model) for model in _MODELS)
        found.acknowledged += len(writer.acknowledged)
        lost = set(writer.acknowledged) - {row.subject_id for row in events.values()}
        _note(found, lost, "writes were acknowledged and have no event")
        _check_arrivals(found, customer, events)
        if is_timed:
            _check_log(found, customer, deliveries, logs.values())
    return found


def _rows(app: Flask, customer: Customer, model: Any) -> dict[str, Any]:
    """The rows of a customer's account by their ids; of events those that the webhook gets."""
    own = rows_of(customer.client.account_id, model)
    if model is Event:
        own = own.where(Event.type == "project.created")
    with app.app_context():
        found = {row.id: row for row in db.session.scalars(own)}
        db.session.expunge_all()  # before the end, with which they would expire
        db.session.rollback()
        return found


def _check_arrivals(found: Reconciliation, customer: Customer, events: dict[str, Any]) -> None:
    """All events came, each as it is in the database, and nothing else did."""
    arrivals = sorted(customer.inbox.arrivals, key=lambda arrival: arrival.at)
    first: dict[str, float] = {}
    strange, changed = [], []
    for at, request in arrivals:
        event_id = request.headers["webhook-id"]
        if (event := events.get(event_id)) is None:
            strange.append(event_id)
            continue
        first.setdefault(event_id, at)
        moment = datetime.fromtimestamp(int(request.headers["webhook-timestamp"])).astimezone()
        signed = signatures([customer.webhook["secret"]], event_id, moment, request.body)
        if request.body != event.body.encode() or any(
            request.headers[name.lower()] != value for name, value in signed.items()
        ):
            changed.append(event_id)
    found.events += len(events)
    found.requests += len(arrivals)
    found.received |= first
    found.written |= {row.id: row.created_at.timestamp() for row in events.values()}
    _note(found, set(events) - set(first), "events never came")
    _note(found, strange, "requests were about events that are not in the database")
    _note(found, changed, "requests had other bytes than the event, or a wrong signature")


def _check_log(
    found: Reconciliation, customer: Customer, deliveries: dict[str, Any], logs: Collection[Any]
) -> None:
    """Each entry tells of a request that came while the attempt lasted, and each delivery has as
    many entries as attempts."""
    came: defaultdict[str, list[float]] = defaultdict(list)
    for arrival in sorted(customer.inbox.arrivals, key=lambda arrival: arrival.at):
        came[arrival.delivery_id].append(arrival.at)
    entries: defaultdict[str, list[Any]] = defaultdict(list)
    for row in sorted(logs, key=lambda row: row.sent_at):
        entries[row.delivery_id].append(row)
    untrue, miscounted, unknown = [], [], []
    for delivery_id, rows in entries.items():
        left = came[delivery_id]
        for row in rows:
            if row.status == "success" and not _take(left, row):
                untrue.append(row.id)
        delivery = deliveries.get(delivery_id)
        if delivery is None:
            unknown.append(delivery_id)
        elif [row.attempt for row in rows] != list(range(1, delivery.attempts + 1)):
            miscounted.append(delivery_id)
    unsettled = [row.id for row in deliveries.values() if row.claim or row.due_at]
    without = [key for key, row in deliveries.items() if row.attempts and key not in entries]
    found.entries += len(logs)
    found.failed += sum(row.status == "failed" for row in logs)
    _note(found, untrue, "log entries tell of a request that did not come then")
    _note(found, miscounted, "deliveries have other entries than attempts")
    _note(found, unknown, "deliveries have entries and do not exist")
    _note(found, without, "deliveries with attempts have no entry")
    _note(found, unsettled, "deliveries are not settled")


def _take(left: list[float], row: Any) -> bool:
    """Take the request that an entry tells of."""
    begin, end = row.sent_at.timestamp() - SLACK, row.delivered_at.timestamp() + SLACK
    for at in left:
        if begin <= at <= end:
            left.remove(at)
            return True
    return False


def _note(found: Reconciliation, cases: Iterable[str], what: str) -> None:
    if cases := list(cases):
        found.wrong.append(f"{len(cases):,} {what}, such as {cases[0]}")
