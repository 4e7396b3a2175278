"""What the entries that the tests cause are checked for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from flask import Flask, request_finished

from app.audit.entries import write_entry
from app.audit.origin import Actor, Via, acting_as
from app.audit.targets import Target
from app.db.extensions import db
from app.security.passwords import hash_password
from app.security.tokens import PREFIXES, new_token
from tests import entry_checks
from tests.make import Client

pytestmark = pytest.mark.both


PASSWORD = "a-long-and-unusual-password"


def _record(client: Client, description: str) -> None:
    target = Target("project", None, "Wald")
    changes = {"description": {"from": None, "to": description}}
    write_entry("project.updated", target, account_id=client.account_id, changes=changes)


@contextmanager
def _request(app: Flask) -> Iterator[None]:
    operator = Actor("operator", None, "root")
    with app.test_request_context("/v1/projects", method="POST"), acting_as(operator, Via()):
        yield
        request_finished.send(app)
        db.session.rollback()


def test_what_an_entry_may_not_have_is_found(client: Client, subtests: pytest.Subtests) -> None:
    secrets = [(new_token(prefix), "an entry has a secret") for prefix in PREFIXES]
    for secret, fault in [*secrets, (PASSWORD, "an entry has a password")]:
        with subtests.test(secret), _request(client.app):
            hash_password(PASSWORD)
            _record(client, secret)
            (found,) = entry_checks.take_findings()
            assert found.startswith(fault)


def test_a_second_entry_is_found(client: Client) -> None:
    with _request(client.app):
        _record(client, "Wald")
        _record(client, "Forst")
    (found,) = entry_checks.take_findings()
    assert "has 2 entries" in found
