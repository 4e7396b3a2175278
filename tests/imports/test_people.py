"""In whose name an import writes."""

from __future__ import annotations

import pytest
from sqlalchemy import update

from app.db.extensions import db
from app.db.transactions import transaction
from app.models import Import
from tests.imports.making import act, projects, ready, work
from tests.make import Client, Member, events, make_member, square
from tests.make.features import feature


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


def test_the_step_that_an_earlier_version_began_names_the_creator(
    client: Client, member: Member
) -> None:
    record = ready(client, feature(square(), name="Alpine"))
    member.client.post(f"/v1/imports/{record['id']}/apply")
    with client.app.app_context(), transaction():
        own = update(Import).where(Import.id == record["id"])
        db.session.execute(own.values(acted_by=None, acted_by_email=None))
    work(client)
    made = projects(client)["Alpine"]
    (entry,) = client.get(f"/v1/projects/{made['id']}/boundaries").json["data"]
    assert entry["created_by"]["id"] == client.owner_id
