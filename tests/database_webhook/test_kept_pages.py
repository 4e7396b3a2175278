"""Pages that are kept until a project changes, and changes with SQL."""

from __future__ import annotations

import pytest

from tests.database_webhook.reports import change, delete, report, sql
from tests.make import Client, make_project
from tests.ogc.reading import names

pytestmark = pytest.mark.both


@pytest.mark.parametrize("is_whole", [True, False])
def test_reported_changes_with_sql_are_seen(client: Client, is_whole: bool) -> None:
    project = make_project(client, name="Oak")
    assert names(client) == ["Oak"]
    report(client, change(client, "projects", project["id"], name="Yew"))
    assert names(client) == ["Yew"]
    body = delete(client, "projects", project["id"])
    if not is_whole:
        body["old_record"] = {"id": project["id"], "account_id": client.account_id}
        sql(client, "DELETE FROM events WHERE account_id = :id", id=client.account_id)
    report(client, body)
    assert names(client) == []


def test_a_row_that_was_moved_with_sql_is_seen_in_both_accounts(
    client: Client, stranger: Client
) -> None:
    project = make_project(client, name="Oak", external_id="1")
    assert (names(client), names(stranger)) == (["Oak"], [])
    report(client, change(client, "projects", project["id"], account_id=stranger.account_id))
    assert (names(client), names(stranger)) == ([], ["Oak"])
