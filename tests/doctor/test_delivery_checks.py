"""What the doctor says about deliveries."""

from __future__ import annotations

from datetime import timedelta

from flask import Flask

from app.doctor.findings import Status
from app.values import clock
from tests.doctor.test_doctor import environ_of, findings_of
from tests.make import Client, make_project
from tests.make.webhooks import make_webhook, set_deliveries, set_webhook


def said(app: Flask, **environ: str) -> tuple[Status, str]:
    found = findings_of(environ_of(app) | environ)["deliveries"]
    return found.status, found.found


def test_what_is_late_for_a_receiver_that_answers(customer: Client) -> None:
    assert said(customer.app) == (Status.OK, "deliveries waiting: 0")
    webhook = make_webhook(customer, events=["project.created"])
    make_project(customer)
    assert said(customer.app)[0] is Status.OK
    set_deliveries(
        customer, webhook["id"], "pending", due_at=clock.now() - timedelta(minutes=2, seconds=1)
    )
    status, found = said(customer.app)
    assert status is Status.PROBLEM
    assert "Deliveries overdue: 1" in found
    held = (Status.OK, "deliveries waiting: 1")
    assert said(customer.app, OUTBOUND="off") == held


def test_what_fails_is_its_owners_business(customer: Client) -> None:
    webhook = make_webhook(customer, events=["project.created"])
    make_project(customer)
    moment = clock.now()
    set_deliveries(customer, webhook["id"], "pending", due_at=moment - timedelta(hours=1))
    set_webhook(customer, webhook["id"], consecutive_failures=9, failing_since=moment)
    status, found = said(customer.app)
    assert status is Status.OK
    assert "webhooks failing: 1" in found
