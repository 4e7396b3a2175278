"""Accounts take turns: none waits for all that another one has uploaded."""

from __future__ import annotations

import io
import time
import zipfile
from concurrent.futures import ThreadPoolExecutor

import pytest
from flask import Flask
from sqlalchemy import update

from app.db.extensions import db
from app.db.transactions import transaction
from app.imports import applying, jobs, leases, preview, steps
from app.imports.features.candidates import Candidate
from app.imports.features.decisions import Decision
from app.imports.features.project_matching import ProjectMatcher
from app.imports.features.reader_program import ReadLimits
from app.imports.leases import lease_next
from app.models import Import
from app.policy.imports import BATCH_FEATURES, UNFINISHED_IMPORTS, WORKING
from tests.formats.readers.shapefiles import SQUARE, dbf, moved, parts, shp
from tests.imports.making import act, read, ready, upload, work
from tests.make import Client, make_account, square
from tests.make.features import collection, feature
from tests.waiting import PATIENCE

RECORDS = 6  # of half a second each
ONE = collection(feature(square(), name="Alpine"))


@pytest.fixture(autouse=True)
def _nothing_waits(app: Flask) -> None:
    """What other tests have left has ended, even if somebody still has a lease of it."""
    ended = {"status": "canceled", "lease": None, "leased_until": None}
    with app.app_context(), transaction():
        db.session.execute(update(Import).where(Import.status.in_(WORKING)).values(ended))


@pytest.fixture
def other(app: Flask) -> Client:
    return make_account(app)


def slow_file() -> bytes:
    """A small file of records of 9,000 rings, each within the one before: finding that out takes
    long."""
    rings = [moved(SQUARE, n / 2048, 1 - n / 10_240) for n in range(9_000)]
    record = b" Nested  "
    with io.BytesIO() as content:
        with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as file:
            file.writestr("a.shp", shp(*[parts(*rings)] * RECORDS))
            file.writestr("a.dbf", dbf([(b"name", "C", 8, 0)], *[record] * RECORDS))
        return content.getvalue()


def turns(client: Client, number: int) -> list[str]:
    """The accounts whose turn is next, each for an import."""
    found = []
    with client.app.app_context():
        for _ in range(number):
            with transaction():
                leased = lease_next()
                assert leased is not None
                leases.end_step(leases.lock_leased(leased), "ready")
            found.append(leased.account_id)
    return found


@pytest.mark.both
def test_accounts_take_turns(client: Client, other: Client) -> None:
    for _ in range(3):
        upload(client, ONE)
    upload(other, ONE)
    upload(other, ONE)
    one, two = client.account_id, other.account_id
    assert turns(client, 5) == [one, two, one, two, one]


def test_a_newcomer_is_next(app: Flask, client: Client, other: Client) -> None:
    for each in (client, other):
        for _ in range(3):
            upload(each, ONE)
    turns(client, 2)
    newcomer = make_account(app)
    upload(newcomer, ONE)
    assert turns(client, 1) == [newcomer.account_id]


def test_a_change_of_an_import_is_no_way_to_the_front(client: Client, other: Client) -> None:
    record = ready(client, feature(square(), name="Alpine"))
    client.put(f"/v1/imports/{record['id']}", json={"match": "none"})
    upload(other, ONE)
    assert turns(client, 1) == [other.account_id]


@pytest.mark.both
def test_one_import_of_an_account_is_worked_on_at_a_time(client: Client, other: Client) -> None:
    upload(client, ONE)
    upload(client, ONE)
    with client.app.app_context(), transaction():
        assert lease_next() is not None
        assert lease_next() is None
        upload(other, ONE)
        found = lease_next(is_brief=True)
    assert found is not None
    assert found.account_id == other.account_id


def test_no_second_thread_takes_an_import_whose_lease_has_ended(
    client: Client, other: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another account's may have their turn."""
    monkeypatch.setattr(leases, "LEASE_SECONDS", 0)
    decide, next_ones = ProjectMatcher.decide, []

    def decide_long(self: ProjectMatcher, item: Candidate) -> Decision:
        next_ones.append(jobs._lease_import(float("inf"), is_brief=True))
        upload(other, ONE)
        next_ones.append(jobs._lease_import(float("inf"), is_brief=True))
        return decide(self, item)

    import_id = upload(client, ONE).json["data"]["id"]
    with client.app.app_context():
        leased = jobs._lease_import(float("inf"))
        assert leased is not None
        with monkeypatch.context() as patch:
            patch.setattr(ProjectMatcher, "decide", decide_long)
            jobs._run_import(leased)
    assert [one and one.account_id for one in next_ones] == [None, other.account_id]
    assert read(client, import_id)["status"] == "ready"


@pytest.mark.slow
def test_a_small_file_is_read_beside_the_slowest_ones(
    app: Flask, client: Client, other: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A brief turn for a file of the second account ends before its file is read."""
    monkeypatch.setattr(preview, "BRIEF_LIMITS", ReadLimits(1, 100 << 20, PATIENCE))
    monkeypatch.setattr(jobs, "LOOK_SECONDS", 0.05)
    newcomer, content = make_account(app), slow_file()
    uploads = [(each, upload(each, content, crs="EPSG:4326")) for each in (client, other) * 2]
    slow = [(each, response.json["data"]["id"]) for each, response in uploads]
    small = upload(newcomer, ONE).json["data"]["id"]
    with ThreadPoolExecutor(1) as pool:
        working = pool.submit(work, client)
        try:
            while read(newcomer, small)["status"] != "ready":
                assert not working.done()
                time.sleep(0.5)  # fewer requests than its plan allows
            assert [read(each, id_)["status"] for each, id_ in slow] == ["reading"] * 4
        finally:
            for each, id_ in slow:
                each.post(f"/v1/imports/{id_}/cancel")
        working.result(PATIENCE)


def test_a_file_that_is_too_long_for_a_brief_turn_gets_another_one(
    client: Client, other: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(preview, "BRIEF_LIMITS", ReadLimits(1, 100 << 20, -1.0))
    import_id = upload(client, ONE).json["data"]["id"]
    with client.app.app_context():
        with transaction():
            leased = lease_next(is_brief=True)
        assert leased is not None
        steps.run_step(leased, transaction)
        with transaction():
            assert lease_next(is_brief=True) is None
    assert read(client, import_id)["status"] == "reading"
    work(client)
    assert read(client, import_id)["status"] == "ready"


@pytest.mark.parametrize("action", ["apply", "undo"])
def test_what_is_written_is_continued_after_a_turn_of_another_account(
    client: Client, other: Client, monkeypatch: pytest.MonkeyPatch, action: str
) -> None:
    features = [feature(square(n / 9, 0, 0.1), name=f"P{n}") for n in range(2 * BATCH_FEATURES + 1)]
    record = ready(client, *features)
    if action == "undo":
        act(client, record, "apply")
    monkeypatch.setattr(steps, "TURN_SECONDS", 0.0)
    monkeypatch.setattr(applying, "BATCH_SECONDS", PATIENCE)
    client.post(f"/v1/imports/{record['id']}/{action}")
    with client.app.app_context():
        for status in ("reading", "ready"):
            with transaction():
                leased = lease_next()
            assert leased is not None
            if status == "reading":
                newcomer = upload(other, ONE).json["data"]["id"]
            steps.run_step(leased, transaction)
            assert read(other, newcomer)["status"] == status
            assert read(client, record["id"])["progress"]["done"] == BATCH_FEATURES
    work(client)
    assert read(client, record["id"])["status"] == {"apply": "applied", "undo": "undone"}[action]
    total = client.get("/v1/projects?per_page=1").json["meta"]["total"]
    assert total == {"apply": len(features), "undo": 0}[action]


def test_a_first_file_is_never_refused_because_of_others(client: Client, other: Client) -> None:
    for _ in range(UNFINISHED_IMPORTS):
        assert upload(client, ONE).status_code == 202
    assert upload(client, ONE).status_code == 409
    assert upload(other, ONE).status_code == 202
