"""GET and PUT /v1/account, and the operator's functions for accounts."""

from __future__ import annotations

import re
from typing import Any

import pytest
from flask import Flask

from app.account.service import create_account, set_plan
from app.db.extensions import db
from app.http.errors import Conflict, ValidationFailed
from tests.make import Client, event_types, make_project, square


def _account(client: Client) -> dict[str, Any]:
    return client.get("/v1/account").json["data"]


def test_fields_of_an_account(client: Client) -> None:
    account = _account(client)
    assert list(account) == ["id", "name", "slug", "type", "plan", "usage", "created_at"]
    assert list(account["usage"]) == ["hectares", "projects", "members"]
    assert re.fullmatch(r"acct_[0-9a-hjkmnp-tv-z]{26}", account["id"])
    assert account["id"] == client.account_id
    assert account["slug"].startswith("account-")  # its name is "Account 1", or a later one
    assert account["type"] in ("individual", "organization")


def test_usage_is_current(client: Client) -> None:
    assert _account(client)["usage"] == {"hectares": 0, "projects": 0, "members": 1}
    project = make_project(client, geometry=square())
    usage = {"hectares": project["area_hectares"], "projects": 1, "members": 1}
    assert _account(client)["usage"] == usage


def test_name_can_be_changed(client: Client) -> None:
    before = _account(client)
    response = client.put("/v1/account", json={"name": " Forst GmbH "})
    assert response.status_code == 200
    assert response.json["data"] == before | {"name": "Forst GmbH"} == _account(client)
    assert event_types(client) == []


def test_an_empty_change_changes_nothing(client: Client) -> None:
    before = _account(client)
    for body in ({}, {"type": 5, "plan": "free", "usage": None}, before):
        assert client.put("/v1/account", json=body).json["data"] == before
        assert _account(client) == before


def _create(app: Flask, **fields: Any) -> Any:
    with app.app_context():
        try:
            made = create_account(**{"owner_email": "o@example.org", "name": "Wald"} | fields)
            db.session.commit()
            return made.account.slug, made.owner.id, made.password
        finally:
            db.session.rollback()


def test_slugs_of_accounts_are_numbered(app: Flask) -> None:
    slugs = [_create(app, name="Große Wälder")[0] for _ in range(3)]
    assert slugs == ["grosse-walder", "grosse-walder-2", "grosse-walder-3"]


def test_a_person_may_own_several_accounts(app: Flask) -> None:
    first, second = (_create(app, owner_email=e) for e in ("p@example.org", "P@Example.org"))
    assert first[1] == second[1]
    assert first[2] is not None
    assert second[2] is None


@pytest.mark.parametrize(
    ("fields", "error", "field"),
    [
        ({"plan": "gold"}, ValidationFailed, "plan"),
        (
            {"owner_email": "q@example.org", "owner_password": "correct horse battery"},
            Conflict,
            "owner_password",
        ),
    ],
)
def test_invalid_accounts(
    app: Flask, fields: dict[str, Any], error: type[Exception], field: str
) -> None:
    _create(app, owner_email="q@example.org")
    with pytest.raises(error) as raised:
        _create(app, **fields)
    assert [detail.field for detail in raised.value.details] == [field]  # type: ignore[attr-defined]


def test_an_unknown_account_or_plan_is_rejected(client: Client) -> None:
    for account_id, plan in (("acct_x", "pro"), (client.account_id, "gold")):
        with client.app.app_context(), pytest.raises(ValidationFailed):
            set_plan(account_id, plan)
