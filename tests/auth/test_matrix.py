"""Every cell of the table of roles, credentials and operations (docs/policy.md)."""

from __future__ import annotations

from functools import cache

import pytest
from flask import Flask

from app.auth.sessions import start_session
from app.db.extensions import db
from app.policy.permissions import ROLES, SCOPES
from docs.access import CHAT, KINDS, opens
from tests.api.operations import Operation, example_body, fill, operations, prepare
from tests.make import Client, make_account
from tests.make.members import Member, make_key_of, make_member
from tests.make.oauth import bearer, grant_tokens, make_application
from tests.make.webhooks import forget_webhooks

OPERATIONS = operations()


@cache
def account(app: Flask) -> Client:
    """One account for all cells; its owner prepares what an operation is about."""
    return make_account(app)


@cache
def member(app: Flask, role: str) -> Member:
    return make_member(account(app), role)


@cache
def caller(app: Flask, role: str, kind: str) -> Client:
    """A member of this role, through such a credential with all that it can be given."""
    person = member(app, role)
    if kind == "key":
        return person.client
    if kind == "token":
        return make_key_of(account(app), person.id, role, kind="service_token")
    application = make_application(account(app))
    answer = grant_tokens(app, application, person.id, account(app).account_id, tuple(SCOPES))
    return bearer(account(app), answer["access_token"])


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.name)
@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "page"])
def test_a_cell(app: Flask, operation: Operation, role: str, kind: str) -> None:
    owner = account(app)
    forget_webhooks(owner)
    ids = fill(owner, operation)
    prepare(owner, operation, ids)
    who = caller(app, role, kind)
    answer = who.send(operation.method, operation.path(ids), json=example_body(operation))
    is_open = opens(operation.rule, operation.needs, role, kind)
    assert answer.status_code != 401
    assert (answer.status_code != 403) is is_open, answer.get_data(as_text=True)
    if is_open:
        assert answer.status_code in (200, 201, 204, 409)


@pytest.mark.parametrize("role", ROLES)
def test_the_cells_of_a_browser(app: Flask, role: str) -> None:
    """It opens the chat, and nothing of /v1."""
    person = member(app, role)
    with app.app_context():
        token = start_session(person.id, account(app).account_id, address="", browser="")
        db.session.commit()
    browser = app.test_client()
    browser.set_cookie("canopy_session", token)
    for operation in OPERATIONS:
        path = operation.path(dict.fromkeys(operation.arguments, "x"))
        answer = browser.open(path, method=operation.method)
        assert answer.status_code == 401
        assert not opens(operation.rule, operation.needs, role, "page")
    assert browser.post(CHAT, json={}).status_code == 422
