"""What the verification of a file finds: each way in which a log can be changed."""

from __future__ import annotations

import json

import pytest

from app.audit.proof.checkpoint import read_kept
from app.audit.proof.verification import Verifier, verify_lines
from tests.audit.log.logs import (
    PATH,
    checkpoints,
    exported,
    findings,
    kinds,
    prune,
    sealed_log,
    sql,
    write,
)
from tests.make import Client

OWN = "WHERE account_id = :account AND"


@pytest.fixture
def made(client: Client, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The ids of fifteen sealed entries, after a first batch."""
    return sealed_log(client, monkeypatch)


def first_of_second_batch(client: Client) -> int:
    number: int = checkpoints(client)[1].first
    return number


def test_a_log_that_nobody_changed(client: Client, made: list[str]) -> None:
    lines = exported(client)
    verifier = Verifier()
    found = list(verify_lines(lines, verifier))
    assert [each.kind for each in found] == ["not_sealed"]  # about this export
    assert verifier.checkpoints == 4
    assert {json.loads(line).get("id") for line in lines} >= set(made)


def test_a_log_without_its_checkpoints_says_since_when(client: Client, made: list[str]) -> None:
    kept = checkpoints(client)
    sql(client, f"DELETE FROM audit_checkpoints {OWN} number > 0")
    sql(client, f"UPDATE audit_entries SET number = NULL {OWN} number > 0")
    lines = exported(client)
    oldest = min(at for line in lines if (at := json.loads(line).get("at")))
    (found,) = verify_lines(lines, Verifier())
    assert (found.kind, found.is_problem) == ("not_sealed", False)
    assert f"the oldest from {oldest};" in found.detail
    assert "log_truncated" in {each.kind for each in verify_lines(lines, Verifier(earlier=kept))}


@pytest.mark.both
def test_a_changed_checkpoint(client: Client, made: list[str], subtests: pytest.Subtests) -> None:
    own = f"{OWN} number = 3"
    names = ("hash", "sealed_at", "signature", "key_id", "entry_hashes", "previous_hash", "last")
    row = checkpoints(client)[2]
    for change, expected in (
        ("hash = previous_hash", "checkpoint_changed"),
        ("sealed_at = (SELECT min(created_at) FROM accounts)", "signature_wrong"),
        ("signature = 'AAAA'", "signature_wrong"),
        ("key_id = 'sk_other'", "key_unknown"),
        ("entry_hashes = substr(entry_hashes, 65)", "checkpoint_changed"),
        ("previous_hash = hash", "chain_broken"),
        ("last = last + 1", "checkpoint_changed"),
    ):
        with subtests.test(change):
            sql(client, f"UPDATE audit_checkpoints SET {change} {own}")
            found = findings(exported(client))
            assert expected in [each.kind for each in found if each.checkpoint == 3]
            values = {name: getattr(row, name) for name in names}
            assignments = ", ".join(f"{name} = :{name}" for name in names)
            sql(client, f"UPDATE audit_checkpoints SET {assignments} {own}", **values)
    assert made


def test_kept_checkpoints_in_each_form(client: Client, made: list[str]) -> None:
    listed = client.get(f"{PATH}/checkpoints").json
    lines = exported(client)
    assert made
    for text, number in (
        (json.dumps(listed), 4),
        (json.dumps(listed["data"]), 4),
        ("\n".join(json.dumps(each) for each in listed["data"]), 4),
        (b"\n".join(lines).decode(), 4),
        (json.dumps({"type": "audit.checkpoint", "data": listed["data"][0]}), 1),
    ):
        kept = read_kept(text.encode())
        assert len(kept) == number
        assert kinds(lines, earlier=kept) == []


def test_a_file_that_ends_too_early(client: Client, made: list[str]) -> None:
    lines = exported(client)
    assert kinds(lines[:-1]) == ["file_incomplete"]
    place = next(at for at, line in enumerate(lines) if made[6].encode() in line)
    assert kinds(lines[:place]) == [*["entry_removed"] * 4, "file_incomplete"]
    again = [line for line in lines if line.startswith(b'{"checkpoint"')][1]
    place = lines.index(again) + 6
    assert kinds([*lines[:place], again, *lines[place:]])[0] == "checkpoint_duplicated"


def test_a_filtered_file_cannot_be_verified(client: Client, made: list[str]) -> None:
    lines = client.get(f"{PATH}?format=ndjson&target_id=p1").data.splitlines()
    assert len(lines) == 1 + 3
    assert made
    (found,) = findings(lines)
    assert found.kind == "file_unreadable"
    assert "filters" in found.detail


def test_what_is_no_audit_log() -> None:
    for line in [b"", b"[]", b"{}", b"\xff", b"[" * 100_000, b'{"id": 1}']:
        assert kinds([line, b"{}"]) == ["file_unreadable"]
        assert kinds([]) == ["file_incomplete"]


def test_lines_that_cannot_be_read_are_named(client: Client, made: list[str]) -> None:
    lines = exported(client)
    place = next(at for at, line in enumerate(lines) if made[6].encode() in line)
    lines[place] = b"{]"
    found = findings(lines)
    assert (found[0].kind, found[0].line) == ("entry_unreadable", place + 1)
    assert found[1].kind == "entry_removed"
    lines = exported(client)
    place = next(at for at, line in enumerate(lines) if line.startswith(b'{"checkpoint"'))
    lines[place] = b'{"checkpoint":{"number":"1"}}'
    assert kinds(lines)[0] == "checkpoint_unreadable"


@pytest.mark.both
def test_what_was_deleted_by_age_is_told(
    client: Client, made: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    prune(client, monkeypatch, [1, 2])
    assert kinds(exported(client)) == ["deletion_unrecorded"]  # nothing that is sealed tells of it
    sealed_log(client, monkeypatch, batches=1)
    lines = exported(client)
    assert made[0].encode() not in b"".join(lines)
    found = [each.kind for each in verify_lines(lines, Verifier())]
    assert found == ["deleted_by_age", "not_sealed"]


def test_a_deletion_that_was_made_up_is_found(
    client: Client, made: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    first = first_of_second_batch(client)
    sql(client, f"DELETE FROM audit_entries {OWN} number BETWEEN 1 AND :n", n=first + 4)
    sql(client, f"UPDATE audit_checkpoints SET entry_hashes = NULL {OWN} number <= 2")
    assert kinds(exported(client)) == ["deletion_unrecorded"]
    write(client)
    sealed_log(client, monkeypatch, batches=1)
    assert kinds(exported(client)) == ["deletion_unrecorded"]
    assert made


def test_nothing_of_a_file_gets_at_the_terminal(client: Client, made: list[str]) -> None:
    lines = [
        line.replace(made[6].encode(), b"\\u001b]0;x\\u0007") if made[6].encode() in line else line
        for line in exported(client)
    ]
    (found,) = findings(lines)
    assert found.kind == "entry_changed"
    assert str(found).isprintable()


def test_keys_that_cannot_be_read_are_told(client: Client, made: list[str]) -> None:
    lines = exported(client)
    head = json.loads(lines[0])
    head["audit_log"]["keys"] = [{"id": "sk_x", "public_key": "x"}, "nothing"]
    lines[0] = json.dumps(head).encode()
    assert made
    assert kinds(lines)[:3] == ["file_unreadable", "file_unreadable", "key_unknown"]
