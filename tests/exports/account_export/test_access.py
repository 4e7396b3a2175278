"""Who gets an archive, and when."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from app.downloads import responses
from app.exports.account_export import contents
from tests.exports.account_export.archives import PATH, archive_of
from tests.make import Client, make_key, make_member, make_project, make_service_token
from tests.make.audit import new_entries


def test_it_needs_admin(client: Client) -> None:
    for role in ("viewer", "editor"):
        assert make_member(client, role).client.get(PATH).status_code == 403
    assert archive_of(make_member(client, "admin").client).names
    others = make_key(client, permissions=["projects:write", "members:write", "billing:read"])
    assert others.get(PATH).status_code == 403


def test_a_credential_that_is_limited_to_projects_gets_none(client: Client) -> None:
    project = make_project(client)["id"]
    for make in (make_key, make_service_token):
        limited = make(client, permissions=["projects:read"], project_ids=[project])
        assert limited.get(PATH).status_code == 403


def test_a_token_is_accepted_from_its_addresses_only(client: Client) -> None:
    token = make_service_token(client, ip_allowlist=["192.0.2.0/24"])
    assert token.get(PATH, environ_base={"REMOTE_ADDR": "192.0.2.7"}).status_code == 200
    assert token.get(PATH, environ_base={"REMOTE_ADDR": "198.51.100.7"}).status_code == 401


def test_the_response(client: Client) -> None:
    headers = client.get(PATH, headers={"Accept-Encoding": "gzip"}).headers
    slug = client.get("/v1/account").json["data"]["slug"]
    name = f"{slug}-{datetime.now(UTC).date()}.zip"
    assert headers["Content-Disposition"] == f'attachment; filename="{name}"'
    assert headers["Content-Type"] == "application/octet-stream"
    assert headers["Cache-Control"] == "private, no-cache"
    assert "Content-Encoding" not in headers


def test_a_parameter_is_refused_before_anything_is_entered(client: Client) -> None:
    with new_entries(client) as found:
        assert client.get(f"{PATH}?format=csv").status_code == 400
    assert found == []
    assert not responses._running


@pytest.mark.provokes(503)
def test_nothing_is_entered_while_another_export_runs(client: Client) -> None:
    with new_entries(client) as found, responses.export_slot(client.account_id, 4):
        assert client.get(PATH).status_code == 503
    assert found == []


@pytest.mark.provokes(500)
def test_a_failure_gives_the_slot_back(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: Any) -> Any:
        raise RuntimeError("a defect")

    with monkeypatch.context() as patch:
        patch.setitem(contents.CONTENTS, "members.json", contents.json_object(fail))
        assert client.get(PATH).status_code == 500
    assert not responses._running
    assert archive_of(client).names
