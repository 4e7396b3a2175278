"""What is sent is signed in two forms, and for a while with two secrets."""

from __future__ import annotations

import hashlib
import hmac
from datetime import timedelta

import pytest
from standardwebhooks import Webhook as StandardWebhook
from standardwebhooks import WebhookVerificationError

from tests.make import Client, make_project
from tests.make.webhooks import make_webhook
from tests.outbound.receivers import Receiver
from tests.webhooks.conftest import Deliver, Later


def test_both_signatures_are_valid(customer: Client, receiver: Receiver, deliver: Deliver) -> None:
    webhook = make_webhook(customer, url=receiver.url())
    make_project(customer)
    deliver()
    (request,) = receiver.requests
    digest = hmac.new(webhook["secret"].encode(), request.body, hashlib.sha256).hexdigest()
    assert request.headers["x-service-signature"] == f"sha256={digest}"
    StandardWebhook(webhook["secret"]).verify(request.body, request.headers)


def test_after_a_rotation_both_secrets_verify_for_a_while(
    customer: Client, receiver: Receiver, deliver: Deliver, later: Later
) -> None:
    webhook = make_webhook(customer, url=receiver.url())
    answer = customer.post(f"/v1/webhooks/{webhook['id']}/rotate-secret", {"overlap_hours": 24})
    secret = answer.json["data"]["secret"]
    make_project(customer)
    deliver()
    later(timedelta(hours=25))
    make_project(customer)
    deliver()
    during, after = receiver.requests
    assert len(during.headers["webhook-signature"].split()) == 2
    assert len(after.headers["webhook-signature"].split()) == 1
    StandardWebhook(secret).verify(during.body, during.headers)
    StandardWebhook(webhook["secret"]).verify(during.body, during.headers)
    for request in receiver.requests:
        digest = hmac.new(secret.encode(), request.body, hashlib.sha256).hexdigest()
        assert request.headers["x-service-signature"] == f"sha256={digest}"


def test_a_second_rotation_ends_the_first_secret_at_once(
    customer: Client, receiver: Receiver, deliver: Deliver
) -> None:
    webhook = make_webhook(customer, url=receiver.url())
    path = f"/v1/webhooks/{webhook['id']}/rotate-secret"
    second, third = (
        customer.post(path, {"overlap_hours": 24}).json["data"]["secret"] for _ in range(2)
    )
    make_project(customer)
    deliver()
    (request,) = receiver.requests
    for secret in (second, third):
        StandardWebhook(secret).verify(request.body, request.headers)
    with pytest.raises(WebhookVerificationError, match="No matching signature"):
        StandardWebhook(webhook["secret"]).verify(request.body, request.headers)
