"""What is deleted by age, and what stays."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from flask import Flask

from app.audit.log import jobs, retention
from app.audit.log.filters import EntryQuery
from app.audit.log.listing import list_entries
from app.db.transactions import transaction
from app.values import clock
from config import SettingsError, load_settings
from tests.audit.log.logs import PATH, checkpoints, prune, seal, sealed_log, sql, write
from tests.make import Client, make_account
from tests.make.together import together


def run_for(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the job for one account: that of other tests may have expired as well."""
    with monkeypatch.context() as patch, client.app.app_context():
        patch.setattr(jobs, "accounts_with_expired", lambda: [client.account_id])
        jobs.prune_audit_log()


def test_whole_batches_are_deleted_and_their_checkpoints_stay(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = sealed_log(client, monkeypatch)
    before = checkpoints(client)
    prune(client, monkeypatch, [1, 2])
    rows = checkpoints(client)
    assert [row.entry_hashes is None for row in rows] == [True, True, False, False]
    assert [row.hash for row in rows] == [row.hash for row in before]
    listed = [entry["id"] for entry in client.get(f"{PATH}?target_id=p0").json["data"]]
    assert listed == [made[10], made[5]]


def test_the_number_of_entries_is_of_those_that_are_left(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    sealed_log(client, monkeypatch)
    write(client)
    for deleted in ([1, 2], [3, 4]):  # what tells of it waits to be sealed
        prune(client, monkeypatch, deleted)
        page = client.get(f"{PATH}?per_page=100").json
        assert page["meta"]["total"] == len(page["data"])


def test_one_entry_tells_of_several_batches(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    sealed_log(client, monkeypatch)
    last = checkpoints(client)[-1].last
    settings = replace(client.app.config["SETTINGS"], audit_days=-1)
    with monkeypatch.context() as patch, client.app.app_context():
        patch.setitem(client.app.config, "SETTINGS", settings)
        with transaction():
            assert retention.delete_oldest(client.account_id) == last
    (entry,) = client.get(f"{PATH}?action=audit_log.pruned").json["data"]
    assert entry["changes"]["first_number"] == {"from": 1, "to": last + 1}


def test_only_what_is_older_than_the_setting_expires(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    sealed_log(client, monkeypatch)

    def expired() -> bool:
        with client.app.app_context():
            return client.account_id in retention.accounts_with_expired()

    assert not expired()
    days = client.app.config["SETTINGS"].audit_days
    moment = clock.now() + timedelta(days=days, seconds=-5)
    with monkeypatch.context() as patch:
        patch.setattr(clock, "now", lambda: moment)
        assert not expired()
        run_for(client, monkeypatch)
        assert all(row.entry_hashes for row in checkpoints(client))
        moment += timedelta(minutes=1)
        assert expired()
        run_for(client, monkeypatch)
    assert not any(row.entry_hashes for row in checkpoints(client))


def test_nothing_is_deleted_without_its_entry(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = sealed_log(client, monkeypatch)

    def fail(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(retention, "write_entry", fail)
        with pytest.raises(KeyboardInterrupt):
            prune(client, monkeypatch, [1, 2])
    assert all(row.entry_hashes for row in checkpoints(client))
    assert client.get(f"{PATH}/{made[0]}").status_code == 200


def test_two_jobs_at_once_delete_each_batch_once(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    sealed_log(client, monkeypatch)
    days = client.app.config["SETTINGS"].audit_days + 1
    moment = clock.now() + timedelta(days=days)
    monkeypatch.setattr(clock, "now", lambda: moment)
    monkeypatch.setattr(jobs, "accounts_with_expired", lambda: [client.account_id])

    def run() -> None:
        with client.app.app_context():
            jobs.prune_audit_log()

    together(run, run)
    with client.app.app_context():
        _, total = list_entries(client.account_id, EntryQuery(action="audit_log.pruned"))
    assert total == 1
    assert not any(row.entry_hashes for row in checkpoints(client))


def test_a_batch_after_one_that_has_not_expired_is_kept(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The clock was set back between the two."""
    later = clock.now() + timedelta(days=10)
    with monkeypatch.context() as patch:
        patch.setattr(clock, "now", lambda: later)
        sealed_log(client, monkeypatch, batches=1)
    write(client)
    seal(client, monkeypatch)
    moment = clock.now() + timedelta(days=client.app.config["SETTINGS"].audit_days + 1)
    with monkeypatch.context() as patch:
        patch.setattr(clock, "now", lambda: moment)
        run_for(client, monkeypatch)
    assert all(row.entry_hashes for row in checkpoints(client))


@pytest.mark.both
def test_the_log_of_a_deleted_account_is_deleted_by_age_too(
    app: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = make_account(app)
    sealed_log(client, monkeypatch, batches=1)
    sql(client, "DELETE FROM accounts WHERE id = :account")
    try:
        prune(client, monkeypatch, [1])
        assert checkpoints(client)[0].entry_hashes is None
    finally:
        for table in ("audit_entries", "audit_checkpoints"):
            sql(client, f"DELETE FROM {table} WHERE account_id = :account")


def test_a_wrong_number_of_days_is_refused(tmp_path: object) -> None:
    for days in ["0", "-1", "ever"]:
        with pytest.raises(SettingsError, match="AUDIT_DAYS"):
            load_settings({"AUDIT_DAYS": days, "INSTANCE_PATH": str(tmp_path)})
