"""The counters of accounts, compared and corrected."""

from __future__ import annotations

from flask import Flask
from sqlalchemy import delete, update

from app.db.extensions import db
from app.db.snapshots import open_snapshot
from app.db.transactions import transaction
from app.doctor import counters
from app.doctor.counters import WrongCounters, correct_counters, wrong_counters
from app.models import AccountUsage
from tests.maintenance.contents import url_of
from tests.make import Client, make_account, make_project, square
from tests.make.webhooks import make_webhook


def found(app: Flask) -> list[WrongCounters]:
    with open_snapshot(url_of(app)) as connection:
        return list(wrong_counters(connection))


def corrected(app: Flask) -> list[WrongCounters]:
    with app.app_context():
        return correct_counters(url_of(app), transaction)


def _filled(app: Flask) -> Client:
    """One project of each status; the archived one has an area that does not count."""
    client = make_account(app)
    make_project(client, geometry=square())
    draft = make_project(client)["id"]
    client.put(f"/v1/projects/{draft}", json={"status": "draft"})
    archived = make_project(client, geometry=square())["id"]
    client.post(f"/v1/projects/{archived}/archive")
    return client


def spoil(client: Client, **values: int) -> None:
    with client.app.app_context(), transaction():
        row = AccountUsage.account_id == client.account_id
        db.session.execute(update(AccountUsage).where(row).values(values))


def test_each_wrong_counter_is_found(instance: Flask) -> None:
    client = _filled(instance)
    make_account(instance)
    assert found(instance) == []
    for name in counters.COUNTED:
        spoil(client, **{name: 77})
        (difference,) = found(instance)
        assert difference.account_id == client.account_id
        assert difference.stored is not None
        assert difference.stored[name] == 77
        actual = difference.actual[name]
        others = {other: difference.actual[other] for other in counters.COUNTED if other != name}
        assert {other: difference.stored[other] for other in others} == others
        spoil(client, **{name: actual})
    assert found(instance) == []


def test_wrong_counters_are_corrected(instance: Flask) -> None:
    client, other = _filled(instance), _filled(instance)
    actual = client.get("/v1/account").json["data"]["usage"]
    spoil(client, projects_active=5, area_m2=-3, members=0)
    assert [each.account_id for each in corrected(instance)] == [client.account_id]
    assert found(instance) == []
    assert client.get("/v1/account").json["data"]["usage"] == actual
    assert other.get("/v1/account").json["data"]["usage"] == actual


def test_a_wrong_history_is_found_and_corrected(instance: Flask) -> None:
    client = _filled(instance)
    make_webhook(client, events=["*"])
    make_project(client)
    assert found(instance) == []
    right = client.get("/v1/account/usage").json["data"]["history_bytes"]["current"]
    spoil(client, history_bytes=right - 70, members=9)
    (done,) = corrected(instance)
    assert done.stored is not None
    assert (done.stored["members"], done.stored["history_bytes"]) == (9, right - 70)
    assert (done.actual["members"], done.actual["history_bytes"]) == (1, right)
    assert found(instance) == []
    assert client.get("/v1/account/usage").json["data"]["history_bytes"]["current"] == right


def test_a_row_that_lacks_is_made(instance: Flask) -> None:
    client = _filled(instance)
    actual = client.get("/v1/account").json["data"]["usage"]
    with instance.app_context(), transaction():
        db.session.execute(delete(AccountUsage).where(AccountUsage.account_id == client.account_id))
    assert [each.stored for each in corrected(instance)] == [None]
    assert client.get("/v1/account").json["data"]["usage"] == actual


def test_a_change_during_the_correction_is_counted(instance: Flask, monkeypatch) -> None:
    client = _filled(instance)
    make_webhook(client, events=["*"])
    spoil(client, projects_active=50, history_bytes=1)
    compare = counters.wrong_counters

    def then_write(connection):
        found = list(compare(connection))
        make_project(client)
        return iter(found)

    with open_snapshot(url_of(instance)):  # a file of its log that stays, as a service has it
        monkeypatch.setattr(counters, "wrong_counters", then_write)
        corrected(instance)
    monkeypatch.undo()
    assert found(instance) == []
    assert client.get("/v1/projects").json["meta"]["total"] == 4
