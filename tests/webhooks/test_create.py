"""Creating and reading webhooks (docs/api-conventions.md)."""

from __future__ import annotations

import base64
import dataclasses
from ipaddress import ip_network
from typing import Any

from app.policy.events import EVENTS
from tests.make import Client, make_member, make_webhook, second_app

PATH = "/v1/webhooks"
URL = "https://hooks.example.org/canopy"
FIELDS = [
    *("id", "url", "description", "events", "enabled", "status", "disabled_reason"),
    *("last_success_at", "consecutive_failures", "created_at", "updated_at"),
]


def _create(client: Client, **fields: Any) -> Any:
    return client.post(PATH, json={"url": URL, "events": ["*"]} | fields)


def _fields_at_fault(answer: Any) -> list[str]:
    assert answer.status_code == 422
    return [item["field"] for item in answer.json["error"]["details"]]


def test_a_new_webhook(client: Client) -> None:
    answer = _create(client, events=["project.created"], description=" The registry ")
    made = answer.json["data"]
    assert answer.status_code == 201
    assert answer.headers["Location"] == f"http://localhost{PATH}/{made['id']}"
    assert list(made) == [*FIELDS, "secret"]
    assert made["id"].startswith("wh_")
    assert made["created_at"] == made["updated_at"]
    assert {name: made[name] for name in FIELDS[1:9]} == {
        "url": URL,
        "description": "The registry",
        "events": ["project.created"],
        "enabled": True,
        "status": "healthy",
        "disabled_reason": None,
        "last_success_at": None,
        "consecutive_failures": 0,
    }


def test_a_secret_is_made_and_shown_once(client: Client) -> None:
    answer = _create(client)
    made = answer.json["data"]
    secret = made.pop("secret")
    assert secret.startswith("whsec_")
    assert len(base64.b64decode(secret.removeprefix("whsec_"), validate=True)) >= 24
    assert answer.headers["Cache-Control"] == "no-store"
    read = client.get(f"{PATH}/{made['id']}")
    assert read.json["data"] == made
    assert read.headers["ETag"] == answer.headers["ETag"]


def test_a_webhook_can_be_made_disabled(client: Client) -> None:
    made = _create(client, enabled=False).json["data"]
    assert (made["enabled"], made["status"], made["disabled_reason"]) == (
        False,
        "disabled",
        "manual",
    )


def test_a_record_that_was_read_can_be_sent(client: Client) -> None:
    made = make_webhook(client)
    del made["secret"]
    assert client.post(PATH, json=made).json["data"]["id"] != made["id"]
    assert client.put(f"{PATH}/{made['id']}", json=made).json["data"] == made


def test_addresses_that_can_never_be_called(client: Client) -> None:
    """All other URLs: tests/outbound/test_targets.py."""
    made = make_webhook(client)
    for host in ("10.0.0.1", "169.254.169.254", "[2001:db8::7]"):
        refused = _create(client, url=f"https://{host}:8443/hook")
        assert _fields_at_fault(refused) == ["url"]
        assert refused.json["error"]["details"][0]["message"] == (
            f"Must have a host name or a public IP address; {host.strip('[]')} is neither."
        )
        changed = client.put(f"{PATH}/{made['id']}", json={"url": f"https://{host}/"})
        assert _fields_at_fault(changed) == ["url"]


def test_a_name_without_a_dot(client: Client) -> None:
    with second_app(client.app, webhook_allowed_networks=(ip_network("127.0.0.0/8"),)) as app:
        opened = dataclasses.replace(client, app=app)
        for host in ("localhost", "localhost.", "bücher", "localhost:8443"):
            answer = _create(client, url=f"https://{host}/")
            assert _fields_at_fault(answer) == ["url"]
            assert "with a dot" in answer.json["error"]["details"][0]["message"]
            assert _create(opened, url=f"https://{host}/").status_code == 201


def test_addresses_that_the_operator_opened(client: Client) -> None:
    networks = (ip_network("10.20.0.0/16"), ip_network("169.254.0.0/16"))
    with second_app(client.app, webhook_allowed_networks=networks) as app:
        opened = dataclasses.replace(client, app=app)
        assert _create(opened, url="https://10.20.1.2/").status_code == 201
        for host in ("10.21.1.2", "169.254.169.254"):
            assert _fields_at_fault(_create(opened, url=f"https://{host}/")) == ["url"]


def test_urls_and_secrets_that_are_accepted_unchanged(client: Client) -> None:
    for url, secret in [
        ("https://hooks.example.org:8443/a?b=c&d=%20", "1234567890123456"),
        ("https://[2606:2800:220:1::7]:8443/", "a" * 200),
        ("https://bücher.example/", "!\"#$%&'()*+,-./:~"),
        (f"HTTPS://HOOKS.EXAMPLE.ORG/{'a' * 2022}", "whsec_not-base64"),
    ]:
        made = _create(client, url=f" {url} ", secret=secret)
        assert made.status_code == 201
        assert (made.json["data"]["url"], made.json["data"]["secret"]) == (url, secret)


def test_events_that_are_rejected(client: Client) -> None:
    for events, field in [
        (["webhook.test"], "events.0"),
        (["project.*"], "events.0"),
        (["Project.created"], "events.0"),
        (["project.created", 7], "events.1"),
        (["project.created", ["asset.created"]], "events.1"),
        (["project.created", "asset.created", "project.created"], "events"),
    ]:
        assert _fields_at_fault(_create(client, events=events)) == [field]
    answer = _create(client, events=["*", "*", "asset.created"])
    assert "repeated: *." in answer.json["error"]["details"][0]["message"]


def test_a_long_list_of_events_is_refused_before_it_is_read(client: Client) -> None:
    answer = _create(client, events=["*"] * 15_000)
    assert answer.status_code == 422
    (detail,) = answer.json["error"]["details"]
    message = f"Must have 1 to {len(EVENTS) + 1} elements."
    assert detail == {"field": "events", "message": message, "code": "too_many"}


def test_events_are_kept_as_they_are_given(client: Client) -> None:
    for given in (["*", "project.created"], ["project.created", "asset.created"]):
        assert _create(client, events=given).json["data"]["events"] == given


def test_fields_that_are_refused(client: Client) -> None:
    for field, value in [
        ("url", "http://hooks.example.org/"),
        ("secret", " 1234567890123456"),
        ("secret", "1234567890123456\n"),
        ("secret", "schlüssel-zum-wald"),
        ("secret", "12345678\x0012345678"),
        ("description", "a\x00"),
    ]:
        assert _fields_at_fault(_create(client, **{field: value})) == [field]
    assert client.get(PATH).json["data"] == []


def test_all_errors_are_reported_at_once(client: Client) -> None:
    answer = client.post(PATH, json={"events": ["x"], "enabled": "no"})
    assert sorted(_fields_at_fault(answer)) == ["enabled", "events.0", "url"]


def test_the_list_has_all_webhooks_of_the_account_oldest_first(
    client: Client, stranger: Client
) -> None:
    make_webhook(stranger)
    made = [make_webhook(client) for _ in range(3)]
    answer = client.get(PATH)
    assert [each["id"] for each in answer.json["data"]] == [each["id"] for each in made]
    assert answer.json["meta"] == {"total": 3}


def test_members_with_the_permission_admin_may(client: Client) -> None:
    for role, status in [("editor", 403), ("admin", 200)]:
        assert make_member(client, role).client.get(PATH).status_code == status


def test_a_repeat_gets_the_first_response(client: Client) -> None:
    headers = {"Idempotency-Key": "one"}
    body = {"url": URL, "events": ["*"]}
    first, second = (client.post(PATH, json=body, headers=headers) for _ in range(2))
    assert second.headers["Idempotency-Replayed"] == "true"
    assert second.headers["Cache-Control"] == "no-store"
    assert first.get_data() == second.get_data()
    assert client.get(PATH).json["meta"]["total"] == 1
