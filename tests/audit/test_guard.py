"""No change is committed without its entry, and no entry without its change."""

from __future__ import annotations

from typing import Any

import pytest

from app.audit.entries import write_entry
from app.audit.guard import MissingEntry, covered_by_other_entry
from app.audit.origin import Actor, Via, acting_as
from app.audit.targets import Target
from app.auth.tenant import rows_of
from app.db.extensions import db
from app.db.transactions import transaction
from app.models import Account, Project, Webhook
from tests.make import Client, make_project, make_webhook
from tests.make.audit import audit_entries, new_entries

OPERATOR = Actor("operator", None, "root")


def _archive(client: Client, project_id: str) -> None:
    own = rows_of(client.account_id, Project).where(Project.id == project_id)
    db.session.scalars(own).one().status = "archived"


@pytest.mark.both
def test_a_change_without_an_entry_is_not_committed(client: Client) -> None:
    project = make_project(client)
    with (
        client.app.app_context(),
        acting_as(OPERATOR, Via()),
        pytest.raises(MissingEntry),
        transaction(),
    ):
        _archive(client, project["id"])
    assert client.get(f"/v1/projects/{project['id']}").json["data"]["status"] == "active"


def test_a_change_with_an_entry_is_committed(client: Client) -> None:
    project = make_project(client)
    with client.app.app_context(), acting_as(OPERATOR, Via()), transaction():
        _archive(client, project["id"])
        target = Target("project", project["id"], project["name"])
        write_entry("project.archived", target, account_id=client.account_id)
    assert client.get(f"/v1/projects/{project['id']}").json["data"]["status"] == "archived"
    last = audit_entries(client)[-1]
    assert last["action"] == "project.archived"
    assert last["actor"] == {"type": "operator", "id": None, "label": "root"}


def test_an_entry_of_an_earlier_transaction_does_not_count(client: Client) -> None:
    project = make_project(client)
    with client.app.app_context(), acting_as(OPERATOR, Via()):
        with transaction():
            target = Target("project", project["id"], project["name"])
            write_entry("project.archived", target, account_id=client.account_id)
        with pytest.raises(MissingEntry), transaction():
            _archive(client, project["id"])


def test_what_is_rolled_back_leaves_neither(client: Client) -> None:
    project = make_project(client)
    with new_entries(client) as found:
        with client.app.app_context():
            _archive(client, project["id"])
            target = Target("project", project["id"], project["name"])
            write_entry("project.archived", target, account_id=client.account_id)
            db.session.flush()
        assert client.get(f"/v1/projects/{project['id']}").json["data"]["status"] == "active"
    assert found == []


def test_an_entry_that_was_rolled_back_to_a_savepoint_does_not_count(client: Client) -> None:
    project = make_project(client)
    with client.app.app_context(), acting_as(OPERATOR, Via()):
        savepoint = db.session.begin_nested()
        target = Target("project", project["id"], project["name"])
        write_entry("project.archived", target, account_id=client.account_id)
        savepoint.rollback()
        _archive(client, project["id"])
        with pytest.raises(MissingEntry):
            db.session.commit()


def test_a_change_that_was_rolled_back_to_a_savepoint_needs_no_entry(client: Client) -> None:
    project = make_project(client)
    with client.app.app_context(), acting_as(OPERATOR, Via()), transaction():
        savepoint = db.session.begin_nested()
        _archive(client, project["id"])
        db.session.flush()
        savepoint.rollback()
    assert client.get(f"/v1/projects/{project['id']}").json["data"]["status"] == "active"


def test_a_change_in_a_savepoint_needs_an_entry(client: Client) -> None:
    project = make_project(client)
    with client.app.app_context(), acting_as(OPERATOR, Via()):
        with db.session.begin_nested():
            _archive(client, project["id"])
        with pytest.raises(MissingEntry):
            db.session.commit()


def test_a_part_of_another_entry_needs_none(client: Client) -> None:
    project = make_project(client)
    with client.app.app_context(), acting_as(OPERATOR, Via()), transaction():
        _archive(client, project["id"])
        covered_by_other_entry("a test")
    assert client.get(f"/v1/projects/{project['id']}").json["data"]["status"] == "archived"


def test_what_nobody_does_needs_none(client: Client) -> None:
    """The health of a webhook, counters, and all else that is not listed."""
    made = make_webhook(client)
    with client.app.app_context(), acting_as(OPERATOR, Via()), transaction():
        own = rows_of(client.account_id, Webhook).where(Webhook.id == made["id"])
        db.session.scalars(own).one().consecutive_failures = 3


def test_columns_that_are_listed_need_one(client: Client) -> None:
    for column, value in [("name", "Other"), ("plan", "pro")]:
        with (
            client.app.app_context(),
            acting_as(OPERATOR, Via()),
            pytest.raises(MissingEntry),
            transaction(),
        ):
            setattr(db.session.get_one(Account, client.account_id), column, value)


def test_an_unknown_action_is_an_error(client: Client) -> None:
    target: Any = Target("project", None, "x")
    with client.app.app_context(), pytest.raises(KeyError), transaction():
        write_entry("project.painted", target, account_id=client.account_id)
