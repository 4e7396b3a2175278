"""What the doctor says about the audit log."""

from __future__ import annotations

from datetime import timedelta

import pytest

from app.doctor.checks import audit_log
from app.doctor.findings import Status
from tests.audit.log.logs import sql, write
from tests.doctor.test_doctor import environ_of, findings_of
from tests.make import Client


def _said(client: Client) -> tuple[Status, str]:
    found = findings_of(environ_of(client.app))["audit log"]
    return found.status, found.found


def test_entries_that_wait_too_long(customer: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    write(customer)
    assert _said(customer)[0] is Status.OK
    monkeypatch.setattr(audit_log, "LATE", timedelta(seconds=-5))
    status, found = _said(customer)
    assert status is Status.PROBLEM
    assert "wait for an hour" in found


def test_unreadable_entries(customer: Client) -> None:
    made = write(customer)
    sql(customer, "UPDATE audit_entries SET body = 'x' WHERE id = :id", id=made)
    status, found = _said(customer)
    assert status is Status.PROBLEM
    assert f"1, such as {made} of {customer.account_id}" in found
