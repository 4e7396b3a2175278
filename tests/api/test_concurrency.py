"""Requests that come at once: what only one of them may do."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import Any

import pytest
from sqlalchemy import text
from werkzeug.test import TestResponse

from app.api.idempotency import IdempotentRequest
from app.db.extensions import db
from tests.make import (
    Client,
    event_types,
    events,
    make_asset,
    make_key,
    make_project,
    second_app,
    square,
    together,
)

MANY = 10
_numbers = itertools.count(1)


def _statuses(answers: list[TestResponse]) -> Counter[int]:
    return Counter(answer.status_code for answer in answers)


def test_ten_requests_with_one_key_make_one_row(client: Client) -> None:
    """Those that come second get the first answer, or are told that it is not there yet."""
    key = {"Idempotency-Key": f"at once {next(_numbers)}"}
    body = {"name": "Wald", "geometry": square()}
    callers = [client] + [make_key(client) for _ in range(MANY - 1)]
    calls = [lambda c=c: c.post("/v1/projects", json=body, headers=key) for c in callers]
    answers = together(*calls)
    assert set(_statuses(answers)) <= {201, 409}
    created = {a.json["data"]["id"] for a in answers if a.status_code == 201}
    assert len(created) == 1
    first = [a for a in answers if a.status_code == 201 and "Idempotency-Replayed" not in a.headers]
    assert len(first) == 1
    for waiting in (a for a in answers if a.status_code == 409):
        assert "still running" in waiting.json["error"]["message"]
    assert client.get("/v1/projects").json["meta"]["total"] == 1
    assert event_types(client) == ["project.created"]
    assert client.post("/v1/projects", json=body, headers=key).json["data"]["id"] in created


@pytest.mark.both
def test_on_postgresql_a_key_whose_first_request_runs_is_a_conflict(client: Client) -> None:
    """On SQLite there is one writer at a time: a repeat waits there, and gets the answer."""
    if client.app.config["SETTINGS"].uses_sqlite:
        pytest.skip("a repeat waits for the first")
    key = f"running {next(_numbers)}"
    with second_app(client.app) as other, other.app_context():  # with a connection of its own
        assert IdempotentRequest(client.account_id, key, "x" * 64, "y" * 64).claim()
        answer = client.post("/v1/projects", json={"name": "A"}, headers={"Idempotency-Key": key})
    assert answer.status_code == 409
    assert "still running" in answer.json["error"]["message"]
    again = client.post("/v1/projects", json={"name": "A"}, headers={"Idempotency-Key": key})
    assert again.status_code == 201
    assert "Idempotency-Replayed" not in again.headers


def test_ten_projects_of_one_name_are_one_project(client: Client) -> None:
    """The unique constraint decides."""
    calls = [lambda: client.post("/v1/projects", json={"name": "Wald"})] * MANY
    answers = together(*calls)
    assert _statuses(answers) == {201: 1, 409: MANY - 1}
    for refused in (a for a in answers if a.status_code == 409):
        assert [d["field"] for d in refused.json["error"]["details"]] == ["slug"]
    assert event_types(client) == ["project.created"]
    assert client.get("/v1/account").json["data"]["usage"]["projects"] == 1


@pytest.mark.parametrize("kind", ["project", "asset"])
def test_of_two_changes_with_the_same_tag_one_is_refused(client: Client, kind: str) -> None:
    path = f"/v1/projects/{make_project(client)['id']}"
    if kind == "asset":
        path += f"/assets/{make_asset(client, path.split('/')[3])['id']}"
    tag = {"If-Match": client.get(path).headers["ETag"]}
    calls = [lambda name=name: client.put(path, json={"name": name}, headers=tag) for name in "AB"]
    answers = together(*calls)
    assert _statuses(answers) == {200: 1, 412: 1}
    winner = next(a for a in answers if a.status_code == 200)
    assert client.get(path).json["data"] == winner.json["data"]


@pytest.mark.parametrize("action", ["archive", "restore", "delete"])
def test_one_of_many_makes_the_transition(client: Client, action: str) -> None:
    path = f"/v1/projects/{make_project(client, geometry=square())['id']}"
    if action != "archive":
        client.post(f"{path}/archive")
    known = len(events(client))
    call: Any = lambda: client.post(f"{path}/{action}")  # noqa: E731
    if action == "delete":
        call = lambda: client.delete(path)  # noqa: E731
    answers = together(*[call] * 5)
    expected = {204: 1, 404: 4} if action == "delete" else {200: 1, 409: 4}
    assert _statuses(answers) == expected
    assert len(events(client)) == known + 1
    usage = client.get("/v1/account").json["data"]["usage"]
    assert usage["projects"] == (0 if action == "delete" else 1)
    assert (usage["hectares"] > 0) is (action == "restore")


@pytest.mark.both
def test_an_asset_that_is_made_while_its_project_goes_leaves_nothing(client: Client) -> None:
    path = f"/v1/projects/{make_project(client)['id']}"
    client.post(f"{path}/archive")
    body = {"name": "A", "type": "tower"}
    calls: Any = [lambda: client.delete(path)]
    calls += [lambda: client.post(f"{path}/assets", json=body)] * 5
    answers = together(*calls)
    assert answers[0].status_code == 204
    assert set(_statuses(answers[1:])) <= {201, 404}
    with client.app.app_context():
        statement = text("SELECT count(*) FROM assets WHERE account_id = :account")
        left = db.session.execute(statement, {"account": client.account_id}).scalar_one()
    assert left == 0


def test_counters_are_exact_when_many_change_at_once(client: Client) -> None:
    names = [f"Wald {number}" for number in range(MANY)]
    calls = [
        lambda name=name: client.post("/v1/projects", json={"name": name, "geometry": square()})
        for name in names
    ]
    made = [answer.json["data"] for answer in together(*calls)]
    usage = client.get("/v1/account").json["data"]["usage"]
    assert usage["projects"] == MANY
    assert usage["hectares"] == pytest.approx(sum(p["area_hectares"] for p in made), abs=1e-6)
    together(*[lambda p=p: client.post(f"/v1/projects/{p['id']}/archive") for p in made])
    assert client.get("/v1/account").json["data"]["usage"]["hectares"] == 0
