"""What is in an archive: what the API shows, each file for itself."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, Final

import pytest
from flask import Flask
from sqlalchemy import select

from app.audit.proof.verification import Verifier, verify_lines
from app.db.column_types import Base
from app.db.extensions import db
from app.exports.account_export.contents import CONTENTS
from app.policy.account_export import FILES, MANIFEST, README
from app.values.version import VERSION
from tests.exports.account_export.archives import Archive, archive_of
from tests.exports.account_export.full_account import FullAccount, make_full_account
from tests.exports.account_export.tables import rows
from tests.make import Client, make_asset, make_project, make_webhook, square
from tests.make.audit import new_entries

pytestmark = pytest.mark.both


SHORT: Final = 16  # characters
# Columns with what nobody may know, or with what a secret can be found out by.
_HIDDEN: Final = re.compile(r"hash$|^sealed(?!_at)|^(claim|lease|code_challenge)$")
# Those with these names that are for everybody.
_PUBLIC: Final = {("audit_checkpoints", "hash"), ("audit_checkpoints", "previous_hash")}


@pytest.fixture(scope="module")
def full(app: Flask) -> FullAccount:
    """An account of which the tests change nothing."""
    with pytest.MonkeyPatch.context() as patch:
        made = make_full_account(app, patch)
    archived = make_project(made.client, name="Archived", geometry=square())
    made.client.post(f"/v1/projects/{archived['id']}/archive")
    return made


@pytest.fixture(scope="module")
def archive(full: FullAccount) -> Archive:
    return archive_of(full.client)


def _listed(client: Client, path: str) -> list[Any]:
    found: list[Any] = client.get(path).json["data"]
    return found


def test_each_file_is_described(full: FullAccount, archive: Archive) -> None:
    assert archive.names == list(FILES) == [README, *CONTENTS, MANIFEST]
    manifest, text = archive.json(MANIFEST), archive.text(README)
    for each in manifest["files"]:
        content = archive.zip.read(each["name"])
        assert each["bytes"] == len(content)
        assert each["sha256"] == hashlib.sha256(content).hexdigest()
        assert each["name"] in text
    assert [each["name"] for each in manifest["files"]] == archive.names[:-1]
    assert [line for line in text.splitlines() if len(line) >= 80] == []
    assert full.client.account_id in text


def test_the_manifest_says_where_it_is_from(full: FullAccount, archive: Archive) -> None:
    account = full.client.get("/v1/account").json["data"]
    manifest = archive.json(MANIFEST)
    assert (manifest["format"], manifest["format_version"]) == ("canopy-account", 2)
    assert manifest["made_by"] == f"Canopy {VERSION}"
    assert manifest["instance"] == "http://localhost"
    assert manifest["account"] == {"id": account["id"], "slug": account["slug"]}
    assert manifest["made_at"].startswith(str(datetime.now(UTC).date()))


def test_records_are_counted(archive: Archive) -> None:
    for each in archive.json(MANIFEST)["files"]:
        name, records = each["name"], each["records"]
        if name.endswith(".ndjson"):
            assert records == len(archive.lines(name)) > 0, name
        elif name.endswith(".geojson"):
            assert records == len(archive.features(name)) > 0, name
        elif records is not None:
            assert records == len(archive.json(name)) > 0, name
        else:
            assert name == README or isinstance(archive.json(name), dict)


def test_the_lists_are_those_of_the_api(full: FullAccount, archive: Archive) -> None:
    client = full.client
    assert archive.json("members.json") == _listed(client, "/v1/account/members")
    (webhook,) = archive.json("webhooks.json")
    assert webhook.pop("last_replay")["total"] == 2
    assert [webhook] == _listed(client, "/v1/webhooks")
    events = _listed(client, "/v1/events?per_page=100")
    assert archive.lines("events.ndjson") == events[::-1]
    (attempt,) = archive.lines("webhook-attempts.ndjson")
    assert attempt.pop("webhook_id") == webhook["id"]
    shown = client.get(f"/v1/webhooks/{webhook['id']}/logs/{attempt['id']}").json["data"]
    assert shown.pop("event") in events
    assert attempt == shown


def test_the_account_and_its_usage(full: FullAccount, archive: Archive) -> None:
    client = full.client
    found = archive.json("account.json")
    assert found["account"] == client.get("/v1/account").json["data"]
    usage = client.get("/v1/account/usage").json["data"]
    assert {**found["usage"], "api_requests": 0} == {**usage, "api_requests": 0}
    assert found["limits"]["requests_per_minute"] == 1_000
    assert found["second_factor"] == {"required_since": None, "grace_days": None}
    found = archive.json("usage.json")
    assert found["requests"]["by_day"][0]["requests"] == 7
    assert len(found["requests"]["by_day"]) == 401


def test_the_layers_are_those_of_exports(full: FullAccount, archive: Archive) -> None:
    for kind in ("projects", "assets"):
        exported = full.client.get(f"/v1/exports/{kind}").get_data(as_text=True)
        assert archive.text(f"{kind}.geojson") == exported
    assert len(archive.features("projects.geojson")) == 2


def test_former_boundaries_have_their_geometry(full: FullAccount, archive: Archive) -> None:
    client = full.client
    path = f"/v1/projects/{full.project['id']}/boundaries"
    present, former = _listed(client, path)
    shown = client.get(f"{path}/{former['id']}").json["data"]
    project = {"project_id": full.project["id"]}
    found = archive.lines("boundary-history.ndjson")
    assert found[:2] == [project | shown, project | present | {"geometry": None}]
    assert shown["geometry"]


def test_imports_and_their_features(full: FullAccount, archive: Archive) -> None:
    client = full.client
    (made,) = archive.json("imports.json")
    shown = client.get(f"/v1/imports/{made['id']}").json["data"]
    shown["hectares"] = {name: shown["hectares"][name] for name in made["hectares"]}
    assert made == shown
    (feature,) = archive.lines("import-features.ndjson")
    assert feature.pop("import_id") == made["id"]
    assert [feature] == _listed(client, f"/v1/imports/{made['id']}/features")


def test_the_audit_log_can_be_verified(archive: Archive) -> None:
    lines = archive.zip.read("audit-log.ndjson").splitlines()
    verifier = Verifier()
    assert [each for each in verify_lines(lines, verifier) if each.is_problem] == []
    assert verifier.checkpoints > 0


def _stored(app: Flask) -> Iterator[str]:
    """All that the database has in such columns, of whatever account, without the short texts that
    other tests wrote instead of a hash."""
    with app.app_context():
        for table in Base.metadata.sorted_tables:
            for column in table.columns:
                if _HIDDEN.search(column.name) and (table.name, column.name) not in _PUBLIC:
                    values = db.session.scalars(select(column).where(column.is_not(None)))
                    yield from (value for value in values if len(value) > SHORT)
        db.session.rollback()


def test_no_file_has_a_row_of_another_account(archive: Archive, client: Client) -> None:
    project, webhook = make_project(client), make_webhook(client)
    asset = make_asset(client, project["id"])
    hidden = {client.account_id, project["id"], asset["id"], webhook["id"]}
    hidden |= {row.id for name in ("Event", "AuditEntry") for row in rows(client, name)}
    for name in archive.names:
        text = archive.text(name)
        assert [value for value in hidden if value in text] == [], name


def test_no_secret_is_in_it(app: Flask, full: FullAccount, archive: Archive) -> None:
    hidden = {*full.secrets, *_stored(app), "a note of the operator"}
    assert len(full.secrets) > 15
    assert min(map(len, hidden)) > SHORT
    for name in archive.names:
        text = archive.text(name)
        assert [value for value in hidden if value in text] == [], name


def test_the_audit_log_has_the_export(client: Client) -> None:
    with new_entries(client) as found:
        archive = archive_of(client)
    (entry,) = found
    assert entry["action"] == "account.exported"
    assert entry["target"]["id"] == client.account_id
    assert entry in archive.lines("audit-log.ndjson")


def test_an_empty_account(client: Client) -> None:
    archive = archive_of(client)
    assert archive.features("projects.geojson") == []
    assert archive.json("imports.json") == archive.json("webhooks.json") == []
    assert archive.text("events.ndjson") == ""
    assert archive.json("billing.json") == {"customers": [], "events": []}
