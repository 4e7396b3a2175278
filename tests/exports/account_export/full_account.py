"""An account that has one of each thing, with the secrets that were made for it."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final

import pytest
from flask import Flask

from app.db.extensions import db
from app.db.transactions import transaction
from app.models import BillingCustomer, BillingEvent, CredentialRequest
from app.models import RequestCount as Requests
from app.values import clock
from tests.audit.log.logs import seal
from tests.make import (
    Client,
    events,
    grant_tokens,
    invitation_token,
    make_account,
    make_application,
    make_asset,
    make_former_boundary,
    make_import,
    make_invited,
    make_key,
    make_log,
    make_member,
    make_project,
    make_replay,
    make_service_token,
    make_webhook,
    new_email,
    point,
    sign_in,
)
from tests.people.second_factor.support import turn_on

NAME: Final = "Hazel Wood"
PASSWORD: Final = "correct horse battery"  # of make_account


@dataclass
class FullAccount:
    """The account, and what nobody may find in its archive."""

    client: Client
    project: dict[str, Any]
    asset: dict[str, Any]
    webhook: dict[str, Any]
    secrets: set[str] = field(default_factory=set)


def make_full_account(app: Flask, monkeypatch: pytest.MonkeyPatch) -> FullAccount:
    """An account whose owner has a second factor, with a sealed audit log."""
    client = make_account(app)
    webhook = make_webhook(client)
    project = make_project(client, name=NAME, external_id="HW-1", metadata={"region": 6})
    make_former_boundary(client, project["id"])
    asset = make_asset(client, project["id"], location=point(10.05, 50.05), status="maintenance")
    full = FullAccount(client, project, asset, webhook, {client.token or "", webhook["secret"]})
    event_id = events(client)[0]["id"]
    make_log(client, webhook["id"], event_id)
    make_replay(client, webhook["id"])
    make_import(client, "applied")
    rotated = client.post(f"/v1/webhooks/{webhook['id']}/rotate-secret", json={"overlap_hours": 2})
    full.secrets |= {rotated.json["data"]["secret"], *_credentials(client), *_of_people(client)}
    _add_rows(client)
    seal(client, monkeypatch)
    return full


def _credentials(client: Client) -> Iterator[str]:
    yield make_key(client, name="Field").token or ""
    yield make_service_token(client, ip_allowlist=["192.0.2.0/24"]).token or ""
    application = make_application(client)
    yield application.secret or ""
    tokens = grant_tokens(
        client.app,
        application,
        client.owner_id,
        client.account_id,
        ("projects:read", "offline_access"),
    )
    yield from (tokens["access_token"], tokens["refresh_token"])


def _of_people(client: Client) -> Iterator[str]:
    yield PASSWORD
    yield make_member(client, "viewer").client.token or ""
    make_invited(client, email=(invited := new_email()))
    yield invitation_token(client, invited)
    owner = client.get("/v1/account/members").json["data"][0]
    factor = turn_on(sign_in(client.app, owner["email"], PASSWORD))
    yield base64.b32encode(factor.secret).decode().rstrip("=")
    yield from factor.codes


def _add_rows(client: Client) -> None:
    """What jobs and billing systems write."""
    moment, account = clock.now(), {"account_id": client.account_id}
    long_ago = clock.day_of(moment - timedelta(days=400))
    today = {**account, "day": clock.day_of(moment), "credential_id": client.credential_id}
    with client.app.app_context(), transaction():
        db.session.add_all(
            [
                Requests(**account, day=long_ago, requests=7),
                CredentialRequest(**today, requests=1_000),
                BillingCustomer(**account, customer_id=f"cus_{client.account_id}", named_at=moment),
                BillingEvent(
                    **account,
                    source="billing",
                    id=f"bill_{client.account_id}",
                    type="invoice.paid",
                    body='{"internal": "a note of the operator"}',
                    created_at=moment,
                    received_at=moment,
                ),
            ]
        )
