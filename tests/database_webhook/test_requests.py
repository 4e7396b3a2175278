"""Reports that are rejected or ignored, whatever row they are about."""

from __future__ import annotations

import json
from typing import Any

import pytest
from flask import Flask
from hypothesis import given
from hypothesis import strategies as st

from app.security.signatures import signature_header
from app.values.ids import new_id
from tests.database_webhook.reports import (
    SECRET,
    WEBHOOK,
    boundary,
    change,
    delete,
    report,
    report_of,
    row_of,
    sql,
)
from tests.make import Client, event_types, events, make_account, make_asset, make_project
from tests.make.properties import examples
from tests.make.signed import post, result


@pytest.fixture
def project(client: Client) -> dict[str, Any]:
    return make_project(client, name="Wald")


# The signature


def test_a_signature_that_is_missing_or_wrong(client: Client, project: dict[str, Any]) -> None:
    body = json.dumps(change(client, "projects", project["id"], name="Other")).encode()
    for headers in ({}, {"X-Service-Signature": signature_header(SECRET, b"another body")}):
        response = post(client, WEBHOOK, body, headers)
        assert response.status_code == 401
        assert response.json["error"]["code"] == "UNAUTHORIZED"
    assert event_types(client) == ["project.created"]


def test_the_signature_is_checked_before_the_json(client: Client) -> None:
    assert report(client, b"{no json", secret="another").status_code == 401
    assert report(client, b"{no json").status_code == 400


@pytest.mark.provokes(503)
def test_without_a_secret_the_route_is_closed(app: Flask) -> None:
    response = report(make_account(app), {})
    assert response.status_code == 503
    assert "DB_WEBHOOK_SECRET" in response.json["error"]["message"]


# The body


def test_a_body_of_another_form(client: Client) -> None:
    for body, field in [
        ({}, "type"),
        ({"type": "TRUNCATE", "table": "projects"}, "type"),
        ({"type": "UPDATE", "table": 5}, "table"),
        ({"type": "UPDATE", "table": "projects", "record": []}, "record"),
        ({"type": "UPDATE", "table": "projects", "old_record": "x"}, "old_record"),
    ]:
        response = report(client, body)
        assert response.status_code == 422
        assert field in [detail["field"] for detail in response.json["error"]["details"]]


# What is ignored


def test_another_table(client: Client, project: dict[str, Any]) -> None:
    row = change(client, "projects", project["id"], name="Other")["record"]
    for kind, table in (("INSERT", "accounts"), ("UPDATE", "Projects"), ("DELETE", "")):
        assert result(report(client, report_of(kind, table, row, row))) == "ignored"
    assert event_types(client) == ["project.created"]


@pytest.mark.both
def test_an_id_that_is_none_of_a_project(client: Client) -> None:
    for kind in ("INSERT", "UPDATE", "DELETE"):
        for row_id in (None, 5, [], "proj_\x00", "asset_" + "0" * 26, new_id("project")):
            row = {"id": row_id, "account_id": client.account_id}
            assert result(report(client, report_of(kind, "projects", row, row))) == "ignored"
        assert result(report(client, report_of(kind, "projects", None, None))) == "ignored"
    assert events(client) == []


def test_a_deletion_of_a_row_that_is_there(client: Client, project: dict[str, Any]) -> None:
    row = row_of(client, "projects", project["id"])
    assert result(report(client, report_of("DELETE", "projects", None, row))) == "ignored"
    assert event_types(client) == ["project.created"]


@pytest.mark.both
def test_a_deleted_row_of_no_account(client: Client, project: dict[str, Any]) -> None:
    body = delete(client, "projects", project["id"])
    for account_id in (None, 5, "acct_\x00", "acct_" + "0" * 26):
        body["old_record"]["account_id"] = account_id
        assert result(report(client, body)) == "ignored"


def test_a_row_of_an_account_without_an_owner(client: Client, project: dict[str, Any]) -> None:
    body = change(client, "projects", project["id"], name="Other")
    own = "DELETE FROM memberships WHERE account_id = :account"
    sql(client, own, account=client.account_id)
    assert result(report(client, body)) == "ignored"


# What is reported


def test_records_of_which_parts_are_reported(client: Client, project: dict[str, Any]) -> None:
    change(client, "projects", project["id"], name="Other")
    body = {"type": "UPDATE", "table": "projects", "record": {"id": project["id"]}}
    assert result(report(client, body)) == "applied"
    assert set(events(client)[-1]["data"]["changes"]) == {"name"}


def test_values_that_are_reported_are_not_believed(client: Client, project: dict[str, Any]) -> None:
    row = row_of(client, "projects", project["id"])
    wrong = row | {"name": "Wrong", "account_id": new_id("account"), "geometry": boundary(0.5)}
    assert result(report(client, report_of("UPDATE", "projects", wrong, row))) == "ignored"
    assert client.get(f"/v1/projects/{project['id']}").json["data"] == project


_COLUMNS = (
    *("project_id", "name", "slug", "description", "type", "status", "geometry", "location"),
    *("metadata", "area_m2", "created_at", "updated_at"),
)
_VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=20),
    st.sampled_from(["2026-01-01", "0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59"]),
    st.sampled_from(["{}", "[", '{"type":"Point","coordinates":[0,0]}', "null", "[[[[]]]]"]),
    st.lists(st.none(), max_size=2),
    st.dictionaries(st.text("ab", max_size=2), st.none(), max_size=2),
)


@pytest.mark.slow
@given(
    st.sampled_from(["INSERT", "UPDATE", "DELETE"]),
    st.sampled_from(["projects", "assets"]),
    st.dictionaries(st.sampled_from(_COLUMNS), _VALUES, max_size=2),
    st.dictionaries(st.sampled_from(_COLUMNS), _VALUES, max_size=2),
    st.sets(st.sampled_from(["deleted", "forgotten"])),
)
@examples(25)
def test_any_report_is_applied_or_ignored(
    open_app: Flask, kind: str, table: str, record: Any, old_record: Any, state: set[str]
) -> None:
    client = make_account(open_app)
    project_id = make_project(client)["id"]
    row_id = project_id if table == "projects" else make_asset(client, project_id)["id"]
    row = row_of(client, table, row_id)
    if "deleted" in state:
        delete(client, table, row_id)
    if "forgotten" in state:
        sql(client, "DELETE FROM events WHERE account_id = :own", own=client.account_id)
    known = event_types(client)
    outcome = result(report(client, report_of(kind, table, row | record, row | old_record)))
    if outcome == "ignored":
        assert event_types(client) == known
    assert client.get("/v1/projects").status_code == 200
