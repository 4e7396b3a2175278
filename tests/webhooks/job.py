"""The delivery job, run here and now."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing

from flask import Flask
from sqlalchemy import delete

from app.db.extensions import db
from app.db.transactions import transaction
from app.models import Delivery, Replay
from app.webhooks.deliveries.dispatcher import Dispatcher
from app.webhooks.deliveries.jobs import open_egress


def forget_deliveries(app: Flask) -> None:
    """Have nothing to deliver, of any account."""
    with app.app_context(), transaction():
        db.session.execute(delete(Delivery))
        db.session.execute(delete(Replay))


def deliver_due(
    app: Flask, *, is_stopping: Callable[[], bool] = lambda: False, linger: float = 0
) -> int:
    """Run the delivery job until nothing is due. Returns how many deliveries succeeded."""
    with app.app_context(), closing(open_egress(app.config["SETTINGS"])) as egress:
        return Dispatcher(egress, transaction, is_stopping).run(linger=linger)
