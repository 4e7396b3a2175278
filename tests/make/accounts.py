"""Accounts and credentials, and a client that speaks for one."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from flask import Flask
from werkzeug.test import TestResponse

from app.account.credentials.service import create_credential, revoke_credential
from app.account.members.record import name_from_email
from app.account.service import open_account, set_plan
from app.db.transactions import transaction
from app.jobs.valkey import valkey
from app.limits import request_counts
from app.models import User
from app.policy.permissions import PERMISSIONS
from app.security import tokens
from app.security.passwords import hash_password
from app.values import clock
from app.values.folding import fold_text
from app.values.ids import new_id
from tests.contract import check_contract
from tests.make.mails import new_email

PASSWORD = "correct horse battery"  # of every owner that is made here
_numbers = itertools.count(1)


@dataclass(frozen=True)
class Client:
    """A caller with one credential. Every answer is compared with the OpenAPI description."""

    app: Flask
    account_id: str
    owner_id: str
    token: str | None
    credential_id: str | None = None

    def get(self, path: str, **options: Any) -> TestResponse:
        return self.send("GET", path, **options)

    def post(self, path: str, json: Any = None, **options: Any) -> TestResponse:
        return self.send("POST", path, json=json, **options)

    def put(self, path: str, json: Any = None, **options: Any) -> TestResponse:
        return self.send("PUT", path, json=json, **options)

    def delete(self, path: str, **options: Any) -> TestResponse:
        return self.send("DELETE", path, **options)

    def send(
        self, method: str, path: str, *, headers: dict[str, str] | None = None, **options: Any
    ) -> TestResponse:
        """One request with this caller's credential; ``options`` are those of werkzeug's client."""
        if options.get("json") is None:
            options.pop("json", None)
        response = self.app.test_client().open(
            path,
            method=method,
            headers=self.authorization | (headers or {}),
            **options,
        )
        check_contract(self.app, response)
        return response

    @property
    def authorization(self) -> dict[str, str]:
        """The header with this caller's credential, if there is one."""
        return {"Authorization": f"Bearer {self.token}"} if self.token else {}

    def nobody(self) -> Client:
        """The same without a credential."""
        return Client(self.app, self.account_id, self.owner_id, None)


def make_account(
    app: Flask, *, plan: str = "enterprise", permissions: Sequence[str] = ("admin",)
) -> Client:
    """A new account with an owner, and a client with an API key of it."""
    with app.app_context(), transaction():
        email, now = new_email("owner"), clock.now()
        owner = User(
            id=new_id("user"),
            email=email,
            email_key=fold_text(email),
            name=name_from_email(email),
            password_hash=hash_password(PASSWORD),
            created_at=now,
            updated_at=now,
        )
        account = open_account(f"Account {next(_numbers)}", owner, plan=plan)
        credential, token = create_credential(
            account.id, kind="api_key", name="test", permissions=permissions
        )
        return Client(app, account.id, owner.id, token, credential.id)


def put_on(client: Client, plan: str) -> None:
    """Put the account on another plan."""
    with client.app.app_context(), transaction():
        set_plan(client.account_id, plan)


def requests_today(client: Client) -> int:
    """How many requests of the account are counted, read without one that would be."""
    with client.app.app_context():
        return request_counts.requests_on(client.account_id, [request_counts.today_utc()])


def use_up_minute(client: Client) -> None:
    """Leave the account no request of this minute, whatever its plan."""
    with client.app.app_context():
        valkey().client.set(f"canopy:window:{client.account_id}", 1_000_000, px=60_000)


def make_key(
    client: Client, *, permissions: Sequence[str] = tuple(PERMISSIONS), **others: Any
) -> Client:
    """The same account through a new API key; ``others``: ``name`` and the like."""
    return _with_credential(client, "api_key", permissions=permissions, **others)


def make_service_token(
    client: Client,
    *,
    permissions: Sequence[str] = tuple(PERMISSIONS),
    **others: Any,
) -> Client:
    """The same account through a new service token; others: ``ip_allowlist``, ``project_ids``."""
    return _with_credential(client, "service_token", permissions=permissions, **others)


def revoke(client: Client) -> None:
    """Revoke a caller's key or service token."""
    kind = "service_token" if (client.token or "").startswith(tokens.SERVICE_TOKEN) else "api_key"
    with client.app.app_context(), transaction():
        assert revoke_credential(client.account_id, kind, client.credential_id or "")


def _with_credential(client: Client, kind: str, **values: Any) -> Client:
    with client.app.app_context(), transaction():
        values = {"name": "test"} | values
        credential, token = create_credential(client.account_id, kind=kind, **values)
        return Client(client.app, client.account_id, client.owner_id, token, credential.id)
