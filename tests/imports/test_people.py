"""In whose name an import writes, and through what."""

from __future__ import annotations

import pytest

from tests.imports.making import act, projects, ready
from tests.make import (
    Client,
    Member,
    bearer,
    events,
    grant_tokens,
    make_application,
    make_key,
    make_member,
    square,
)
from tests.make.audit import new_entries
from tests.make.features import feature

WRITTEN = {"apply": "created", "undo": "deleted"}  # what a step does, by how it is asked for


@pytest.fixture
def member(client: Client) -> Member:
    return make_member(client)


def test_whoever_applies_or_undoes_an_import_is_named(client: Client, member: Member) -> None:
    record = ready(client, feature(square(), name="Alpine"))
    act(member.client, record, "apply")
    made = projects(client)["Alpine"]
    (entry,) = client.get(f"/v1/projects/{made['id']}/boundaries").json["data"]
    assert entry["created_by"] == {"id": member.id, "email": member.email}
    assert act(client, record, "undo")["created_by"]["id"] == client.owner_id
    named = {
        event["type"]: event["data"].get("created_by") or event["data"].get("deleted_by")
        for event in events(client)
        if event["type"].startswith("project.")
    }
    assert named["project.created"] == {"id": member.id, "email": member.email}
    assert named["project.deleted"]["id"] == client.owner_id


def test_the_log_names_the_key_that_each_step_was_started_with(client: Client) -> None:
    """And not whoever made it."""
    record = ready(client, feature(square(), name="Alpine"))
    keys = make_key(client, name="Demo key"), make_key(client, name="Other key")
    for action, key in zip(("apply", "undo"), keys, strict=True):
        with new_entries(client) as found:
            act(key, record, action)
        started, written = found
        assert written["action"] == f"project.{WRITTEN[action]}"
        assert written["actor"] == started["actor"]
        assert written["actor"]["type"] == "api_key"
        assert written["actor"]["id"] == key.credential_id
        assert written["via"]["credential"] == started["via"]["credential"]
        assert written["via"]["import_id"] == record["id"]


def test_the_log_names_the_application_that_a_step_was_started_with(client: Client) -> None:
    record = ready(client, feature(square(), name="Alpine"))
    application = make_application(client, name="Forest App")
    scopes = ("projects:read", "projects:write")
    answer = grant_tokens(client.app, application, client.owner_id, client.account_id, scopes)
    with new_entries(client) as found:
        act(bearer(client, answer["access_token"]), record, "apply")
    started, written = found
    assert written["actor"] == started["actor"]
    assert written["actor"]["id"] == client.owner_id
    assert written["via"]["application"] == {"id": application.id, "label": "Forest App"}
