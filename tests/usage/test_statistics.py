"""GET /v1/account/usage: usage and the limits of the plan (docs/policy.md)."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask

from app.values import clock
from tests.make import Client, make_account, make_project, square


def _usage(client: Client) -> dict[str, Any]:
    response = client.get("/v1/account/usage")
    assert response.status_code == 200
    return response.json["data"]


def _at(monkeypatch: pytest.MonkeyPatch, moment: str) -> None:
    monkeypatch.setattr(clock, "now", lambda: clock.parse_time(moment))


@pytest.mark.both
def test_fields_of_usage(client: Client) -> None:
    usage = _usage(client)
    assert {name: list(part) for name, part in usage.items()} == {
        "period": ["start", "end"],
        "hectares": ["current", "limit", "percentage"],
        "projects": ["active", "archived", "draft", "total"],
        "members": ["current", "limit"],
        "api_requests": ["current", "limit"],
        "stored_bytes": ["current", "limit"],
        "history_bytes": ["current", "limit"],
    }


def test_limits_are_those_of_the_plan(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    _at(monkeypatch, "2026-04-15T12:00:00.000Z")
    for plan, hectares, members, a_day in (
        ("free", 1000, 3, 1000),
        ("pro", 50_000, 25, 10_000),
        ("enterprise", None, None, None),
    ):
        usage = _usage(make_account(app, plan=plan))
        assert usage["hectares"]["limit"] == hectares
        assert usage["members"] == {"current": 1, "limit": members}
        assert usage["api_requests"]["limit"] == (None if a_day is None else a_day * 30)


def test_period_is_the_calendar_month(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    client, midnight = make_account(app, plan="free"), "T00:00:00.000Z"
    for moment, start, end, days in (
        ("2026-01-01T00:00:00.000Z", "2026-01-01", "2026-02-01", 31),
        ("2026-02-28T23:59:59.999Z", "2026-02-01", "2026-03-01", 28),
        ("2028-02-29T12:00:00.000Z", "2028-02-01", "2028-03-01", 29),
        ("2026-12-31T23:59:59.999Z", "2026-12-01", "2027-01-01", 31),
    ):
        _at(monkeypatch, moment)
        usage = _usage(client)
        assert usage["period"] == {"start": start + midnight, "end": end + midnight}
        assert usage["api_requests"]["limit"] == 1000 * days


def test_percentage_is_of_the_limit(app: Flask) -> None:
    client = make_account(app, plan="free")
    assert _usage(client)["hectares"]["percentage"] == 0
    project = make_project(client, geometry=square(size=0.01))
    usage = _usage(client)["hectares"]
    assert usage["current"] == project["area_hectares"]
    assert usage["percentage"] == round(project["area_hectares"] / 10, 2)
    make_project(client, geometry=square(size=1))
    assert _usage(client)["hectares"]["percentage"] > 100


def test_percentage_is_null_without_a_limit(client: Client) -> None:
    make_project(client, geometry=square())
    assert _usage(client)["hectares"]["percentage"] is None


def test_total_counts_drafts_too(client: Client) -> None:
    for status in ("active", "archived", "draft"):
        client.put(f"/v1/projects/{make_project(client)['id']}", json={"status": status})
    assert _usage(client)["projects"] == {
        "active": 1,
        "archived": 1,
        "draft": 1,
        "total": 3,
    }
