"""Concurrent changes to members and to other parts of the account."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import Any

import pytest

from app.account.members.locking import begin_change
from tests.make import (
    Client,
    event_types,
    make_key,
    make_member,
    make_project,
    new_email,
    operator_of,
    put_on,
    square,
    together,
)

PATH = "/v1/account/members"
_names = itertools.count(1)


@pytest.mark.slow
@pytest.mark.both
def test_concurrent_changes_of_an_account_do_not_deadlock(client: Client) -> None:
    """No deadlock: no change gets 503."""
    removed = [make_member(client, "owner").id for _ in range(4)]
    changed = [make_member(client, "viewer").id for _ in range(4)]
    plans = ["enterprise", "pro"] * 2
    calls: list[Any] = []
    for gone, member, plan in zip(removed, changed, plans, strict=True):
        calls += [
            lambda gone=gone: client.delete(f"{PATH}/{gone}").status_code,
            lambda member=member: _put(client, f"{PATH}/{member}", {"role": "admin"}),
            lambda: _post(client, f"{PATH}/invite", {"email": new_email(), "role": "editor"}),
            lambda: _post(client, "/v1/projects", {"name": _name(), "geometry": square()}),
            lambda plan=plan: put_on(client, plan),
            lambda: _put(client, "/v1/account", {"name": _name()}),
        ]
    statuses = Counter(together(*calls))
    assert statuses == {204: 4, 200: 8, None: 4, 201: 8}
    usage = client.get("/v1/account").json["data"]["usage"]
    assert (usage["members"], usage["projects"]) == (1 + 4 + 4, 4)
    assert client.get(PATH).json["meta"]["total"] == usage["members"]


def _name() -> str:
    return f"Forest {next(_names)}"


def _post(client: Client, path: str, body: Any) -> int:
    return client.post(path, json=body).status_code


def _put(client: Client, path: str, body: Any) -> int:
    return client.put(path, json=body).status_code


@pytest.mark.both
def test_on_postgresql_events_of_other_changes_do_not_wait(client: Client) -> None:
    """Events have a foreign key to the account's row, which a change of members has locked."""
    if client.app.config["SETTINGS"].uses_sqlite:
        pytest.skip("one writer at a time")
    with client.app.app_context():
        begin_change(operator_of(client))
        make_project(make_key(client))
    assert event_types(client) == ["project.created"]
