"""API keys and service tokens (docs/api-conventions.md, "Authentication"): their format, and that
only a hash is stored."""

from __future__ import annotations

import hashlib
from collections import Counter
from datetime import timedelta
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import text

from app.account.credentials.service import create_credential, list_credentials, revoke_credential
from app.db.extensions import db
from app.db.transactions import transaction
from app.http.errors import Conflict, ValidationFailed
from app.policy.permissions import OF_PROJECTS, PERMISSIONS
from app.values import clock
from tests.make import Client, make_key, make_project, make_service_token, together

LATER = clock.now() + timedelta(days=400)
RECORD = [
    *("id", "account_id", "name", "permissions", "project_ids", "ip_allowlist", "ends_with"),
    *("created_by", "created_at", "expires_at", "last_used_at", "last_used_address", "revoked_at"),
]


def _create(client: Client, **fields: Any) -> Any:
    wanted = {"kind": "api_key", "name": "ci", "permissions": ["projects:read"]} | fields
    with client.app.app_context():
        try:
            credential, secret = create_credential(client.account_id, **wanted)
            db.session.commit()
            return credential.id, secret
        finally:
            db.session.rollback()


def _list(client: Client, kind: str = "api_key") -> list[dict[str, Any]]:
    with client.app.app_context():
        return list_credentials(client.account_id, kind)


def test_ids_and_secrets_have_prefixes(client: Client) -> None:
    for kind, prefix in (("api_key", "key_"), ("service_token", "svc_")):
        credential_id, secret = _create(client, kind=kind)
        assert credential_id.startswith(prefix)
        assert secret.startswith(f"canopy_{prefix}")


@pytest.mark.both
def test_only_a_digest_of_the_secret_is_stored(app: Flask, client: Client) -> None:
    credential_id, secret = _create(client)
    with app.app_context():
        found = db.session.execute(
            text("SELECT * FROM credentials WHERE id = :id"), {"id": credential_id}
        )
        row = found.one()._asdict()
    assert row["token_hash"] == hashlib.sha256(secret.encode()).hexdigest()
    assert all(secret not in str(value) for value in row.values())
    assert row["token_end"] == secret[-4:]


def test_the_record_never_shows_the_secret(client: Client) -> None:
    _, secret = _create(client)
    record = _list(client)[0]
    assert list(record) == RECORD
    assert all(secret not in str(value) for value in record.values())
    assert record["ends_with"] == secret[-4:]
    assert record["created_by"] == client.owner_id


def test_kinds_are_listed_separately_newest_first(client: Client) -> None:
    keys = [make_key(client).credential_id for _ in range(2)]
    token = make_service_token(client).credential_id
    assert [record["id"] for record in _list(client)] == [*keys[::-1], client.credential_id]
    assert [record["id"] for record in _list(client, "service_token")] == [token]


def test_permissions_are_sorted_and_unique(client: Client) -> None:
    _create(client, permissions=["projects:read", "assets:read", "projects:read"])
    assert _list(client)[0]["permissions"] == ["assets:read", "projects:read"]


def test_what_is_of_the_account_is_not_limited_to_projects(client: Client) -> None:
    project_ids = [make_project(client)["id"]]
    for permission in PERMISSIONS:
        _create(client, permissions=[permission])
        assert _list(client)[0]["permissions"] == [permission]
        fields = {"project_ids": project_ids, "permissions": [permission]}
        if permission in OF_PROJECTS:
            _create(client, **fields)
            assert _list(client)[0]["project_ids"] == project_ids
            continue
        with pytest.raises(ValidationFailed) as raised:
            _create(client, **fields)
        assert [detail.field for detail in raised.value.details] == ["permissions"]


def test_a_project_of_another_account_is_refused(client: Client, stranger: Client) -> None:
    with pytest.raises(ValidationFailed):
        _create(client, project_ids=[make_project(stranger)["id"]])


def test_invalid_arguments_are_named(client: Client) -> None:
    for fields, wrong in (
        ({"name": ""}, ["name"]),
        ({"name": "  "}, ["name"]),
        ({"name": "x" * 201}, ["name"]),
        ({"name": "a\x00b"}, ["name"]),
        ({"permissions": []}, ["permissions"]),
        ({"permissions": ["projects:admin"]}, ["permissions"]),
        ({"permissions": ["profile"]}, ["permissions"]),
        ({"permissions": ["projects:read", "PROJECTS:READ"]}, ["permissions"]),
        ({"ip_allowlist": ["10.0.0.1/8"]}, ["ip_allowlist"]),
        ({"ip_allowlist": ["localhost"]}, ["ip_allowlist"]),
        ({"ip_allowlist": ["10.0.0.0/33", "::/129"]}, ["ip_allowlist", "ip_allowlist"]),
        ({"ip_allowlist": ["10.0.0.1"] * 101}, ["ip_allowlist"]),
        ({"name": "", "permissions": []}, ["name", "permissions"]),
        ({"project_ids": []}, ["project_ids"]),
        ({"project_ids": ["x"]}, ["project_ids"]),
        ({"project_ids": ["proj_01arz3ndektsv4rrffq69g5fav"]}, ["project_ids"]),
        ({"project_ids": [f"proj_{n}" for n in range(101)]}, ["project_ids"]),
        ({"expires_at": clock.now()}, ["expires_at"]),
        ({"kind": "service_token", "expires_at": LATER}, ["expires_at"]),
    ):
        with pytest.raises(ValidationFailed) as raised:
            _create(client, **fields)
        assert [detail.field for detail in raised.value.details] == wrong, fields


def test_an_unknown_account_is_rejected(app: Flask) -> None:
    with pytest.raises(ValidationFailed) as raised:
        _create(Client(app, "acct_unknown", "", None))
    assert [detail.field for detail in raised.value.details] == ["account"]


def test_addresses_and_networks_are_accepted(client: Client) -> None:
    """A mapped address is taken as IPv4."""
    for entry, stored in (
        *((entry, entry) for entry in ("10.0.0.1", "10.0.0.0/8", "::1", "2001:db8::/32")),
        ("::ffff:10.1.2.3", "10.1.2.3"),
        ("::ffff:10.0.0.0/104", "10.0.0.0/8"),
        ("::FFFF:0a01:0203/128", "10.1.2.3/32"),
    ):
        _create(client, kind="service_token", ip_allowlist=[entry])
        assert _list(client, "service_token")[0]["ip_allowlist"] == [stored]


def test_what_is_wrong_with_an_entry_is_said(client: Client) -> None:
    for entry, message in (
        ("10.0.0.1/8", "'10.0.0.1/8' is an address in the network 10.0.0.0/8. Enter that, or"
         " 10.0.0.1 alone."),
        ("2001:db8::1/32", "'2001:db8::1/32' is an address in the network 2001:db8::/32. Enter"
         " that, or 2001:db8::1 alone."),
        ("::ffff:10.0.0.1/104", "'10.0.0.1/8' is an address in the network 10.0.0.0/8. Enter that,"
         " or 10.0.0.1 alone."),
        ("10.0.0.1:80", "'10.0.0.1:80' is not an IP address or a network such as 10.0.0.0/8."),
    ):  # fmt: skip
        with pytest.raises(ValidationFailed) as raised:
            _create(client, kind="service_token", ip_allowlist=[entry])
        assert [detail.message for detail in raised.value.details] == [message]


def _revoke(client: Client, kind: str, credential_id: str) -> bool:
    with client.app.app_context(), transaction():
        return revoke_credential(client.account_id, kind, credential_id)


def test_revoking_happens_once(client: Client) -> None:
    credential_id, _ = _create(client)
    assert _list(client)[0]["revoked_at"] is None
    assert _revoke(client, "api_key", credential_id)
    revoked_at = _list(client)[0]["revoked_at"]
    assert revoked_at is not None
    assert not _revoke(client, "api_key", credential_id)
    assert _list(client)[0]["revoked_at"] == revoked_at


def test_a_credential_of_another_kind_or_account_is_not_revoked(
    client: Client, stranger: Client
) -> None:
    credential_id, _ = _create(client)
    assert not _revoke(client, "service_token", credential_id)
    assert not _revoke(stranger, "api_key", credential_id)
    assert _list(client)[0]["revoked_at"] is None


@pytest.mark.both
def test_of_keys_made_at_once_as_many_are_made_as_there_may_be(client: Client) -> None:
    """The client has one."""

    def create() -> bool:
        try:
            _create(client, most=3)
        except Conflict:
            return False
        return True

    assert Counter(together(*[create] * 8)) == {True: 2, False: 6}
