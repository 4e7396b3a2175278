"""Attempts are counted by hour, outcome and rounded duration."""

from __future__ import annotations

from datetime import timedelta

import pytest

from app.auth.tenant import rows_of
from app.db.extensions import db
from app.models import AttemptCount
from app.policy.deliveries import LATENCY_STEPS
from app.webhooks.deliveries.attempt_counts import add_attempt_counts, round_up
from app.webhooks.deliveries.types import ClaimedDelivery
from tests.make import Client, make_project, make_webhook
from tests.outbound.receivers import Receiver, answering
from tests.webhooks.conftest import Deliver
from tests.webhooks.deliveries.makers import MOMENT, claimed, outcome

HOUR = MOMENT.replace(minute=0, second=0)


def counts(client: Client) -> list[tuple[object, ...]]:
    with client.app.app_context():
        rows = db.session.scalars(rows_of(client.account_id, AttemptCount))
        found = [(row.hour, row.status, row.took_ms, row.number) for row in rows]
        return sorted(found, key=str)


@pytest.mark.both
def test_attempts_are_added_up(client: Client) -> None:
    webhook_id = make_webhook(client)["id"]

    def one() -> ClaimedDelivery:
        return claimed(webhook_id, account_id=client.account_id)

    later = [outcome(one())._replace(ended_at=MOMENT + timedelta(hours=1))]
    with client.app.app_context():
        for outcomes in (
            [outcome(one(), seconds=0.012), outcome(one(), seconds=0.015)],
            [outcome(one(), seconds=0.014), outcome(one(), seconds=4.9, error="answered 500")],
            [*later, outcome(one(), error="connection refused"), outcome(one(), seconds=0.151)],
            [],
        ):
            add_attempt_counts(outcomes)
            db.session.commit()
    assert counts(client) == [
        (HOUR, "failed", 0, 2),
        (HOUR, "success", 15, 3),
        (HOUR, "success", 200, 1),
        (HOUR + timedelta(hours=1), "success", 10, 1),
    ]


def test_deliveries_are_counted_with_their_entries_of_the_log(
    customer: Client, receiver: Receiver, deliver: Deliver
) -> None:
    receiver.answer = answering(500)
    make_webhook(customer, url=receiver.url())
    make_project(customer)
    deliver()
    ((_, status, _, number),) = counts(customer)
    assert (status, number) == ("failed", 1)


def test_durations_are_rounded_up_to_steps() -> None:
    assert [round_up(each) for each in (0, 5, 6, 1_000, 1_001)] == [5, 5, 10, 1_000, 1_500]
    assert round_up(99_999) == LATENCY_STEPS[-1]
