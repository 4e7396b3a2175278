"""What somebody does to a log with SQL, and what verification says of it.

Without anything kept, and with checkpoints, the public key and ``AUDIT_DAYS`` that were kept
elsewhere. The table in ``docs/audit-log.md`` says the same.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any, NamedTuple

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from sqlalchemy import text

from app.audit.log import keys, retention
from app.audit.log.service import verify_account
from app.audit.proof import checkpoint as proof
from app.audit.proof.checkpoint import Checkpoint
from app.audit.proof.verification import Verifier
from app.db.extensions import db
from app.db.transactions import transaction
from app.values import clock
from tests.audit.log.logs import checkpoints, exported, kinds, points, seal, sealed_log, sql, write
from tests.audit.log.test_documented_verifier import key_of
from tests.make import Client

OWN = "WHERE account_id = :account AND"
BODY = "UPDATE audit_entries SET body = replace(body, 'Hood', 'Mood')"


class Log(NamedTuple):
    """A log of four batches, the last three of five entries each."""

    client: Client
    monkeypatch: pytest.MonkeyPatch
    made: list[str]  # ids of the fifteen entries
    first: int  # number of the first of them

    def sql(self, statement: str, **values: Any) -> None:
        sql(self.client, statement, **values)


@pytest.fixture
def log(client: Client, monkeypatch: pytest.MonkeyPatch) -> Log:
    made = sealed_log(client, monkeypatch)
    return Log(client, monkeypatch, made, checkpoints(client)[1].first)


def change(log: Log) -> None:
    log.sql(f"{BODY} WHERE id = :id", id=log.made[6])


def change_to_no_entry(log: Log) -> None:
    log.sql(f"UPDATE audit_entries SET body = 'x' {OWN} id = :id", id=log.made[6])


def change_to_the_end_of_a_file(log: Log) -> None:
    end = '{"end":{"checkpoints":4,"entries":18}}'
    log.sql(f"UPDATE audit_entries SET body = :end {OWN} id = :id", end=end, id=log.made[6])


def remove(log: Log) -> None:
    log.sql("DELETE FROM audit_entries WHERE id = :id", id=log.made[7])


def remove_by_unsealing(log: Log) -> None:
    log.sql(f"UPDATE audit_entries SET number = NULL {OWN} id = :id", id=log.made[7])


def insert(log: Log) -> None:
    """In place of another, which is sealed again with the next batch."""
    number = log.first + 7
    log.sql(f"UPDATE audit_entries SET number = NULL {OWN} number = :n", n=number)
    names = "account_id, action, actor_id, target_id"
    log.sql(
        f"INSERT INTO audit_entries (id, {names}, body, number) SELECT 'aud_new', {names}, "
        f"replace(body, id, 'aud_new'), {number} FROM audit_entries {OWN} id = :id",
        id=log.made[0],
    )


def reorder(log: Log) -> None:
    for number, other in ((1, -1), (3, 1), (-1, 3)):
        other_number = other + log.first if other > 0 else other
        log.sql(
            f"UPDATE audit_entries SET number = :other {OWN} number = :number",
            number=number + log.first if number > 0 else number,
            other=other_number,
        )


def change_a_checkpoint(log: Log) -> None:
    """With its entries and its hash, so that only the signature and the next one tell."""
    change(log)
    _seal_anew(log, points(log.client)[2], key=None)


def remove_a_checkpoint(log: Log) -> None:
    log.sql(f"DELETE FROM audit_checkpoints {OWN} number = 2")


def remove_the_end(log: Log) -> None:
    log.sql(f"DELETE FROM audit_checkpoints {OWN} number = 4")
    log.sql(f"DELETE FROM audit_entries {OWN} number >= :n", n=log.first + 10)


def unseal_all(log: Log) -> None:
    log.sql("DELETE FROM audit_checkpoints WHERE account_id = :account")
    log.sql("UPDATE audit_entries SET number = NULL WHERE account_id = :account")


def have_it_deleted(log: Log) -> None:
    """By making a batch look old. The service deletes it and records that."""
    past = clock.now() - timedelta(days=2_000)
    with log.client.app.app_context(), transaction():
        sqlite = log.client.app.config["SETTINGS"].uses_sqlite
        values = {"at": clock.format_time(past) if sqlite else past, "a": log.client.account_id}
        old = "UPDATE audit_checkpoints SET sealed_at = :at WHERE account_id = :a AND number <= 2"
        db.session.execute(text(old), values)
        assert retention.delete_oldest(log.client.account_id)
    seal(log.client, log.monkeypatch)


def delete_as_if_by_age(log: Log) -> None:
    """With an entry that records it, as the service writes one."""
    with log.client.app.app_context(), transaction(), log.monkeypatch.context() as patch:
        patch.setattr(retention, "_expired_before", lambda: clock.now() + timedelta(days=1))
        patch.setattr(retention, "AT_ONCE", 2)
        assert retention.delete_oldest(log.client.account_id)
    seal(log.client, log.monkeypatch)


def rewrite_with_another_key(log: Log) -> None:
    change(log)
    key = Ed25519PrivateKey.generate()
    row = f"'sk_forged', '{proof.write_public_key(key.public_key())}', 'x', created_at"
    log.sql(f"INSERT INTO signing_keys SELECT {row} FROM signing_keys LIMIT 1")
    _rewrite(log, ("sk_forged", key))


def rewrite_with_the_own_key(log: Log) -> None:
    """By somebody who knows SECRET_KEY."""
    change(log)
    with log.client.app.app_context():
        key = keys.newest_key()
    assert key is not None
    _rewrite(log, key)


def _rewrite(log: Log, key: tuple[str, Ed25519PrivateKey]) -> None:
    previous = proof.NO_HASH
    for point in points(log.client):
        previous = _seal_anew(log, point._replace(previous_hash=previous), key)


def _seal_anew(log: Log, point: Checkpoint, key: tuple[str, Ed25519PrivateKey] | None) -> str:
    """Store a checkpoint with the hashes that its entries have now.

    Args:
        key: None: the old signature stays.
    """
    bodies = f"SELECT body FROM audit_entries {OWN} number BETWEEN :first AND :last ORDER BY number"
    with log.client.app.app_context():
        values = {"account": log.client.account_id, "first": point.first, "last": point.last}
        found = db.session.scalars(text(bodies), values).all()
    hashes = "".join(proof.entry_hash(body.encode()) for body in found)
    point = point._replace(entry_hashes=hashes, key_id=key[0] if key else point.key_id)
    made = (
        proof.sign_checkpoint(key[1], point)
        if key
        else point._replace(hash=proof.checkpoint_hash(point))
    )
    names = ("previous_hash", "hash", "key_id", "signature", "entry_hashes")
    log.sql(
        f"UPDATE audit_checkpoints SET {', '.join(f'{name} = :{name}' for name in names)} {OWN} "
        "number = :number",
        **{name: getattr(made, name) for name in (*names, "number")},
    )
    return made.hash


# Each attack, the problems that a file shows, and those with what was kept.
ATTACKS: dict[Callable[[Log], None], tuple[set[str], set[str]]] = {
    change: ({"entry_changed"}, {"entry_changed"}),
    change_to_no_entry: ({"entry_changed"}, {"entry_changed"}),
    change_to_the_end_of_a_file: ({"entry_changed"}, {"entry_changed"}),
    remove: ({"entry_removed"}, {"entry_removed"}),
    remove_by_unsealing: ({"entry_removed"}, {"entry_removed"}),
    insert: ({"entry_changed"}, {"entry_changed"}),
    reorder: ({"entry_moved"}, {"entry_moved"}),
    change_a_checkpoint: (
        {"signature_wrong", "chain_broken"},
        {"signature_wrong", "chain_broken", "log_rewritten"},
    ),
    remove_a_checkpoint: ({"checkpoint_missing"}, {"checkpoint_missing", "log_rewritten"}),
    remove_the_end: (set(), {"log_truncated"}),
    unseal_all: (set(), {"log_truncated"}),
    have_it_deleted: ({"signature_wrong"}, {"signature_wrong", "log_rewritten"}),
    delete_as_if_by_age: (set(), {"deletion_early"}),
    rewrite_with_another_key: (set(), {"log_rewritten", "key_other"}),
    rewrite_with_the_own_key: (set(), {"log_rewritten"}),
}


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.__name__)
def test_what_verification_says_of_an_attack(log: Log, attack: Callable[[Log], None]) -> None:
    client, key = log.client, key_of(log.client)
    kept = [point.without_hashes() for point in points(client)]
    days = client.app.config["SETTINGS"].audit_days
    alone, with_kept = ATTACKS[attack]
    try:
        attack(log)
        lines = exported(client)
        assert set(kinds(lines)) == alone
        pinned = _keys_of(lines, key)
        assert set(kinds(lines, earlier=kept, pinned=pinned, days=days)) == with_kept
        with client.app.app_context():
            verifier = Verifier(earlier=kept, pinned=pinned, days=days)
            found = list(verify_account(client.app, client.account_id, verifier))
        assert {each.kind for each in found if each.is_problem} == with_kept
    finally:
        sql(client, "DELETE FROM audit_entries WHERE account_id = :account")  # others read them
        with client.app.app_context(), transaction():
            db.session.execute(text("DELETE FROM signing_keys WHERE id = 'sk_forged'"))


def test_a_change_is_named_with_its_place(log: Log) -> None:
    change(log)
    client = log.client
    with client.app.app_context():
        found = [
            each
            for each in verify_account(client.app, client.account_id, Verifier())
            if each.is_problem
        ]
    (problem,) = found
    assert (problem.entry_id, problem.number, problem.checkpoint) == (
        *(log.made[6], log.first + 6),
        3,
    )
    sql(client, "DELETE FROM audit_entries WHERE account_id = :account")


def test_an_entry_that_is_changed_before_it_is_sealed_is_not_detected(log: Log) -> None:
    """As the page says."""
    made = write(log.client)
    log.sql(f"{BODY} WHERE id = :id", id=made)
    seal(log.client, log.monkeypatch)
    assert kinds(exported(log.client)) == []


def _keys_of(lines: list[bytes], own: str) -> list[str]:
    """The keys that an instance of the tests has had: only a forged one is another."""
    verifier = Verifier()
    for line in lines[:1]:
        list(verifier.check(line))
    return [own, *(key for name, key in verifier.keys.items() if name != "sk_forged")]
