"""A restore takes a backup that was signed with its SECRET_KEY; others only when told to."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest
from flask import Flask

from app.maintenance.dump import TableChecksum
from app.models import Project
from tests.maintenance.conftest import MakeInstance
from tests.maintenance.contents import checksums, count, fill
from tests.maintenance.damage import Members, change_manifest, rewritten, table_of
from tests.maintenance.test_commands import run

KEY, OTHER = "the key of the first instance " * 2, "the key of the second instance " * 2


def _make_admin(members: Members) -> None:
    """Give a key more permissions, with the right checksum in the manifest."""
    name = "tables/credentials.jsonl"
    members[name] = members[name].replace(b"read", b"admin")
    checksum = TableChecksum()
    for line in members[name].splitlines(keepends=True):
        checksum.add(line)

    def correct(manifest: dict[str, Any]) -> None:
        table_of(manifest, "credentials").update(sha256=checksum.sha256)

    change_manifest(members, correct)


def _date(members: Members) -> None:
    change_manifest(members, lambda manifest: manifest.update(made_at="2020-01-01T00:00:00Z"))


def _without_signature(members: Members) -> None:
    del members["manifest.hmac"]


def _strange_signature(members: Members) -> None:
    members["manifest.hmac"] = b"\xff" * 5000


# What was done to a backup of this instance, and the words by which the refusal tells.
CHANGES: dict[str, tuple[Callable[[Members], None], str]] = {
    "a row": (_make_admin, "was changed after it was made"),
    "the manifest": (_date, "was changed after it was made"),
    "its signature": (_strange_signature, "was changed after it was made"),
    "no signature": (_without_signature, "has no signature"),
}


@pytest.fixture
def own(make_instance: MakeInstance) -> Flask:
    made = make_instance("sqlite", SECRET_KEY=KEY)
    fill(made)
    return made


@pytest.fixture
def path(own: Flask, folder: Path) -> Path:
    run(own, "backup", folder / "b.zip")
    return folder / "b.zip"


@pytest.mark.slow
def test_a_backup_that_was_changed_is_refused(
    own: Flask, path: Path, folder: Path, subtests: pytest.Subtests
) -> None:
    whole = path.read_bytes()
    run(own, "backup", folder / "later.zip")
    later: Members = {}
    rewritten(folder / "later.zip", later.update)

    def with_signature_of_another(members: Members) -> None:
        members["manifest.hmac"] = later["manifest.hmac"]

    before = checksums(own)
    changes = CHANGES | {"another's": (with_signature_of_another, "was changed after it was made")}
    for name, (change, words) in changes.items():
        with subtests.test(name):
            path.write_bytes(whole)
            rewritten(path, change)
            refused = run(own, "restore", path, "--yes")
            assert refused.exit_code == 1
            assert words in refused.stderr
            assert refused.stderr.count("\n") == 1
    assert checksums(own) == before


def test_one_of_this_instance_is_verified(own: Flask, path: Path) -> None:
    done = run(own, "restore", path, "--yes", "--json")
    assert orjson.loads(done.stdout)["verified"] is True
    rewritten(path, _without_signature)
    assert "--unverified" in run(own, "restore", path, "--yes").stderr
    done = run(own, "restore", path, "--yes", "--json", "--unverified")
    assert orjson.loads(done.stdout)["verified"] is False
    assert count(own, Project) == 5


@pytest.mark.slow
def test_one_of_another_key_is_verified_by_the_former_key_or_restored_when_that_is_asked_for(
    make_instance: MakeInstance, path: Path
) -> None:
    other = make_instance("sqlite", SECRET_KEY=OTHER)
    refused = run(other, "restore", path, "--yes")
    assert refused.exit_code == 1
    assert "another SECRET_KEY" in refused.stderr
    assert "SECRET_KEY_FORMER" in refused.stderr
    assert count(other, Project) == 0
    done = run(other, "restore", path, "--yes", "--unverified")
    assert done.exit_code == 0
    assert "another SECRET_KEY" in done.stderr
    assert count(other, Project) == 5
    knowing = make_instance("sqlite", SECRET_KEY=OTHER, SECRET_KEY_FORMER=KEY)
    document = orjson.loads(run(knowing, "restore", path, "--yes", "--json").stdout)
    assert (document["verified"], document["same_secret_key"]) == (True, False)
    rewritten(path, _date)
    assert "was changed" in run(knowing, "restore", path, "--yes").stderr
