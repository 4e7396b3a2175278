"""How many webhooks an account can have."""

from __future__ import annotations

from typing import Any

import pytest

from app.webhooks import service
from tests.make import Client, make_webhook, together

PATH = "/v1/webhooks"
BODY = {"url": "https://hooks.example.org/", "events": ["*"]}


@pytest.fixture
def _three(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "WEBHOOKS_PER_ACCOUNT", 3)


def _total(client: Client) -> int:
    return int(client.get(PATH).json["meta"]["total"])


def _refused(answer: Any) -> dict[str, str]:
    assert answer.status_code == 403
    assert answer.json["error"]["code"] == "FORBIDDEN"
    return dict(answer.json["error"]["details"][0])


@pytest.mark.usefixtures("_three")
def test_one_more_than_the_limit_is_rejected(client: Client, stranger: Client) -> None:
    first = make_webhook(client, enabled=False)
    make_webhook(client)
    make_webhook(client)
    assert _refused(client.post(PATH, json=BODY)) == {
        "field": "",
        "message": "The account has 3 webhooks, disabled ones included, and can have 3. Delete one "
        "that you no longer need.",
        "code": "plan_limit",
    }
    assert _total(client) == 3
    make_webhook(stranger)
    client.delete(f"{PATH}/{first['id']}")
    make_webhook(client)
    _refused(client.post(PATH, json=BODY))


@pytest.mark.both
@pytest.mark.usefixtures("_three")
def test_the_limit_is_exact_under_concurrency(client: Client) -> None:
    make_webhook(client)
    statuses = together(*[lambda: client.post(PATH, json=BODY).status_code] * 8)
    assert sorted(statuses) == [201] * 2 + [403] * 6
    assert _total(client) == 3
