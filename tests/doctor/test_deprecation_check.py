"""What the doctor says about accounts that use what a release may leave out."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta

import pytest
from flask import Flask

from app.db.extensions import db
from app.doctor.results import Status
from app.models import DeprecatedRequest
from app.policy import deprecations
from app.policy.deprecations import DEPRECATIONS
from app.values import clock
from tests.conftest import DATABASES
from tests.doctor.test_doctor import environ_of, findings_of
from tests.maintenance.conftest import MakeInstance
from tests.make import Client, make_account


@pytest.fixture(params=DATABASES)
def customer(request: pytest.FixtureRequest, make_instance: MakeInstance) -> Client:
    return make_account(make_instance(request.param))


def _said(app: Flask) -> tuple[Status, str]:
    found = findings_of(environ_of(app))["deprecations"].result
    return found.status, found.found


def _sunset(patch: pytest.MonkeyPatch, sunset: date | None) -> None:
    patch.setattr(deprecations, "DEPRECATIONS", (replace(DEPRECATIONS[0], sunset=sunset),))


def _use(client: Client, days_ago: int) -> None:
    day = clock.day_of(clock.now() - timedelta(days=days_ago))
    with client.app.app_context():
        keys = {"credential_id": "key_x", "deprecation": DEPRECATIONS[0].id}
        db.session.add(DeprecatedRequest(account_id=client.account_id, day=day, requests=3, **keys))
        db.session.commit()


@pytest.mark.slow
def test_accounts_that_use_what_may_soon_be_gone(
    customer: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    today = clock.now().date()
    _sunset(monkeypatch, today + timedelta(days=90))
    _use(customer, days_ago=31)
    assert _said(customer.app)[0] is Status.OK
    _use(customer, days_ago=1)
    status, found = _said(customer.app)
    assert status is Status.WARNING
    assert "1 account used POST /v1/geometry/validate" in found
    for later in (None, today + timedelta(days=91)):
        _sunset(monkeypatch, later)
        status, found = _said(customer.app)
        assert status is Status.OK
        assert "is used by 1 account" in found
