"""An import from the upload to its end."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import shapely
from werkzeug.test import TestResponse

from app.account.lookup import find_account
from app.auth.operator import acting_for, first_owner
from app.db.extensions import db
from app.db.transactions import transaction
from app.imports import applying, leases, preview
from app.imports import steps as jobs_steps
from app.imports.features.project_matching import ProjectMatcher
from app.imports.features.reader_process import ReaderProcess
from app.imports.service import create_import
from app.policy.imports import BATCH_FEATURES, POLL_SECONDS, SAME_BOX
from tests.formats.readers.gdal import write
from tests.imports.making import (
    act,
    answered,
    counts,
    features_of,
    projects,
    read,
    ready,
    upload,
    uploaded,
    work,
)
from tests.make import (
    Client,
    event_types,
    make_asset,
    make_key,
    make_project,
    point,
    second_app,
    square,
)
from tests.make.features import DISTRICTS, collection, feature


def test_an_upload_waits_to_be_read(client: Client) -> None:
    response = upload(client, collection(feature(square(), name="Alpine")), "a b.geojson")
    record = response.json["data"]
    assert (response.status_code, record["status"]) == (202, "reading")
    assert response.headers["Location"].endswith(f"/v1/imports/{record['id']}")
    assert (record["filename"], record["progress"]) == ("a b.geojson", {"done": 0, "total": 0})
    assert read(client, record["id"]) == record


@pytest.mark.both
def test_a_file_that_was_read_says_what_would_become_of_it(client: Client) -> None:
    make_project(client, name="Known", geometry=square(1, 1))
    before = projects(client)
    record = ready(
        client,
        feature(square(1, 1), name="Known"),
        feature(square(2, 2), name="New", soil="loam"),
        feature(
            {"type": "Polygon", "coordinates": [[[0, 0], [1, 1], [1, 0], [0, 1], [0, 0]]]},
            name="Bow",
        ),
    )
    assert (record["status"], record["format"], counts(record)) == (
        "ready",
        "geojson",
        (1, 0, 1, 1),
    )
    assert record["progress"] == {"done": 3, "total": 3}
    assert record["mapping"]["name"] == "name"
    known, new, bow = features_of(client, record)
    assert (known["verdict"], known["project_id"]) == ("same", before["Known"]["id"])
    assert (new["verdict"], new["name"], new["project_id"]) == ("new", "New", None)
    account, area = before["Known"]["area_hectares"] + new["area_hectares"], new["area_hectares"]
    hectares = {"before": 0, "after": area, "overlapping": 0}
    assert record["hectares"] == hectares | {"account": account, "limit": None}
    (problem,) = bow["problems"]
    assert (problem["code"], problem["ring"], problem["position"]) == ("self_intersection", 0, 0)
    assert features_of(client, record, verdict="rejected") == [bow]
    assert projects(client) == before
    done = act(client, record, "apply")
    assert (done["status"], done["progress"]) == ("applied", {"done": 1, "total": 1})
    assert done["hectares"]["account"] == account
    made = projects(client)["New"]
    assert made["metadata"] == {"soil": "loam"}
    (shown,) = features_of(client, done, state="applied")
    assert (shown["name"], shown["project_id"]) == ("New", made["id"])
    assert event_types(client)[-1] == "project.created"


def test_a_client_learns_when_to_look_again(client: Client) -> None:
    """While a worker is at the import, also where nothing has changed (304)."""

    def wait(response: TestResponse) -> str | None:
        return response.headers.get("Retry-After")

    key = {"Idempotency-Key": "once"}
    accepted = upload(client, collection(feature(square(1, 1), name="A")))
    path = f"/v1/imports/{accepted.json['data']['id']}"
    assert (accepted.status_code, wait(accepted)) == (202, str(POLL_SECONDS))
    reading = client.get(path)
    assert wait(reading) == str(POLL_SECONDS)
    same = client.get(path, headers={"If-None-Match": reading.headers["ETag"]})
    assert (same.status_code, wait(same)) == (304, str(POLL_SECONDS))
    work(client)
    assert wait(client.get(path)) is None
    for action in ("apply", "undo"):
        for _ in range(2):  # the second is the stored response
            accepted = client.post(f"{path}/{action}", headers=key)
            assert (accepted.status_code, wait(accepted)) == (202, str(POLL_SECONDS))
        assert wait(client.get(path)) == str(POLL_SECONDS)
        work(client)
        assert wait(client.get(path)) is None
        key = {"Idempotency-Key": "again"}
    assert wait(client.post(f"{path}/cancel")) is None


LINE = {"type": "LineString", "coordinates": [[0, 0], [1, 0]]}
SPECIES = b"name,species,ha\nNorth,oak,1\nNorth,beech,2\nSouth,oak,3\nnorth,oak,1\n"


def table(client: Client, content: bytes = SPECIES, **form: Any) -> dict[str, Any]:
    """An import of a table that was read."""
    return uploaded(client, content, "rows.csv", **form)


@pytest.mark.parametrize("kind", ["projects", "assets"])
def test_rows_are_the_same_only_with_all_their_values(client: Client, kind: str) -> None:
    """Applied once, they are the same as what was made of them, row by row."""
    form = {"kind": kind}
    if kind == "assets":
        form["project_id"] = make_project(client)["id"]
    form["without_boundaries"] = "true"
    record = table(client, **form)
    assert counts(record) == (3, 0, 1, 0)
    assert record["notes"][-1] == (
        "1 feature is repeated, with all the values of another one, and left out."
    )
    act(client, record, "apply")
    assert counts(table(client, **form)) == (0, 0, 4, 0)
    more = table(client, SPECIES + b"North,ash,1\nNorth,fir,1\n", **form)
    assert counts(more) == (2, 0, 4, 0)
    assert counts(act(client, more, "apply")) == (2, 0, 4, 0)
    if kind == "projects":
        made = {name: one["metadata"]["species"] for name, one in projects(client).items()}
        assert made == {
            "North": "oak", "North (2)": "beech", "South": "oak", "North (3)": "ash",
            "North (4)": "fir",
        }  # fmt: skip


def test_features_without_a_name_are_numbered(client: Client) -> None:
    names = ("North", None, "", "South", "North")
    stands = [feature(square(n), name=name, code=f"C{n}") for n, name in enumerate(names)]
    content = collection(*stands)
    record = table(client, content.replace(b'"features"', b'"name":"woods","features"', 1))
    assert counts(record) == (5, 0, 0, 0)
    assert record["notes"] == [
        "2 features have no name in the column “name”: it is “woods” and the number of the feature."
    ]
    act(client, record, "apply")
    assert {*projects(client)} == {"North", "woods 2", "woods 3", "South", "North (2)"}


def test_a_number_instead_of_a_name_renames_nothing(client: Client) -> None:
    make_project(client, name="Alpine", external_id="C1", geometry=square(9))
    record = ready(client, feature(square(1), external_id="C1"))
    assert (record["match"], counts(record)) == ("external_id", (0, 1, 0, 0))
    assert features_of(client, record)[0]["changes"] == ["geometry"]
    act(client, record, "apply")
    assert {*projects(client)} == {"Alpine"}


@pytest.mark.slow
def test_others_can_write_while_features_are_read_and_decided_about(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On SQLite, a transaction that is open would hold them all up."""
    asked: list[tuple[str, bool]] = []

    def watch(kind: object, name: str) -> None:
        own = getattr(kind, name)

        def watched(*given: Any) -> Any:
            asked.append((name, db.session().in_transaction()))
            return own(*given)

        monkeypatch.setattr(kind, name, watched)

    watch(ReaderProcess, "_read")
    watch(ProjectMatcher, "decide")
    watch(applying, "compare_ahead")
    monkeypatch.setattr(applying, "BATCH_BYTES", 1)  # so that each is written by itself
    monkeypatch.setattr(jobs_steps, "TURN_SECONDS", 0.0)
    make_project(client, name="P1", geometry=square(9))
    features = [feature(square(n), name=f"P{n}") for n in range(2)]
    act(client, ready(client, *features, match="name"), "apply")
    assert set(asked) == {("_read", False), ("decide", False), ("compare_ahead", False)}


@pytest.mark.both
def test_what_an_import_did_is_undone(client: Client) -> None:
    make_project(client, name="Old", geometry=square(1, 1), external_id="O", metadata={"a": 1})
    before = projects(client)
    usage = client.get("/v1/account").json["data"]["usage"]
    record = ready(
        client,
        feature(square(2, 2), name="Renamed", external_id="O", a=2, b=3),
        feature(square(3, 3), name="New", external_id="N"),
    )
    assert counts(act(client, record, "apply")) == (1, 1, 0, 0)
    assert set(projects(client)) == {"Renamed", "New"}
    done = act(client, record, "undo")
    assert (done["status"], done["counts"]["undone"], done["counts"]["kept"]) == ("undone", 2, 0)
    after = projects(client)
    del after["Old"]["updated_at"], before["Old"]["updated_at"]
    assert after == before
    assert client.get("/v1/account").json["data"]["usage"] == usage


@pytest.mark.both
def test_what_somebody_changed_since_is_kept(client: Client) -> None:
    record = ready(client, *(feature(square(n, n), name=f"P{n}") for n in range(4)))
    act(client, record, "apply")
    made = projects(client)
    client.put(f"/v1/projects/{made['P0']['id']}", json={"description": "Mine now."})
    make_asset(client, made["P1"]["id"])
    client.post(f"/v1/projects/{made['P2']['id']}/archive")
    client.delete(f"/v1/projects/{made['P2']['id']}")
    done = act(client, record, "undo")
    assert (done["counts"]["undone"], done["counts"]["kept"]) == (2, 2)
    assert set(projects(client)) == {"P0", "P1"}
    kept = [one for one in features_of(client, done) if one["state"] == "kept"]
    assert [one["problems"][0]["message"] for one in kept] == [
        "The project was changed after the import.",
        "Assets were added since; the project was kept.",
    ]


def test_the_file_is_read_again_with_other_choices(client: Client) -> None:
    record = ready(client, feature(square(), name="Alpine", code="A-1", soil="loam"))
    mapping = {"name": "code", "metadata": ["soil"]}
    changed = client.put(f"/v1/imports/{record['id']}", json={"mapping": mapping}).json["data"]
    assert changed["status"] == "reading"
    work(client)
    (shown,) = features_of(client, record)
    assert shown["name"] == "A-1"
    act(client, record, "apply")
    assert projects(client)["A-1"]["metadata"] == {"soil": "loam"}


def _gpx(**more: str) -> bytes:
    """A GPX file with a route and a track around a square, which have the same columns and more."""
    square_of = {"rte": "rtept", "trk": "trkpt"}
    parts = []
    for kind, name in square_of.items():
        points = "".join(f'<{name} lat="{y}" lon="{x}"/>' for x, y in ((0, 50), (1, 50), (1, 51)))
        inner = points if kind == "rte" else f"<trkseg>{points}</trkseg>"
        texts = f"<name>N-{kind}</name><cmt>C-{kind}</cmt>{more.get(kind, '')}"
        parts.append(f"<{kind}>{texts}{inner}</{kind}>")
    head = '<gpx version="1.1" creator="x" xmlns="http://www.topografix.com/GPX/1/1">'
    return f"{head}{''.join(parts)}</gpx>".encode()


def _read_layer(client: Client, content: bytes, **form: Any) -> dict[str, Any]:
    """The import of a file whose layer of tracks is read first, after that of routes was chosen."""
    record = upload(client, content, "a.gpx", layer="tracks", close_lines=True, **form).json["data"]
    work(client)
    assert read(client, record["id"])["status"] == "ready"
    client.put(f"/v1/imports/{record['id']}", json={"layer": "routes"})
    work(client)
    return read(client, record["id"])


def test_another_layer_is_read_with_the_same_columns(client: Client) -> None:
    mapping = {"name": "cmt", "external_id": "name", "metadata": ["name"]}
    record = _read_layer(client, _gpx(), mapping=mapping, match="external_id")
    assert (record["status"], record["mapping"], record["match"]) == (
        "ready", mapping | {"metadata": ["name"]}, "external_id",
    )  # fmt: skip
    assert [each["name"] for each in features_of(client, record)] == ["C-rte"]
    none = mapping | {"metadata": []}
    answered(client, record, mapping=none)
    changed = client.put(f"/v1/imports/{record['id']}", json={"layer": "tracks"})
    assert changed.json["data"]["mapping"] == none


def test_columns_that_another_layer_does_not_have_are_guessed(client: Client) -> None:
    content = _gpx(trk="<desc>D</desc><type>T</type>")
    mapping = {"name": "desc", "external_id": "type", "metadata": ["type"]}
    record = _read_layer(client, content, mapping=mapping, match="external_id")
    assert (record["status"], record["match"]) == ("ready", "none")
    assert record["mapping"] == {"name": "name", "metadata": None} | record["mapping"]
    assert "external_id" not in record["mapping"]
    assert [each["name"] for each in features_of(client, record)] == ["N-rte"]


def test_the_name_of_a_file_is_plain(client: Client) -> None:
    with client.app.app_context(), transaction():
        account = find_account(client.account_id)
        owner = acting_for(account, first_owner(account.id))
        for sent, kept in (
            ("../../etc/pass\x7fwd", "passwd"),
            ("C:\\Users\\me\\wald.geojson", "wald.geojson"),
            ("a/b\x1b[2J\x85.kml", "b[2J.kml"),
            ("folder/", "file"),
            ("Wälder 2026.shp.zip", "Wälder 2026.shp.zip"),
        ):
            made = create_import(owner, kind="projects", filename=sent, upload_id=None)
            assert made.filename == kept


def test_the_file_is_bounded_and_not_the_form(client: Client) -> None:
    content = collection(feature(square(), name="Alpine"))
    with second_app(client.app, max_import_bytes=len(content)) as small:
        caller = Client(small, client.account_id, client.owner_id, client.token)
        assert upload(caller, content).status_code == 202
        response = upload(caller, content + b" ")
    assert response.status_code == 413
    message = response.json["error"]["message"]
    assert message == f"The file is larger than {len(content):,} bytes."


def test_an_unknown_column_is_named(client: Client) -> None:
    record = ready(client, feature(square(), name="Alpine"), mapping={"name": "NAMN"})
    assert record["status"] == "failed"
    assert record["message"] == "The layer has no column 'NAMN'. Its columns are: name."
    choices = {"corners_by": "plot", "mapping": {"name": "name"}}
    client.put(f"/v1/imports/{record['id']}", json=choices)
    work(client)
    assert read(client, record["id"])["message"] == (
        "The layer has no column 'plot', which corners_by names. Its columns are: name."
    )
    client.put(f"/v1/imports/{record['id']}", json={"corners_by": None})
    client.put(f"/v1/imports/{record['id']}", json={"mapping": {"name": "name"}})
    work(client)
    assert read(client, record["id"])["status"] == "ready"


@pytest.mark.both
def test_the_mapping_of_the_last_import_is_remembered(client: Client) -> None:
    one = ready(client, feature(square(1, 1), a="A", b="B"), mapping={"name": "b"})
    act(client, one, "apply")
    again = ready(client, feature(square(2, 2), a="C", b="D"))
    assert (again["mapping"]["name"], features_of(client, again)[0]["name"]) == ("b", "D")


def test_the_same_file_again_changes_nothing(client: Client) -> None:
    content = DISTRICTS.read_bytes()
    for expected in ((4, 0, 0, 1), (0, 0, 4, 1)):
        record = uploaded(client, content)
        assert counts(record) == expected
        act(client, record, "apply")


@pytest.mark.slow
def test_very_many_projects_in_one_box_are_told_apart_by_name(client: Client) -> None:
    """Each boundary has the same box, and another notch."""
    ring = [[0, 0], [1, 0], [1, 1], [0.5, 0.9], [0, 1], [0, 0]]
    features = []
    for number in range(SAME_BOX + 20):
        notched = [*ring[:3], [0.5, 0.9 - number / 1000], *ring[4:]]
        polygon = {"type": "Polygon", "coordinates": [notched]}
        features.append(feature(polygon, name=f"Stand {number}"))
    for expected in ((len(features), 0, 0, 0), (0, 0, len(features), 0)):
        record = act(client, ready(client, *features), "apply")
        assert counts(record) == expected


@pytest.mark.both
def test_two_imports_of_one_file_make_each_project_once(client: Client) -> None:
    both = [ready(client, feature(square(), name="Alpine")) for _ in range(2)]
    assert [counts(each) for each in both] == [(1, 0, 0, 0)] * 2
    done = [act(client, each, "apply") for each in both]
    assert [counts(each) for each in done] == [(1, 0, 0, 0), (0, 0, 1, 0)]
    assert list(projects(client)) == ["Alpine"]


def test_a_step_that_fails_leaves_the_others_alone(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = upload(client, collection(feature(square(1, 1), name="One"))).json["data"]["id"]
    second = upload(client, collection(feature(square(2, 2), name="Two"))).json["data"]["id"]
    run_step = jobs_steps.run_step

    def fail_once(leased: Any, in_transaction: Any) -> None:
        if leased.import_id == first:
            raise ZeroDivisionError
        run_step(leased, in_transaction)

    monkeypatch.setattr(jobs_steps, "run_step", fail_once)
    work(client)
    assert read(client, first)["status"] == "reading"
    assert read(client, second)["status"] == "ready"


@pytest.mark.both
def test_names_that_cannot_be_stored_are_changed_and_the_whole_ones_kept(client: Client) -> None:
    names = ["a\0b", "\x07", *("x" * n for n in (100_000, 10_000, 201))]
    features = [feature(square(n), name=name) for n, name in enumerate(names)]
    rejected = [feature(LINE, name=name) for name in ("c\0d", "y" * 100_000)]
    record = ready(client, *features, *rejected)
    assert counts(record) == (5, 0, 0, 2)
    cut = "x" * 199 + "…"
    listed = [one["name"] for one in features_of(client, record)]
    assert listed[:3] == ["a b", "forests 2", cut]
    assert {len(name) for name in listed[2:5]} == {200}
    assert listed[5:] == ["c d", "y" * 199 + "…"]
    assert record["notes"] == [
        "1 feature has no name in the column “name”: it is “forests” and the number of the "
        "feature.",
        "3 features have a name of more than 200 characters, which was cut. The whole name of 2 of "
        "them is in the metadata, as “name”.",
        "2 features have control characters, which cannot be shown, in “name”: they were read as "
        "Windows-1252, or left out.",
    ]
    act(client, record, "apply")
    kept = [(one["metadata"] or {}).get("name", "") for one in projects(client).values()]
    assert sorted(map(len, kept)) == [0, 0, 0, 201, 10_000]


def test_long_names_are_matched_as_they_were_cut(client: Client) -> None:
    long = "Old oaks " * 30
    act(client, ready(client, feature(square(), name=long)), "apply")
    moved = ready(client, feature(square(1), name=long), match="name")
    assert counts(moved) == (0, 1, 0, 0)
    twice = [feature(square(n), name=long) for n in (2, 3)]  # neither is known to be it
    assert counts(ready(client, *twice, match="name")) == (0, 0, 0, 2)


def test_names_of_columns_that_are_long_together_are_refused(client: Client) -> None:
    record = ready(client, feature(square(), **{f"{n:03}" + "x" * 300: n for n in range(400)}))
    assert record["status"] == "failed"
    assert "more than 100,000 characters together" in record["message"]


@pytest.mark.slow
def test_a_step_that_fails_again_and_again_ends(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = collection(*(feature(square(n), name=f"P{n}") for n in range(BATCH_FEATURES + 1)))
    import_id = upload(client, content).json["data"]["id"]
    feature_row = preview.feature_row

    def fail_late(account_id: str, own_id: str, item: Any, decision: Any) -> Any:
        if item.number > BATCH_FEATURES:
            raise ZeroDivisionError
        return feature_row(account_id, own_id, item, decision)

    monkeypatch.setattr(preview, "feature_row", fail_late)
    monkeypatch.setattr(leases, "LEASE_SECONDS", 0)
    work(client)
    record = read(client, import_id)
    assert record["status"] == "failed"
    assert record["message"] == "The import ended unexpectedly several times."


@pytest.mark.both
def test_points_become_assets(client: Client) -> None:
    project = make_project(client)
    spot = {"type": "Point", "coordinates": [8.5, 50.25]}
    record = ready(
        client,
        feature(spot, name="Station 1", type="Monitoring Station", serial=7),
        feature(square(), name="Area"),
        kind="assets",
        project_id=project["id"],
    )
    assert counts(record) == (1, 0, 0, 1)
    act(client, record, "apply")
    (asset,) = client.get(f"/v1/projects/{project['id']}/assets").json["data"]
    assert (asset["name"], asset["type"]) == ("Station 1", "monitoring_station")
    assert (asset["location"], asset["metadata"]) == (spot, {"serial": 7})
    act(client, record, "undo")
    assert client.get(f"/v1/projects/{project['id']}/assets").json["data"] == []


def test_several_points_of_a_feature_become_as_many_assets(client: Client) -> None:
    points = {"type": "MultiPoint", "coordinates": [[1, 2], [3, 4]]}
    features = [
        feature(points, name="Traps"),
        feature({"type": "MultiPoint", "coordinates": [[5, 6]]}, name="Gate"),
        feature(points, name=None),
        feature({"type": "Point", "coordinates": []}, name="Somewhere"),
    ]
    project_id = make_project(client)["id"]
    record = ready(client, *features, kind="assets", project_id=project_id)
    assert counts(record) == (6, 0, 0, 0)
    assert any("several points" in note for note in record["notes"])
    act(client, record, "apply")
    made = client.get(f"/v1/projects/{project_id}/assets").json["data"]
    assert [each["name"].split()[0] for each in made].count("forests") == 2
    places = {each["name"]: each["location"] for each in made}
    assert places["Gate"]["coordinates"] == [5, 6]
    assert places["Traps 2"]["coordinates"] == [3, 4]
    assert places["Somewhere"] is None


def test_assets_outside_of_their_project_are_told(client: Client) -> None:
    project = make_project(client, geometry=square(10, 50, 1))["id"]
    shapes = {"In": point(10.5, 50.5), "Out": point(12, 50.5), "Nowhere": None}
    assets = [feature(shape, name=name) for name, shape in shapes.items()]
    record = ready(client, *assets, kind="assets", project_id=project)
    found = {one["name"]: one["outside"] for one in features_of(client, record)}
    assert found == {"In": False, "Out": True, "Nowhere": None}
    assert "1 feature lies outside the boundary of the project." in record["notes"]
    bare = make_project(client)["id"]
    record = ready(client, *assets, kind="assets", project_id=bare)
    assert {one["outside"] for one in features_of(client, record)} == {None}
    assert "outside" not in features_of(client, ready(client, feature(square(), name="A")))[0]


def test_features_without_a_boundary_are_counted(client: Client) -> None:
    features = [feature(None, name="A"), feature(square(), name="B"), feature(point(), name="C")]
    record = ready(client, *features)
    assert record["counts"]["without_boundary"] == 1
    assert act(client, record, "apply")["counts"]["without_boundary"] == 1
    assert table(client)["counts"]["without_boundary"] == 4


def test_names_of_which_no_slug_can_be_made_are_found_again(client: Client) -> None:
    nameless = [feature(None, name="?!", stand=n) for n in range(2)]
    act(client, ready(client, feature(square(), name="A"), *nameless), "apply")
    assert counts(ready(client, *nameless)) == (0, 0, 2, 0)


def test_points_are_read_again_as_assets(client: Client) -> None:
    points = [feature(point(n), name=f"P{n}", type="well") for n in range(3)]
    record = ready(client, *points, mapping={"description": "type"}, match="name")
    assert counts(record) == (0, 0, 0, 3)
    path = f"/v1/imports/{record['id']}"
    for body, field in (
        ({"kind": "assets"}, "project_id"),
        ({"kind": "assets", "project_id": "proj_01k9zq3mgse2j7tbyw5c4r8nhd"}, "project_id"),
        ({"project_id": make_project(client)["id"]}, "project_id"),
        ({"kind": "trees"}, "kind"),
    ):
        refused = client.put(path, json=body)
        assert refused.status_code == 422
        assert refused.json["error"]["details"][0]["field"] == field
    project_id = make_project(client)["id"]
    changed = client.put(path, json={"kind": "assets", "project_id": project_id})
    assert changed.status_code == 200
    work(client)
    record = read(client, record["id"])
    assert (record["kind"], record["project_id"], record["match"]) == ("assets", project_id, "none")
    assert (counts(record), record["mapping"]["type"]) == ((3, 0, 0, 0), "type")
    client.put(path, json={"kind": "projects"})
    work(client)
    assert counts(read(client, record["id"])) == (0, 0, 0, 3)
    client.put(path, json={"kind": "assets", "project_id": project_id})
    work(client)
    act(client, record, "apply")
    made = client.get(f"/v1/projects/{project_id}/assets").json["data"]
    assert {each["type"] for each in made} == {"well"}


def test_a_key_for_assets_makes_no_projects_of_them(client: Client) -> None:
    project_id = make_project(client)["id"]
    key = make_key(client, permissions=["assets:write"])
    record = ready(key, feature(point(), name="A"), kind="assets", project_id=project_id)
    refused = key.put(f"/v1/imports/{record['id']}", json={"kind": "projects"})
    assert refused.status_code == 403


@pytest.mark.parametrize(("kind", "layer"), [("projects", "stands"), ("assets", "traps")])
def test_the_layer_that_has_what_is_wanted_is_read(
    client: Client, kind: str, layer: str, tmp_path: Path
) -> None:
    places = [("empty", [], []), ("roads", [LINE], ["R"]), ("traps", [point()], ["T"])]
    types = {"roads": "LineString", "traps": "Point"}
    for name, geometries, names in [*places, ("stands", [square()], ["S"])]:
        write(
            tmp_path / "a.gpkg",
            "GPKG",
            [shapely.from_geojson(json.dumps(each)) for each in geometries],
            columns={"name": names},
            layer=name,
            append=name != "empty",
            geometry_type=types.get(name, "Polygon"),
        )
    form = {"kind": kind}
    if kind == "assets":
        form["project_id"] = make_project(client)["id"]
    record = uploaded(client, (tmp_path / "a.gpkg").read_bytes(), "a.gpkg", **form)
    assert (record["layer"], counts(record)) == (layer, (1, 0, 0, 0))
    assert "empty (0)" in record["notes"][0]
    assert [each["geometry"] for each in record["layers"]] == [None, "lines", "points", "areas"]


METERS = {"type": "Polygon", "coordinates": [
    [[5e5, 52e5], [501e3, 52e5], [501e3, 5201e3], [5e5, 5201e3], [5e5, 52e5]],
]}  # fmt: skip


def test_meters_ask_for_their_system(client: Client) -> None:
    """GeoJSON has none, and is not judged until somebody names it."""
    record = ready(client, feature(METERS, name="A"))
    assert (record["status"], record["crs"], counts(record)) == ("ready", None, (0, 0, 0, 0))
    assert record["message"] == (
        "Positions such as (500000, 5200000) look like meters, not degrees. Which coordinate "
        "system is it in?"
    )
    assert features_of(client, record) == []
    path = f"/v1/imports/{record['id']}"
    refused = client.post(f"{path}/apply")
    assert (refused.status_code, refused.json["error"]["details"][0]["field"]) == (409, "crs")
    client.put(path, json={"crs": "EPSG:25832"})
    work(client)
    record = read(client, record["id"])
    assert (record["crs"], record["message"], counts(record)) == ("EPSG:25832", None, (1, 0, 0, 0))
    assert features_of(client, record)[0]["area_hectares"] == pytest.approx(100.08, abs=0.1)
    client.put(path, json={"crs": None})
    work(client)
    assert read(client, record["id"])["crs"] is None


def test_another_layer_and_kind_at_once(client: Client, tmp_path: Path) -> None:
    path = tmp_path / "a.gpkg"
    for name, shape, column, kind in (
        ("stands", square(), "name", "Polygon"),
        ("traps", point(), "label", "Point"),
    ):
        shapes = [shapely.from_geojson(json.dumps(shape))]
        options = {"layer": name, "append": name == "traps", "geometry_type": kind}
        write(path, "GPKG", shapes, columns={column: ["A"]}, **options)
    response = upload(client, path.read_bytes(), "a.gpkg")
    work(client)
    own = f"/v1/imports/{response.json['data']['id']}"
    body = {"kind": "assets", "project_id": make_project(client)["id"], "layer": "traps"}
    assert client.put(own, json=body).status_code == 200
    work(client)
    record = client.get(own).json["data"]
    assert (record["status"], counts(record)) == ("ready", (1, 0, 0, 0))
    assert record["mapping"]["name"] == "label"
