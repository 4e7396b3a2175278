"""A job for each delivery, the obvious design: the dispatcher is compared with it."""

from __future__ import annotations

from typing import Final

from flask import current_app

from app.db.extensions import db
from app.models import Webhook
from app.outbound import Egress
from app.security.sealing import unseal
from app.values import clock
from app.webhooks.deliveries import leases
from app.webhooks.deliveries.jobs import open_egress
from app.webhooks.deliveries.outcomes import record_outcomes
from app.webhooks.deliveries.sender_pool import attempt
from app.webhooks.deliveries.types import Destination

_EGRESS: Final = "bench_egress"


def deliver_one() -> None:
    """Send the delivery that is due first, and record the outcome."""
    pending = leases.find_pending_webhooks()[0][0]
    (delivery,) = leases.claim("job", {pending.webhook_id: 1}, clock.now())
    db.session.commit()
    webhook = db.session.get_one(Webhook, delivery.webhook_id)
    destination = Destination(webhook.url, (unseal(webhook.sealed_secret),))
    db.session.rollback()
    outcome = attempt(_egress(), delivery, destination)
    if outcome.error is not None:
        raise RuntimeError(outcome.error)
    record_outcomes("job", [outcome])
    db.session.commit()


def _egress() -> Egress:
    """The application's, as its settings say which certificates it trusts."""
    extensions = current_app.extensions
    if _EGRESS not in extensions:
        extensions[_EGRESS] = open_egress(current_app.config["SETTINGS"])
    egress: Egress = extensions[_EGRESS]
    return egress
