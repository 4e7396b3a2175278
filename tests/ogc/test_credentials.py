"""How map programs send a key, and that it is written down nowhere."""

from __future__ import annotations

import base64
import logging
from typing import Any

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from tests.make import Client, make_key, make_project, make_service_token, sign_up, square

ITEMS = "/ogc/collections/projects/items"


def basic(user: str, password: str) -> dict[str, str]:
    pair = base64.b64encode(f"{user}:{password}".encode()).decode()
    return {"Authorization": f"Basic {pair}"}


def send(client: Client, path: str = "/ogc", **headers: str) -> TestResponse:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return client.app.test_client().get(path, headers=named)


def test_each_way_of_sending_a_key_works(client: Client) -> None:
    key = str(client.token)
    assert send(client, Authorization=f"Bearer {key}").status_code == 200
    assert send(client, X_Api_Key=key).status_code == 200
    assert send(client, f"/ogc?key={key}").status_code == 200
    assert send(client, f"{ITEMS}?limit=1&key={key}&f=json").status_code == 200
    assert send(client, f"/ogc?%6bey={key}").status_code == 200
    for user in ("", "any", "ümlaut", "a@b.c"):
        assert send(client, **basic(user, key)).status_code == 200
    assert send(client, **basic(key, "")).status_code == 200  # curl -u "$KEY:"


def test_service_tokens_work_from_their_addresses_only(client: Client) -> None:
    token = make_service_token(client, ip_allowlist=["192.0.2.1"]).token
    assert send(client, **basic("x", str(token))).status_code == 401


def test_without_a_valid_key_the_response_asks_for_one(client: Client) -> None:
    for headers in [
        {},
        {"Authorization": "Basic"},
        {"Authorization": "Basic ????"},
        {"Authorization": "Basic /////w=="},
        {"Authorization": "Basic bm9jb2xvbg=="},
        {"Authorization": "Digest x"},
        {"Authorization": "Bearer canopy_key_x"},
        {"X-Api-Key": ""},
        {"X-Api-Key": "canopy_key_x"},
        basic("canopy_key_x", ""),
        basic("", "canopy_key_x"),
    ]:
        for path in ("/ogc", ITEMS):
            response = client.app.test_client().get(path, headers=headers)
            assert response.status_code == 401
            challenge = response.headers["WWW-Authenticate"]
            assert challenge.startswith('Basic realm="canopy"')
            assert 'Bearer realm="canopy"' in challenge
            assert response.json is not None
            assert response.json["error"]["code"] == "UNAUTHORIZED"


def test_the_response_says_where_the_key_goes(client: Client, subtests: pytest.Subtests) -> None:
    for headers, told in (
        ({}, "as the password of HTTP Basic"),
        ({"Authorization": "Basic ????"}, "as the password of HTTP Basic"),
        ({"Authorization": f"Token {client.token}"}, "as the password of HTTP Basic"),
        (basic("ada@woods.example", "her password"), "begin with canopy_. Send an API key."),
        ({"X-Api-Key": "x"}, "begin with canopy_. Send an API key."),
        (basic("any", str(client.token)[:-1]), "Check that it was copied in full."),
    ):
        with subtests.test(str(headers)):
            response = client.app.test_client().get("/ogc/collections", headers=headers)
            assert told in response.json["error"]["message"]


def test_anyone_can_read_what_qgis_asks_for_without_the_key(client: Client) -> None:
    for path in ["conformance", "collections/projects/queryables"]:
        for f in ("json", "html"):
            assert client.app.test_client().get(f"/ogc/{path}?f={f}").status_code == 200


def test_what_is_named_most_clearly_counts(client: Client) -> None:
    """A proxy may have asked for a user name and a password of its own."""
    key = str(client.token)
    assert send(client, f"/ogc?key={key}", **basic("proxy", "secret")).status_code == 200
    assert send(client, X_Api_Key=key, **basic("proxy", "secret")).status_code == 200
    assert send(client, "/ogc?key=wrong", X_Api_Key=key).status_code == 401
    assert send(client, f"/ogc?key={key}&key={key}").status_code == 401


def test_these_ways_are_for_maps_alone(client: Client) -> None:
    key = str(client.token)
    assert send(client, "/v1/projects", X_Api_Key=key).status_code == 401
    assert send(client, "/v1/projects", **basic("x", key)).status_code == 401
    assert send(client, f"/v1/projects?key={key}").status_code == 401


def test_a_key_in_the_address_is_in_no_response(client: Client) -> None:
    for _ in range(2):
        make_project(client, geometry=square())
    key = str(client.token)
    for path in (
        "/ogc?", "/ogc?f=html&", "/ogc/api?", "/ogc/collections?", "/ogc/collections/projects?",
        f"{ITEMS}?limit=1&", f"{ITEMS}?limit=1&f=html&", f"{ITEMS}?bees=1&", f"{ITEMS}/x?",
        "/ogc/nothing?", f"{ITEMS}?filter=name&",
    ):  # fmt: skip
        for query in (f"key={key}", f"%6Bey={key}", f"key={key}&key={key}"):
            response = client.app.test_client().get(f"{path}{query}")
            whole = response.get_data(as_text=True) + str(response.headers)
            assert key not in whole, path
            assert "key=" not in whole, path
            assert response.headers["Referrer-Policy"] == "no-referrer"


def test_a_key_in_the_address_is_in_no_line_of_the_log(
    client: Client, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = str(client.token)
    caplog.set_level(logging.DEBUG)
    assert send(client, f"/ogc?key={key}").status_code == 200

    def fail(*_: Any) -> None:
        raise RuntimeError("provoked")

    monkeypatch.setattr("app.ogc.documents.landing_document", fail)
    assert send(client, f"/ogc?key={key}").status_code == 500
    assert caplog.records
    for line in caplog.records:
        assert key not in line.getMessage() + str(line.__dict__) + str(line.exc_text)


def test_who_is_signed_in_reads_the_pages_of_their_account(app: Flask) -> None:
    browser = sign_up(app, "gis@example.org", account="Maps")
    assert "Maps" in browser.get("/ogc").text
    page = browser.get("/ogc/collections/projects/items")
    assert page.status == 200
    assert "Jo Hazel" in page.text


def test_a_session_changes_nothing_here(app: Flask) -> None:
    browser = sign_up(app, "gis-post@example.org")
    response = browser.client.post(
        ITEMS, json={"type": "Feature", "geometry": None, "properties": {"name": "Forged"}}
    )
    assert response.status_code == 401
    response = browser.client.delete(f"{ITEMS}/proj_01k9zq3mgse2j7tbyw5c4r8nhd")
    assert response.status_code == 401


def test_a_wrong_key_is_not_made_good_by_a_session(app: Flask) -> None:
    browser = sign_up(app, "gis-wrong@example.org")
    assert browser.client.get("/ogc?key=wrong").status_code == 401


def test_the_use_of_a_key_is_recorded(client: Client) -> None:
    key = make_key(client, permissions=["projects:read"])
    assert send(client, X_Api_Key=str(key.token)).status_code == 200
    with client.app.app_context():
        from app.auth.tenant import rows_of
        from app.db.extensions import db
        from app.models import Credential

        rows = db.session.scalars(rows_of(client.account_id, Credential))
        used = {row.id: row.last_used_at for row in rows}
    assert used[str(key.credential_id)] is not None
