"""``bin/canopy account import``: an account moves into another one, or nothing happens."""

from __future__ import annotations

import csv
import hashlib
import json
import zipfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import pytest
from flask import Flask

from app.db.extensions import db
from app.imports.account_archive import service
from app.maintenance.dump import count_rows
from app.maintenance.table_codec import table_codecs
from tests.cli.conftest import Run
from tests.exports.account_export.archives import Archive
from tests.make import (
    Client,
    deliveries,
    make_asset,
    make_former_boundary,
    make_project,
    make_webhook,
    multi_square,
    new_email,
    point,
    square,
)
from tests.make.audit import audit_entries

METADATA: Final = {
    "region": 6,
    "share": 0.25,
    "code": "007",
    "id": 12,
    "metadata_id": "",
    "n": None,
}
FILES: Final = ("projects.geojson", "assets.geojson", "boundary-history.ndjson")


def fill(client: Client) -> None:
    """Projects of each status, with assets, former boundaries, and texts that are hard to carry."""
    wood = make_project(
        client,
        name="Hazel Wood",
        external_id="HW-1",
        description="A text, “quoted”;\nüber Wälder",
        geometry=multi_square((1, 1), (3, 3)),
        metadata=METADATA,
    )
    for number in range(3):
        where = point(1.5 + number / 7, 1.25)
        make_asset(client, wood["id"], location=where, metadata=METADATA, status="maintenance")
    make_asset(client, wood["id"], type="weather_station", external_id="WX-1", metadata={})
    for status in ("archived", "draft"):
        project = make_project(client, name=f"An {status} one", geometry=square(), metadata={})
        make_asset(client, project["id"], name="Hut", location=point(2, 2), external_id="WX-1")
        client.put(f"/v1/projects/{project['id']}", json={"status": status, "name": "Renamed"})
    make_former_boundary(client, make_project(client, name="Redrawn")["id"])
    lost = make_project(client, name="Lost its boundary", geometry=square())
    client.put(f"/v1/projects/{lost['id']}", json={"geometry": None})
    make_project(client, name="Without a boundary")


def export(run: Run, account: str, file: Path) -> Archive:
    done = run("account", "export", account, "--output", str(file))
    assert done.exit_code == 0, done.output
    return Archive(file.read_bytes())


@pytest.fixture
def moved(run: Run, tmp_path: Path) -> Callable[..., Any]:
    """Runs the import with ``--json``. Returns what it prints."""

    def move(file: Path, *options: str) -> Any:
        ids = ("--ids", str(tmp_path / "ids.csv"), "--force", "--json")
        done = run("account", "import", str(file), *options, *ids)
        assert done.exit_code == 0, done.output
        return json.loads(done.stdout)

    return move


def contents(archive: Archive) -> dict[str, Any]:
    found = {name: archive.features(name) for name in FILES[:2]}
    return found | {FILES[2]: archive.lines(FILES[2])}


@pytest.mark.both
def test_everything_arrives_as_it_was(
    client: Client, run: Run, moved: Callable[..., Any], tmp_path: Path
) -> None:
    """Exported, imported and exported again: the same, but for the ids and who drew a boundary."""
    fill(client)
    before = export(run, client.account_id, tmp_path / "a.zip")
    record = moved(tmp_path / "a.zip", "--owner-email", new_email(), "--plan", "enterprise")
    assert [record[name] for name in ("projects", "assets", "boundaries")] == [6, 6, 6]
    assert record["warnings"] == []
    after = export(run, record["account_id"], tmp_path / "b.zip")

    text = json.dumps(contents(before))
    rows = list(csv.DictReader((tmp_path / "ids.csv").read_text().splitlines()))
    assert len(rows) == 1 + 6 + 6 + 6
    for row in rows:
        text = text.replace(row["old_id"], row["new_id"])
    expected = json.loads(text)
    for entry in expected[FILES[2]]:
        assert entry["created_by"] is not None
        entry["created_by"] = None
    found = contents(after)
    for name in FILES:
        assert found[name] == expected[name], name

    accounts = [archive.json("account.json") for archive in (before, after)]
    for name in ("hectares", "projects", "stored_bytes"):
        there, here = (account["usage"][name] for account in accounts)
        assert there == here | {"limit": there["limit"]} if "limit" in there else there == here
    for name in ("name", "type"):
        assert len({account["account"][name] for account in accounts}) == 1
    assert record["slug"].startswith(accounts[0]["account"]["slug"])


@pytest.mark.both
def test_the_account_can_be_used(
    app: Flask, client: Client, run: Run, moved: Callable[..., Any], tmp_path: Path
) -> None:
    fill(client)
    export(run, client.account_id, tmp_path / "a.zip")
    record = moved(tmp_path / "a.zip", "--owner-email", new_email(), "--name", "Elsewhere Ltd")
    assert record["slug"].startswith("elsewhere-ltd")
    new = Client(app, record["account_id"], "", record["api_key"])
    (wood,) = new.get("/v1/projects?search=hazel").json["data"]
    assert [each["id"] for each in new.get("/v1/projects?bbox=1,1,1.1,1.1").json["data"]] == [
        wood["id"]
    ]
    assert new.get("/v1/assets?search=hut").json["meta"]["total"] == 2
    assert make_asset(new, wood["id"])["project_id"] == wood["id"]
    (redrawn,) = new.get("/v1/projects?search=redrawn").json["data"]
    path = f"/v1/projects/{redrawn['id']}/boundaries"
    former = new.get(path).json["data"][-1]["id"]
    assert new.post(f"{path}/{former}/restore").status_code == 200
    assert len(new.get(path).json["data"]) == 3
    types = {event["type"] for event in new.get("/v1/events").json["data"]}
    assert types - {"usage.threshold_reached", "usage.limit_exceeded"} == {
        "asset.created",  # of these two changes
        "project.updated",
    }
    entry = next(each for each in audit_entries(new) if each["action"] == "account.imported")
    assert entry["changes"]["account"]["to"] == client.account_id
    assert entry["changes"]["project"]["to"] == 6


@pytest.mark.both
def test_an_empty_account_takes_it(
    client: Client, stranger: Client, run: Run, moved: Callable[..., Any], tmp_path: Path
) -> None:
    fill(client)
    export(run, client.account_id, tmp_path / "a.zip")
    webhook = make_webhook(stranger)
    record = moved(tmp_path / "a.zip", "--account", stranger.account_id)
    assert "api_key" not in record
    assert stranger.get("/v1/projects").json["meta"]["total"] == 6
    assert deliveries(stranger, webhook["id"]) == []
    again = run("account", "import", str(tmp_path / "a.zip"), "--account", stranger.account_id)
    assert again.exit_code == 1
    assert "has projects. Import into a new account, or an empty one." in again.stderr


def counts(app: Flask) -> dict[str, int]:
    with app.app_context(), db.engine.connect() as connection:
        return count_rows(connection, table_codecs())


@pytest.mark.both
def test_nothing_is_written_in_a_dry_run_or_after_a_failure(
    app: Flask, client: Client, run: Run, moved: Callable[..., Any], tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    make_asset(client, make_project(client, geometry=square())["id"])
    export(run, client.account_id, tmp_path / "a.zip")
    before, owner = counts(app), new_email()
    record = moved(tmp_path / "a.zip", "--owner-email", owner, "--dry-run")
    assert (record["projects"], record["ids"], record["dry_run"]) == (1, None, True)
    assert counts(app) == before

    def fail(_: Any) -> Any:
        raise RuntimeError("a defect")

    monkeypatch.setattr(service, "recount_usage", fail)
    with pytest.raises(RuntimeError, match="a defect"):
        moved(tmp_path / "a.zip", "--owner-email", owner)
    assert counts(app) == before
    assert [path.name for path in tmp_path.iterdir()] == ["a.zip"]


def test_what_is_told(
    app: Flask, client: Client, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Plan and areas before it is written; how much an account may store stops it."""
    project = make_project(client, name="Wide", geometry=square(size=1))
    archive = export(run, client.account_id, tmp_path / "a.zip")
    (wide,) = archive.features("projects.geojson")
    area = wide["properties"]["area_hectares"]
    wide["properties"]["area_hectares"] = 12.5
    repack(tmp_path, layer(archive, wide))
    owner = ("--owner-email", new_email(), "--dry-run")
    done = run("account", "import", str(tmp_path / "b.zip"), *owner)
    assert done.exit_code == 0, done.output
    assert (
        f"The archive has {area:,.4f} ha, and the plan free is meant for 1,000 ha." in done.stderr
    )
    assert f"measured otherwise: Wide ({area:,.4f} ha, there 12.5000 ha)." in done.stderr
    monkeypatch.setattr(service, "byte_limit", lambda: 10)
    done = run("account", "import", str(tmp_path / "a.zip"), *owner)
    assert done.exit_code == 1
    assert "and an account may have 10. The setting MAX_ACCOUNT_BYTES" in done.stderr
    assert project["id"] not in done.output


def test_wrong_usage(run: Run, client: Client, tmp_path: Path, subtests: pytest.Subtests) -> None:
    file = tmp_path / "a.zip"
    export(run, client.account_id, file)
    (tmp_path / "there.csv").write_text("mine")
    owner = ("--owner-email", new_email())
    for name, options, code, message in (
        ("no account", (), 2, "Name an empty account"),
        ("both", (*owner, "--account", client.account_id), 2, "Name an empty account"),
        ("a plan", ("--account", client.account_id, "--plan", "pro"), 2, "--plan is for a new"),
        ("no such account", ("--account", "nobody"), 1, "There is no account"),
        ("no such plan", (*owner, "--plan", "gold"), 1, "plan: Must be one of"),
        ("no address", ("--owner-email", "jo"), 1, "owner_email: "),
        ("ids", (*owner, "--ids", str(tmp_path / "there.csv")), 1, "already exists"),
    ):
        with subtests.test(name):
            done = run("account", "import", str(file), *options)
            assert (done.exit_code, done.stdout) == (code, "")
            assert message in done.stderr
    assert (tmp_path / "there.csv").read_text() == "mine"


def test_an_archive_of_a_busy_account(
    client: Client, run: Run, moved: Callable[..., Any], tmp_path: Path
) -> None:
    """It has the project as it was before a boundary was drawn anew and another project began."""
    project = make_project(client, name="Redrawn", geometry=square())
    before = export(run, client.account_id, tmp_path / "a.zip")
    path = f"/v1/projects/{project['id']}"
    client.put(path, json={"geometry": square(size=0.2)})
    make_asset(client, make_project(client, geometry=square())["id"])
    after = export(run, client.account_id, tmp_path / "c.zip")
    later = {name: after.zip.read(name) for name in FILES[1:]}
    repack(tmp_path, later, made_at=before.json("manifest.json")["made_at"], of="a.zip")
    record = moved(tmp_path / "b.zip", "--owner-email", new_email(), "--plan", "enterprise")
    assert [record[name] for name in ("projects", "assets", "boundaries")] == [1, 0, 1]
    assert record["warnings"] == [
        "Left out 3 records of changes that were made while the archive was written."
    ]
    (present,) = export(run, record["account_id"], tmp_path / "d.zip").lines(FILES[2])
    assert (present["replaced_at"], present["geometry"]) == (None, None)
    assert present["area_hectares"] == project["area_hectares"]


def test_boundaries_stay_in_order_though_a_clock_was_set_back(
    client: Client, run: Run, moved: Callable[..., Any], tmp_path: Path
) -> None:
    make_former_boundary(client, make_project(client)["id"])
    former, present = export(run, client.account_id, tmp_path / "a.zip").lines(FILES[2])
    present["created_at"] = "2020-01-02T03:04:05.678Z"
    lines = b"".join(json.dumps(entry).encode() + b"\n" for entry in (former, present))
    repack(tmp_path, {FILES[2]: lines})
    record = moved(tmp_path / "b.zip", "--owner-email", new_email(), "--plan", "enterprise")
    found = export(run, record["account_id"], tmp_path / "c.zip").lines(FILES[2])
    assert [entry["created_at"] for entry in found] == [
        entry["created_at"] for entry in (former, present)
    ]


def layer(archive: Archive, *features: Any, name: str = FILES[0]) -> dict[str, bytes | None]:
    """A layer with these features in place of its own."""
    head = archive.zip.read(name).split(b"\n")[0]
    lines = b",\n".join(json.dumps(feature).encode() for feature in features)
    return {name: head + b"\n" + lines + b"\n]}\n"}


def repack(
    folder: Path, changed: Mapping[str, bytes | None], /, of: str = "a.zip", **manifest: Any
) -> None:
    """Write b.zip: the archive with other files, or without one (None), and a manifest that fits,
    with other members."""
    former = zipfile.ZipFile(folder / of)
    content: dict[str, bytes | None] = {name: former.read(name) for name in former.namelist()}
    told = json.loads(content["manifest.json"] or b"")
    for entry in told["files"]:
        if (data := changed.get(entry["name"])) is not None:
            entry["sha256"] = hashlib.sha256(data).hexdigest()
            entry["records"] = data.count(b"\n") - 2 * entry["name"].endswith(".geojson")
    content["manifest.json"] = json.dumps(told | manifest).encode()
    with zipfile.ZipFile(folder / "b.zip", "w", zipfile.ZIP_DEFLATED) as packed:
        for name, data in (content | changed).items():
            if data is not None:
                packed.writestr(name, data)


Case = tuple[str, dict[str, bytes | None], dict[str, Any]]  # a message, files, the manifest


def cases(archive: Archive) -> Iterator[Case]:
    """Archives that are refused, made of one with a project, an asset and a boundary."""
    (feature,), (asset,) = (archive.features(name) for name in FILES[:2])
    (entry,) = archive.lines(FILES[2])
    manifest, line = "manifest.json", f"{FILES[0]}, line 2: "
    good = layer(archive, feature)[FILES[0]] or b""
    bow = {"type": "Polygon", "coordinates": [[[0, 0], [1, 1], [1, 0], [0, 1], [0, 0]]]}
    elsewhere = "01k9zq3mgse2j7tbyw5c4r8nhd"

    def changed(to: Any = feature, *, file: str = FILES[0], **properties: Any) -> Any:
        return layer(archive, to | {"properties": to["properties"] | properties}, name=file)

    def history(**members: Any) -> bytes:
        return json.dumps(entry | members).encode() + b"\n"

    yield "has no manifest.json", {manifest: None}, {}
    yield "manifest.json: format: ", {manifest: b'{"format": "other"}'}, {}
    yield "manifest.json: It is not valid JSON: ", {manifest: b"{"}, {}
    yield "Its format is 3, of Canopy ", {}, {"format_version": 3}
    yield "was changed after the export", {}, {"files": []}
    yield "manifest.json: account.id: ", {}, {"account": {"id": "1", "slug": "x"}}
    for slug in ("../x", "-x", "x" * 64, ""):
        account = {"id": f"acct_{elsewhere}", "slug": slug}
        yield "manifest.json: account.slug: ", {}, {"account": account}
    yield "account.json: account: Must be a JSON object", {"account.json": b'{"account":1}'}, {}
    yield "account.json: account.name: Required", {"account.json": b'{"account":{}}'}, {}
    yield "has no projects.geojson", {FILES[0]: None}, {}
    yield "line 1: This is no JSON object", {FILES[0]: b"[]\n\n\n"}, {}
    yield f"{line}It is not valid JSON: ", {FILES[0]: good.replace(b"}", b"", 1)}, {}
    twice = good.replace(b'"geometry":', b'"id":1,"geometry":')
    yield f"{line}It repeats the name 'id'", {FILES[0]: twice}, {}
    yield f"{line}This is no JSON object", layer(archive, 7), {}
    yield f"{line}This is no GeoJSON Feature", layer(archive, {"type": "Feature"}), {}
    yield f"{line}name: Required", layer(archive, feature | {"properties": {}}), {}
    yield f"{line}id: Must be the id of a project", changed(id="x"), {}
    yield f"{line}name: ", changed(name=" "), {}
    yield f"{line}status: ", changed(status="sold"), {}
    yield f"{line}slug: 'A b' is no slug", changed(slug="A b"), {}
    yield f"{line}created_at: Must be an RFC 3339", changed(created_at="now"), {}
    yield f"{line}updated_at: ", changed(updated_at="9999-01-01T00:00:00Z"), {}
    yield f"{line}geometry.coordinates: ", layer(archive, feature | {"geometry": bow}), {}
    again = layer(archive, feature, feature | {"properties": feature["properties"] | {"slug": "b"}})
    yield "line 3: Another project has the same id", again, {}
    same_slug = feature | {"properties": feature["properties"] | {"id": f"proj_{elsewhere}"}}
    yield "line 3: Another project has the same slug", layer(archive, feature, same_slug), {}
    moved_asset = changed(asset, file=FILES[1], project_id=f"proj_{elsewhere}")
    yield f"line 2: proj_{elsewhere} is no project of", moved_asset, {}
    yield "line 1: source: ", {FILES[2]: history(source="me")}, {}
    yield "line 1: added_hectares: ", {FILES[2]: history(added_hectares="x")}, {}
    yield "line 1: geometry.coordinates: ", {FILES[2]: history(geometry=bow)}, {}
    two = history() + history(id=f"bnd_{elsewhere}")
    yield "line 2: Another boundary of this project has no replaced_at", {FILES[2]: two}, {}
    vast = {FILES[2]: history(area_hectares=1e12)}
    yield "line 1: area_hectares: Must be from 0 to 51,100,000,000.\n", vast, {}
    yield "with a path that leads out of it", {"../../evil.json": b"{}"}, {}
    yield "unpacks to more than", {FILES[2]: b" " * 30_000_000}, {}
    told = json.loads(archive.zip.read(manifest))["files"]
    uncounted = [entry | {"records": "1"} for entry in told]
    yield "manifest.json: files.0.records: ", {}, {"files": uncounted}
    yield "was changed after the export", changed(name="Weed"), {"files": told}


def test_other_files_are_refused(
    app: Flask, client: Client, run: Run, tmp_path: Path, subtests: pytest.Subtests
) -> None:
    project = make_project(client, name="Wood", geometry=square(), metadata={"a": 1})
    make_asset(client, project["id"], location=point())
    archive = export(run, client.account_id, tmp_path / "a.zip")
    options = ("--owner-email", new_email(), "--ids", str(tmp_path / "ids.csv"), "--force")
    before = counts(app)
    for message, files, manifest in cases(archive):
        with subtests.test(message):
            repack(tmp_path, files, **manifest)
            done = run("account", "import", str(tmp_path / "b.zip"), *options)
            assert (done.exit_code, done.stdout) == (1, ""), done.output
            assert message in done.stderr
    (tmp_path / "b.zip").write_bytes((tmp_path / "a.zip").read_bytes()[:-40])
    done = run("account", "import", str(tmp_path / "b.zip"), *options)
    assert "damaged or incomplete" in done.stderr
    assert counts(app) == before
