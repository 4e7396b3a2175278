"""Receivers that do harm: each attempt ends in time, nothing inside is reached, and others are
served meanwhile."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from app.auth.tenant import rows_of
from app.db.extensions import db
from app.models import DeliveryLog
from app.policy.deliveries import FailureReason
from tests.make import Client, make_account
from tests.make.webhooks import make_webhook, make_webhook_at
from tests.outbound.receivers import (
    Answering,
    Listener,
    answering,
    closing_at_once,
    dripping,
    head,
    repeating,
)
from tests.waiting import wait_for
from trials.faults.delivering import INSIDE, OUTSIDE, Service
from trials.faults.reconciliation import Reconciliation, reconcile, wait_until_settled
from trials.faults.trial_report import TrialReport
from trials.faults.writer import Writer

ATTEMPT = 5.5  # seconds
DELAY = 0.1  # seconds that others may wait longer at p99
HEALTHY_RATE, HOSTILE_RATE = 20, 2  # writes a second
OK = head(200, {"Content-Length": "2"})


class Hostile(NamedTuple):
    """A receiver: what it does, and the errors that the log may show; None is delivered."""

    answer: Answering | None = None  # None: a redirect inside
    expected: tuple[str | None, ...] = (None,)
    names: tuple[str, ...] = ()  # of its certificate; else its own
    options: Mapping[str, Any] = {}  # of its certificate
    addresses: tuple[tuple[str, ...], ...] = ((OUTSIDE,),)  # that its name has in turn
    leads_inside: bool = False  # to the port of the listener there


RECEIVERS = {
    "drips": Hostile(dripping(b"", OK, 1.0), (FailureReason.SLOW_RESPONSE,)),
    "drips-body": Hostile(dripping(head(200, {"Content-Length": "99"}), b"x" * 99), (None,)),
    "floods": Hostile(
        repeating(head(200, {"Content-Length": "10000000"}), b"x" * 100_000, 100), (None,)
    ),
    "floods-headers": Hostile(
        repeating(OK[:-2] + b"X-A: ", b"x" * 100_000, 100), (FailureReason.NOT_HTTP,)
    ),
    "closes": Hostile(closing_at_once(), (FailureReason.CLOSED,)),
    "hangs": Hostile(answering(delay=60), (FailureReason.SLOW_RESPONSE,)),
    "wrong-name": Hostile(expected=(FailureReason.WRONG_NAME,), names=("other.example",)),
    "expired": Hostile(expected=(FailureReason.EXPIRED,), options={"days": (-2, -1)}),
    "self-signed": Hostile(expected=(FailureReason.UNTRUSTED,), options={"self_signed": True}),
    "rebinds": Hostile(
        answering(headers={"Connection": "close"}),
        (None, FailureReason.NO_PUBLIC_ADDRESS),
        addresses=((OUTSIDE,), (INSIDE,)),
        leads_inside=True,
    ),
    "two-addresses": Hostile(
        answering(),
        addresses=((OUTSIDE, INSIDE), (INSIDE, OUTSIDE)),
    ),
    "redirects": Hostile(expected=("answered 307; redirects are not followed",)),
}
SLOW = {"drips", "hangs", "hangs-in-tls"}
NAMES = {f"{name}.example": each.addresses for name, each in RECEIVERS.items()}


def receivers(
    service: Service, seconds: float = 25, before: float = 15, *, are_slow: bool = True
) -> TrialReport:
    """Deliver to a healthy receiver alone, and then beside the hostile ones.

    Args:
        are_slow: whether those are among them at which an attempt lasts as long as it may.
    """
    healthy, hostile = service.customer(), make_account(service.app)
    inside = Listener(address=INSIDE)
    service.stack.callback(inside.close)
    webhooks = _make(service, hostile, inside)
    if not are_slow:
        for name in set(webhooks) & SLOW:
            webhook_id, _ = webhooks.pop(name)
            hostile.delete(f"/v1/webhooks/{webhook_id}")
    (writer,) = service.write([healthy], HEALTHY_RATE)
    others: list[Writer] = []
    try:
        wait_for(lambda: healthy.inbox.arrivals, 30)
        began_at = time.time()
        time.sleep(before)
        joined_at = time.time()
        others = [Writer(service.port, hostile, HOSTILE_RATE)]
        time.sleep(seconds)
    finally:
        for each in (writer, *others):
            each.end()
    wait_until_settled(service.app, [healthy], 60)
    found = reconcile(service.app, [healthy], [writer])
    report = TrialReport(wrong=found.wrong)
    for name, (webhook_id, expected) in webhooks.items():
        _check(report, name, _entries(hostile, webhook_id), expected)
    report.lines.append(f"  connections to addresses that are not allowed: {inside.connections}")
    report.check(inside.connections == 0, f"{inside.connections} connections reached the inside")
    check_healthy(report, found, (began_at, joined_at), joined_at)
    return report


def check_healthy(
    report: TrialReport, found: Reconciliation, before: tuple[float, float], joined_at: float
) -> None:
    """Compare the delays of a time with those since a moment."""
    alone, beside = found.during(*before), found.during(joined_at, float("inf"))
    report.lines += [f"  healthy alone  {alone}", f"  beside them    {beside}", found.line()]
    report.check(found.failed == 0, f"{found.failed} attempts at the healthy receiver failed")
    report.check_time("a healthy delivery (p99)", beside.p99, alone.p99 + DELAY)


def _make(
    service: Service, client: Client, inside: Listener
) -> dict[str, tuple[str, tuple[str | None, ...]]]:
    """The webhooks of hostile receivers, by name: the id, and what the log may say."""
    made = {}
    for name, hostile in RECEIVERS.items():
        host = f"{name}.example"
        names = hostile.names or (host,)
        certificate = service.authority.certificate_for(names, **hostile.options)
        port = _start(service, certificate, hostile, inside)
        made[name] = (_webhook(client, f"https://{host}:{port}/"), hostile.expected)
    refused = (FailureReason.NOT_ALLOWED,)
    for name, url in {
        "inside": inside.url(host=INSIDE),
        "metadata": "https://169.254.169.254/latest",
    }.items():
        webhook = make_webhook_at(client, url, events=["project.created"])
        made[name] = (webhook["id"], refused)
    tls = Listener(address=OUTSIDE)
    service.stack.callback(tls.close)
    made["hangs-in-tls"] = (_webhook(client, tls.url(host=OUTSIDE)), (FailureReason.SLOW_TLS,))
    return made


def _start(service: Service, certificate: Path, hostile: Hostile, inside: Listener) -> int:
    """Its port."""
    port = inside.port if hostile.leads_inside else 0
    inbox = service.inbox(certificate, port=port)
    redirecting = answering(307, headers={"Location": inside.url(host=INSIDE)})
    inbox.answer = hostile.answer or redirecting
    return inbox.receiver.port


def _webhook(client: Client, url: str) -> str:
    return str(make_webhook(client, url=url, events=["project.created"])["id"])


def _entries(client: Client, webhook_id: str) -> list[DeliveryLog]:
    own = rows_of(client.account_id, DeliveryLog).where(DeliveryLog.webhook_id == webhook_id)
    with client.app.app_context():
        found = list(db.session.scalars(own))
        db.session.expunge_all()  # before the end, with which they would expire
        db.session.rollback()
        return found


def _check(
    report: TrialReport, name: str, entries: Sequence[DeliveryLog], expected: tuple[str | None, ...]
) -> None:
    """Whether the log says what it should, and each attempt ended in time."""
    said = {entry.error for entry in entries}
    longest = max((entry.response_time_ms for entry in entries), default=0)
    shown = ", ".join(sorted(error or "delivered" for error in said))
    report.lines.append(f"  {name:15}{len(entries):3} entries, longest {longest:5,} ms: {shown}")
    report.check(said == set(expected), f"{name}: the log says {said}")
    report.check_time(f"an attempt at {name}", longest / 1000, ATTEMPT)
