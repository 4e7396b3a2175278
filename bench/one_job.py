"""A job for each delivery, as one would write it first: what the drain is compared with."""

from __future__ import annotations

from functools import cache

from flask import current_app

from app.core import clock
from app.core.egress import Egress
from app.core.sealing import unseal
from app.extensions import db
from app.models import Webhook
from app.webhooks.delivery import claims
from app.webhooks.delivery.parcel import Destination
from app.webhooks.delivery.senders import attempt
from app.webhooks.delivery.settling import settle
from app.webhooks.jobs import open_egress


def deliver_one() -> None:
    """Send the delivery that is due first, and write down how it went."""
    waiting = claims.find_waiting()[0][0]
    (parcel,) = claims.claim("job", {waiting.webhook_id: 1}, clock.now())
    db.session.commit()
    webhook = db.session.get_one(Webhook, parcel.webhook_id)
    destination = Destination(webhook.url, (unseal(webhook.sealed_secret),))
    db.session.rollback()
    settle("job", [attempt(_egress(), parcel, destination)])
    db.session.commit()


@cache
def _egress() -> Egress:
    return open_egress(current_app.config["SETTINGS"])
