"""``GET /v1/account/usage/requests``."""

from __future__ import annotations

from datetime import timedelta

import pytest

from app.db.extensions import db
from app.db.transactions import transaction
from app.models import Credential
from app.values import clock
from tests.make import Client, make_key

PATH = "/v1/account/usage/requests"


@pytest.mark.both
def test_requests_by_day_and_by_credential(client: Client) -> None:
    key = make_key(client)
    for _ in range(3):
        key.get("/v1/account")
    found = client.get(PATH).json["data"]
    today = clock.day_of(clock.now())
    assert (found["since"], found["until"], found["requests"]) == (
        clock.day_of(clock.now() - timedelta(days=29)),
        today,
        4,
    )
    assert len(found["by_day"]) == 30
    assert found["by_day"][-1] == {"day": today, "requests": 4}
    first, second = found["by_credential"]
    assert (first["id"], first["type"], first["requests"]) == (key.credential_id, "api_key", 3)
    assert first["by_day"] == [{"day": today, "requests": 3}]
    assert second["id"] == client.credential_id


@pytest.mark.both
def test_as_csv_no_name_becomes_a_formula(client: Client) -> None:
    with client.app.app_context(), transaction():
        db.session.get_one(Credential, client.credential_id).name = '=1+1,"x"'
    response = client.get(f"{PATH}?format=csv&since={clock.day_of(clock.now())}")
    today = clock.day_of(clock.now())
    assert response.headers["Content-Type"] == "text/csv; charset=utf-8"
    assert f'filename="requests-{today}-{today}.csv"' in response.headers["Content-Disposition"]
    assert response.text == (
        "day,credential_id,type,name,requests\r\n"
        f'{today},{client.credential_id},api_key,"\'=1+1,""x""",1\r\n'
    )


def test_wrong_parameters(client: Client) -> None:
    for query, field, message in (
        ("since=2026", "since", "Must be a day, such as 2026-01-31."),
        ("since=2026-02-30", "since", "Must be a day of the calendar."),
        ("until=20260101", "until", "Must be a day, such as 2026-01-31."),
        ("since=2026-02-02&until=2026-02-01", "since", "Must not be later than until."),
        ("since=2025-01-01&until=2026-01-02", "since", "Must be at most 366 days"),
        ("until=0001-01-01", "until", "Must be a day of this service."),
        ("format=xml", "format", "json, csv"),
    ):
        response = client.get(f"{PATH}?{query}")
        assert response.status_code == 400
        (detail,) = response.json["error"]["details"]
        assert detail["field"] == field, query
        assert message in detail["message"]


def test_a_year_at_most(client: Client) -> None:
    found = client.get(f"{PATH}?since=2024-01-01&until=2024-12-31").json["data"]
    assert len(found["by_day"]) == 366
    assert found["requests"] == 0


def test_it_needs_the_permission(client: Client) -> None:
    assert make_key(client, permissions=["projects:read"]).get(PATH).status_code == 403
