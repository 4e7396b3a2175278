"""Accounts and credentials, and a client that speaks for one."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from flask import Flask
from werkzeug.test import TestResponse

from app.account.credentials.service import create_credential
from app.account.members.record import name_from_email
from app.account.service import open_account
from app.db.extensions import db
from app.jobs.valkey import valkey
from app.models import User
from app.policy.permissions import PERMISSIONS
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
    with app.app_context():
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
        db.session.commit()
        return Client(app, account.id, owner.id, token, credential.id)


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


def _with_credential(client: Client, kind: str, **values: Any) -> Client:
    with client.app.app_context():
        values = {"name": "test"} | values
        credential, token = create_credential(client.account_id, kind=kind, **values)
        db.session.commit()
        return Client(client.app, client.account_id, client.owner_id, token, credential.id)
