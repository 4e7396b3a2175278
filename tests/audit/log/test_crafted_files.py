"""Files that somebody has made to mislead the verification, or to stop it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from app.audit.proof import checkpoint as proof
from app.audit.proof.checkpoint import Checkpoint
from app.audit.proof.verification import LONGEST_LINE
from tests.audit.log.logs import findings, kinds
from tests.processor_time import takes_at_most

KEY = Ed25519PrivateKey.generate()
PUBLIC = proof.write_public_key(KEY.public_key())
MADE_UP = {"id": "aud_made_up", "action": "project.deleted", "at": "2026-01-03T10:20:30.456Z"}


def line(**record: Any) -> bytes:
    return json.dumps(record).encode()


def sealed(bodies: list[bytes], **changed: Any) -> list[bytes]:
    """A file with one batch, signed by a key of its own."""
    about = {
        "format": proof.FORMAT,
        "account_id": "acct_x",
        "keys": [{"id": "k", "public_key": PUBLIC}],
    }
    hashes = "".join(map(proof.entry_hash, bodies))
    checkpoint = Checkpoint(
        "acct_x", 1, 1, len(bodies), "now", proof.NO_HASH, "", "k", "", hashes
    )._replace(**changed)
    point = proof.sign_checkpoint(KEY, checkpoint)._asdict()
    end = {"checkpoints": 1, "entries": len(bodies)}
    return [
        line(audit_log=about),
        line(checkpoint=point),
        *bodies,
        line(not_sealed={"after": len(bodies)}),
        line(end=end),
    ]


@pytest.fixture
def lines() -> list[bytes]:
    return sealed([line(id=f"aud_{number}", action="project.updated") for number in range(3)])


def test_no_entry_hides_in_a_line_of_the_file_itself(lines: list[bytes]) -> None:
    assert kinds(lines, pinned=[PUBLIC]) == []
    for name in ("audit_log", "checkpoint", "not_sealed", "end"):
        place = next(at for at, each in enumerate(lines) if name in json.loads(each))
        changed = [*lines]
        changed[place] = line(**json.loads(lines[place]), **MADE_UP)
        assert kinds(changed, pinned=[PUBLIC]) != []


def test_an_entry_that_says_it_is_not_sealed_is_none_of_the_sealed_ones(lines: list[bytes]) -> None:
    lines.insert(3, line(not_sealed={}, **MADE_UP))
    (found, *_) = findings(lines)
    assert (found.kind, found.entry_id) == ("entry_inserted", MADE_UP["id"])


def test_a_number_that_no_log_has_makes_a_checkpoint_unreadable() -> None:
    for number in [0, -1, 2**63, 10**20]:
        for name in ["number", "first", "last"]:
            found = findings(sealed([line(id="aud_1", at="now")], **{name: number}))
            assert found[0].kind == "checkpoint_unreadable"


def test_a_checkpoint_of_another_log_or_after_the_end_is_told() -> None:
    (found,) = findings(sealed([line(id="aud_1", at="now")], account_id="acct_y"))
    assert (found.kind, found.detail) == ("checkpoint_changed", "it is of another account")
    (about, *rest) = sealed([line(id="aud_1", at="now")])
    (found, *_) = findings([about, line(not_sealed={"after": 0}), *rest])
    assert found.detail == "it follows entries that are not sealed"


def test_a_deletion_up_to_no_number_tells_of_none() -> None:
    for number in ["Infinity", "-Infinity", "NaN", "1e400", "null", '"x"', "[]"]:
        body = b'{"action":"audit_log.pruned","id":"a","changes":{"first_number":{"to":%s}}}'
        assert kinds(sealed([body % number.encode()])) == []


@pytest.mark.slow
def test_many_entries_in_another_order_are_compared_at_once() -> None:
    """Comparing each with each would take the square of the time."""

    def compare(number: int) -> None:
        assert kinds(reordered[number]) == ["entry_moved"] * number

    reordered = {number: in_another_order(number) for number in (2_500, 20_000)}
    assert takes_at_most(30, lambda: compare(20_000), lambda: compare(2_500))


def in_another_order(number: int) -> list[bytes]:
    bodies = [b'{"action":"audit_log.pruned","id":"%d"}' % each for each in range(number)]
    lines = sealed(bodies)
    assert sum(map(len, lines[:2])) < LONGEST_LINE
    lines[2 : 2 + number] = bodies[::-1]
    return lines


def test_line_ends_that_a_program_converted_are_told(lines: list[bytes]) -> None:
    (found,) = findings([each + b"\r\n" for each in lines])
    assert str(found) == (
        "The line ends of the file were converted to CRLF, which changes each entry: convert them "
        "back to LF, such as with dos2unix, or export the log again."
    )
