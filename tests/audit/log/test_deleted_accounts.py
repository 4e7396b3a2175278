"""What is entered for an account that is deleted meanwhile goes too."""

from __future__ import annotations

from collections import deque
from concurrent.futures import ThreadPoolExecutor

import pytest
from flask import Flask

from app.account.deletion.contents import delete_account
from app.audit.log import jobs
from app.db.transactions import transaction
from app.policy.audit import INSTANCE
from tests.audit.log.logs import checkpoints, seal, seal_log, write
from tests.make import Client, make_project
from tests.make.audit import audit_entries
from tests.make.together import until_it_waits


def delete(client: Client) -> None:
    """Delete the account at once."""
    with client.app.app_context(), transaction():
        deque(delete_account(client.account_id), maxlen=0)


@pytest.mark.both
def test_an_entry_of_a_request_that_was_under_way(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    delete(client)
    write(client)
    assert len(audit_entries(client)) == 1
    with client.app.app_context():
        assert client.account_id in jobs.accounts_with_unsealed_entries()
    seal(client, monkeypatch)
    assert audit_entries(client) == []
    assert checkpoints(client) == []


def test_the_log_of_the_instance_stays(
    app: Flask, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    delete(client)
    before = audit_entries(client, INSTANCE)
    seal_log(app, INSTANCE, monkeypatch)
    assert audit_entries(client, INSTANCE) == before
    # Not the last one if a test before had moved its clock on.
    assert client.account_id in [entry["target"]["id"] for entry in before]


@pytest.mark.both
def test_sealing_waits_for_a_deletion_that_ends(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    if client.app.config["SETTINGS"].uses_sqlite:
        pytest.skip("one writer at a time")
    make_project(client)
    seal(client, monkeypatch)
    with client.app.app_context(), ThreadPoolExecutor(2) as pool:
        with transaction():
            deque(delete_account(client.account_id), maxlen=0)
            pool.submit(write, client).result(timeout=60)
            sealing = pool.submit(seal, client, monkeypatch)
            until_it_waits(sealing)
        sealing.result(timeout=60)
    assert audit_entries(client) == []
    assert checkpoints(client) == []
