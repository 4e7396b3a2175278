"""Every type of event, brought about as people and programs do, arrives at a real receiver."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from jsonschema_rs import Draft202012Validator
from standardwebhooks import Webhook

from app.policy.events import EVENTS
from tests.account.billing.sending import SECRET, event, send
from tests.audit.log.logs import seal
from tests.cli.conftest import runner
from tests.cli.features import features_file, imported
from tests.make import (
    Browser,
    Client,
    events,
    link_in,
    mails_to,
    make_account,
    make_asset,
    make_project,
    point,
    second_app,
    square,
)
from tests.make.browser import PASSWORD
from tests.make.members import new_email
from tests.make.webhooks import make_webhook
from tests.outbound.receivers import Receiver
from tests.webhooks.conftest import Deliver
from tests.webhooks.job import forget_deliveries


@pytest.fixture
def delivering(delivering_app: Flask) -> Iterator[Flask]:
    """One with a billing system, and nothing to deliver."""
    forget_deliveries(delivering_app)
    with second_app(delivering_app, billing_webhook_secret=SECRET) as made:
        yield made


@pytest.fixture
def customer(delivering: Flask) -> Client:
    """A caller in an account with a plan whose limits can be reached."""
    return make_account(delivering, plan="free")


def done(response: Any) -> Any:
    assert response.status_code < 300, response.get_data(as_text=True)
    return response.json["data"] if response.status_code != 204 else None


def change_projects(customer: Client) -> None:
    """``project.*``, through the API."""
    project = f"/v1/projects/{make_project(customer)['id']}"
    done(customer.put(project, {"name": "Larch slope", "geometry": square(size=0.01)}))
    done(customer.post(f"{project}/archive"))
    done(customer.post(f"{project}/restore"))
    done(customer.post(f"{project}/archive"))
    done(customer.delete(project))


def change_assets(customer: Client) -> None:
    """``asset.*``, through the API."""
    project_id = make_project(customer)["id"]
    asset = make_asset(customer, project_id, location=point())
    path = f"/v1/projects/{project_id}/assets/{asset['id']}"
    done(customer.put(path, {"status": "maintenance", "metadata": {"serial": "WX-2041"}}))
    done(customer.delete(path))


def change_members(customer: Client) -> None:
    """``member.*``: one is invited through the API and joins on the pages."""
    email = new_email()
    done(customer.post("/v1/account/members/invite", {"email": email, "role": "viewer"}))
    browser = Browser(customer.app)
    browser.get(link_in(mails_to(customer.app, email)[-1]))
    assert browser.submit(name="Willow Reed", password=PASSWORD).path == "/projects"
    found = done(customer.get("/v1/account/members"))
    (member,) = (each for each in found if each["email"] == email)
    done(customer.put(f"/v1/account/members/{member['id']}", {"role": "editor"}))
    done(customer.delete(f"/v1/account/members/{member['id']}"))


def import_projects(customer: Client, folder: Path) -> None:
    """``usage.*`` of hectares: by a command, which makes a project of more than the plan has."""
    path = features_file(folder, ({"name": "Everything"}, square(size=1)))
    assert imported(runner(customer.app), customer, path)["summary"]["new"] == 1


def send_billing_events(customer: Client) -> None:
    """``subscription.*`` and ``invoice.*``, from a billing system."""
    bodies = [
        event(customer, "subscription.created", plan="pro", created_at="2026-01-02T00:00:00Z"),
        event(customer, "invoice.paid", created_at="2026-01-02T00:00:01Z"),
        event(
            customer, "subscription.updated", plan="enterprise", created_at="2026-01-03T00:00:00Z"
        ),
        event(customer, "invoice.failed", created_at="2026-02-02T00:00:00Z"),
        event(customer, "subscription.canceled", created_at="2026-02-03T00:00:00Z"),
    ]
    for body in bodies:
        assert send(customer, body).status_code == 200


@pytest.mark.slow
def test_every_type_is_signed_and_matches_its_schema(
    customer: Client,
    receiver: Receiver,
    deliver: Deliver,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    types = ["*", "audit.entry", "audit.checkpoint"]
    webhook = make_webhook(customer, url=receiver.url(), events=types)
    change_projects(customer)
    change_assets(customer)
    change_members(customer)
    import_projects(customer, tmp_path)
    send_billing_events(customer)
    seal(customer, monkeypatch)
    deliver()
    verifier = Webhook(webhook["secret"])
    arrived = [verifier.verify(each.body, each.headers) for each in receiver.requests]
    assert {each["type"] for each in arrived} == set(EVENTS)
    assert sorted(arrived, key=lambda each: each["id"]) == events(customer)
    check_schemas(customer, arrived)
    assert [each.headers["x-service-event"] for each in receiver.requests] == [
        each["type"] for each in arrived
    ]


def check_schemas(customer: Client, arrived: list[dict[str, Any]]) -> None:
    """Each is as the API says of its type, and the examples are too."""
    for kind in done(customer.get("/v1/event-types")):
        validator = Draft202012Validator(kind["schema"], validate_formats=True)
        own = [each for each in arrived if each["type"] == kind["name"]]
        assert own, kind["name"]
        for each in [*own, kind["example"]]:
            faults = [fault.message for fault in validator.iter_errors(each)]
            assert faults == [], json.dumps(each)
