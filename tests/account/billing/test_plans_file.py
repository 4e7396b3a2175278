"""Plans from the operator's plan file."""

from __future__ import annotations

from pathlib import Path

from flask import Flask

from tests.account.billing.sending import (
    SECRET,
    STRIPE_SECRET,
    event,
    invalid_fields,
    plan,
    send,
    send_stripe,
    stripe_event,
    subscription,
)
from tests.make import make_account, second_app
from tests.make.signed import result


def test_a_plan_from_the_plan_file_can_be_bought(app: Flask, tmp_path: Path) -> None:
    file = tmp_path / "plans.toml"
    file.write_text("[gold]\nmembers = 7\n")
    secrets = {"billing_webhook_secret": SECRET, "payment_provider_webhook_secret": STRIPE_SECRET}
    with second_app(app, plans_file=file, **secrets) as made:
        for way in ("billing", "stripe"):
            client = make_account(made, plan="free")
            for named in ("silver", "gold"):
                body = event(client, plan=named)
                about = subscription(client.account_id, named)
                of_stripe = stripe_event("customer.subscription.created", about)
                sent = way == "billing"
                response = send(client, body) if sent else send_stripe(client, of_stripe)
                if named == "silver":
                    assert invalid_fields(response) == ["plan"]
            assert result(response) == "applied"
            assert plan(client) == "gold"


def test_a_canceled_subscription_sets_free_whatever_the_default_plan_is(app: Flask) -> None:
    with second_app(app, billing_webhook_secret=SECRET, default_plan="pro") as made:
        client = make_account(made, plan="enterprise")
        response = send(client, event(client, type="subscription.canceled"))
        assert result(response) == "applied"
        assert plan(client) == "free"
