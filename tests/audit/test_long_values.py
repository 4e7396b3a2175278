"""Values of more than 1 KB, of which an entry has the beginning, the length and a hash."""

from __future__ import annotations

import hashlib
import json

import pytest

from app.audit import entries
from tests.audit.log.logs import exported, findings, seal
from tests.make import Client, audit_entries, make_entry, make_project

TEXT = "Mögliche " * 500
METADATA = {"zones": "z" * 1_000, "age": 80, "nested": {"b": [1, None], "a": "ü" * 200}}


def test_their_beginning_length_and_hash_stand_in_the_entry(client: Client) -> None:
    project = make_project(client, name="Hood", description=TEXT, metadata=METADATA)
    path = f"/v1/projects/{project['id']}"
    client.put(path, json={"description": "short", "metadata": METADATA | {"age": 81}})
    made, changed = (each["changes"] for each in audit_entries(client)[-2:])
    text = TEXT.strip().encode()
    shortened = {
        "beginning": TEXT[:200],
        "bytes": len(text),
        "sha256": hashlib.sha256(text).hexdigest(),
    }
    assert made["description"] == {"from": None, "to": shortened}
    assert made["name"] == {"from": None, "to": "Hood"}
    assert changed["description"] == {"from": shortened, "to": "short"}
    raw = json.dumps(METADATA, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    assert changed["metadata"]["from"] == {
        "beginning": raw.decode()[:200],
        "bytes": len(raw),
        "sha256": hashlib.sha256(raw).hexdigest(),
    }
    assert changed["metadata"]["to"]["sha256"] != changed["metadata"]["from"]["sha256"]


def test_values_of_up_to_1_kb_are_whole(client: Client) -> None:
    for characters, is_whole in [(1_022, True), (1_023, False)]:
        value = "x" * characters  # and two quotes
        other = {"to": "y" * 900}
        make_entry(client, changes={"note": {"from": None, "to": value}, "other": other})
        changes = audit_entries(client)[-1]["changes"]
        assert (changes["note"]["to"] == value) is is_whole
        assert changes["other"] == other


def test_entries_with_whole_values_still_verify(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(entries, "LONG_VALUE", 10**6)
        make_project(client, description=TEXT)
    assert audit_entries(client)[-1]["changes"]["description"]["to"] == TEXT.strip()
    make_project(client, description=TEXT)
    seal(client, monkeypatch)
    assert findings(exported(client)) == []
