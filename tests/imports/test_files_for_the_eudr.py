"""Files for the EUDR and Whisp's results, from the upload to what the lists show."""

from __future__ import annotations

import json
from typing import Any, Final

import pytest

from app.imports import applying, steps
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
from tests.make import Client, make_key, make_project, point, square
from tests.make.features import collection, feature

FARM: Final = {"ProducerName": "Anna Roth", "ProducerCountry": "AT", "ProductionPlace": "Ötz"}
HOLED: Final = {
    "type": "Polygon",
    "coordinates": [
        [[10, 47], [10.02, 47], [10.02, 47.02], [10, 47.02], [10, 47]],
        [[10.005, 47.005], [10.005, 47.01], [10.01, 47.01], [10.01, 47.005], [10.005, 47.005]],
    ],
}


def at(x: float, y: float = 47) -> dict[str, Any]:
    return point(x, y)


def mixed(client: Client, **form: Any) -> dict[str, Any]:
    """Two areas and two points, read."""
    return ready(
        client,
        feature(square(10, 47, 0.01), **FARM, Area=3.5),
        feature(at(11), **FARM | {"ProductionPlace": "Imst"}, Area=4.0),
        feature(square(12, 47, 0.01), **FARM | {"ProductionPlace": ""}, Area="3"),
        feature(at(13), **FARM, Area=4),
        **form,
    )


def plots(client: Client, project_id: str) -> list[dict[str, Any]]:
    path = f"/v1/projects/{project_id}/assets?per_page=100"
    found: list[dict[str, Any]] = client.get(path).json["data"]
    return sorted(found, key=lambda asset: asset["id"])


def test_what_the_points_are_is_asked_before_it_is_applied(client: Client) -> None:
    record = mixed(client)
    (question,) = record["questions"]
    assert (question["code"], question["required"]) == ("geometry_type", True)
    assert [option["put"] for option in question["options"]] == [
        {"points_as_plots": True},
        {"points_as_plots": True, "project_id": None},
        {"points_as_plots": False},
    ]
    assert question["options"][0]["label"] == ("Plots kept as points, of a new project “forests”")
    refused = client.post(f"/v1/imports/{record['id']}/apply")
    assert refused.status_code == 409
    assert refused.json["error"]["details"][0]["field"] == "geometry_type"


@pytest.mark.both
def test_areas_become_projects_and_points_plots_of_a_new_one(client: Client) -> None:
    record = answered(client, mixed(client), points_as_plots=True, project_id=None)
    assert (record["questions"], counts(record)) == ([], (4, 0, 0, 0))
    assert record["counts"]["new_plots"] == 2
    kinds = [each["kind"] for each in features_of(client, record)]
    assert kinds == ["projects", "assets", "projects", "assets"]
    record = act(client, record, "apply")
    assert record["status"] == "applied"
    made = projects(client)
    assert sorted(made) == ["forests", "forests 3", "Ötz"]
    assert made["forests"]["geometry"] is None
    assert record["project_id"] == made["forests"]["id"]
    assert made["Ötz"]["metadata"] == FARM | {"Area": 3.5}
    assert made["forests 3"]["metadata"]["Area"] == "3"
    imst, oetz = plots(client, record["project_id"])
    assert [imst["name"], oetz["name"]] == ["Imst", "Ötz"]
    assert {imst["type"], oetz["type"]} == {"plot"}
    assert imst["location"] == at(11)
    assert imst["metadata"] == FARM | {"ProductionPlace": "Imst", "Area": 4.0}
    assert [type(each["metadata"]["Area"]) for each in (imst, oetz)] == [float, int]
    assert [each.get("asset_id") for each in features_of(client, record)] == (
        [None, imst["id"], None, oetz["id"]]
    )


def test_undoing_takes_the_new_project_back(client: Client) -> None:
    record = act(client, answered(client, mixed(client), points_as_plots=True), "apply")
    record = act(client, record, "undo")
    assert (record["status"], record["counts"]["undone"], projects(client)) == ("undone", 4, {})
    assert not any("was kept" in note for note in record["notes"])


def test_the_new_project_is_kept_if_something_else_is_in_it(client: Client) -> None:
    record = act(client, answered(client, mixed(client), points_as_plots=True), "apply")
    path = f"/v1/projects/{record['project_id']}/assets"
    assert client.post(path, json={"name": "Hut", "type": "building"}).status_code == 201
    record = act(client, record, "undo")
    assert list(projects(client)) == ["forests"]
    assert [each["name"] for each in plots(client, record["project_id"])] == ["Hut"]
    assert "was kept: Assets were added since" in record["notes"][-1]


def test_points_become_plots_of_a_project_that_is_named(client: Client) -> None:
    project = make_project(client, name="Coop")["id"]
    record = answered(client, mixed(client), points_as_plots=True, project_id=project)
    record = act(client, record, "apply")
    assert [each["name"] for each in plots(client, project)] == ["Imst", "Ötz"]
    assert sorted(projects(client)) == ["Coop", "forests 3", "Ötz"]
    act(client, record, "undo")
    assert (list(projects(client)), plots(client, project)) == (["Coop"], [])


def test_the_same_file_again_changes_nothing(client: Client) -> None:
    first = act(client, answered(client, mixed(client), points_as_plots=True), "apply")
    for match in ("none", "name"):
        again = mixed(client, points_as_plots=True, project_id=first["project_id"], match=match)
        assert counts(again) == (0, 0, 4, 0), match


def test_points_are_rejected_if_somebody_says_so(client: Client) -> None:
    record = answered(client, mixed(client), points_as_plots=False)
    assert (record["questions"], counts(record)) == ([], (2, 0, 0, 2))
    act(client, record, "apply")
    assert sorted(projects(client)) == ["forests 3", "Ötz"]


def test_a_plot_is_left_out(client: Client) -> None:
    record = answered(client, mixed(client), points_as_plots=True)
    response = client.put(f"/v1/imports/{record['id']}", json={"left_out": [2]})
    assert response.json["data"]["counts"]["new_plots"] == 1
    record = act(client, record, "apply")
    assert [each["name"] for each in plots(client, record["project_id"])] == ["Ötz"]


def test_no_project_is_made_where_no_plot_is_written(client: Client) -> None:
    record = answered(client, mixed(client), points_as_plots=True)
    client.put(f"/v1/imports/{record['id']}", json={"left_out": [2, 4]})
    record = act(client, record, "apply")
    assert (sorted(projects(client)), record["project_id"]) == (["forests 3", "Ötz"], None)


def test_a_file_of_points_offers_plots_first(client: Client) -> None:
    record = ready(client, feature(at(10), **FARM), feature(at(11), **FARM), feature(at(12)))
    (question,) = record["questions"]
    assert [each["put"] for each in question["options"][:2]] == [
        {"points_as_plots": True},
        {"points_as_plots": True, "project_id": None},
    ]
    record = act(client, answered(client, record, points_as_plots=True), "apply")
    assert [each["type"] for each in plots(client, record["project_id"])] == ["plot"] * 3


def test_points_beside_other_areas_are_rejected_unless_somebody_says_what_they_are(
    client: Client,
) -> None:
    record = ready(client, feature(square(), name="A"), feature(point(), name="P"))
    (question,) = record["questions"]
    assert (question["code"], question["required"]) == ("geometry_type", False)
    assert (counts(record), record["message"]) == ((1, 0, 0, 1), None)
    assert client.post(f"/v1/imports/{record['id']}/apply").status_code == 202


def test_several_points_and_collections_become_what_their_parts_are(client: Client) -> None:
    several = {"type": "MultiPoint", "coordinates": [[10, 47], [10.1, 47]]}
    both = {"type": "GeometryCollection", "geometries": [at(11), square(12, 47, 0.01)]}
    alone = {"type": "GeometryCollection", "geometries": [at(13)]}
    record = ready(client, *(feature(each, **FARM) for each in (several, both, alone)))
    record = act(client, answered(client, record, points_as_plots=True), "apply")
    assert counts(record) == (5, 0, 0, 0)
    assert [each["name"] for each in plots(client, record["project_id"])] == (
        ["Ötz 1", "Ötz 2", "Ötz 1", "Ötz"]
    )
    places = {each["metadata"]["ProductionPlace"] for each in plots(client, record["project_id"])}
    assert places == {"Ötz"}
    assert projects(client)["Ötz"]["geometry"]["type"] == "Polygon"


def test_coordinates_are_stored_as_they_are(client: Client) -> None:
    ring = [[10.0123456789, 47], [10.02, 47.001], [10.02, 47.02], [10, 47.02]]
    shapes = [
        {"type": "Polygon", "coordinates": [[*ring, ring[0]]]},
        {"type": "MultiPolygon", "coordinates": [square(11)["coordinates"]]},
        HOLED,
    ]
    places = ("A", "B", "C")
    rows = [
        feature(shape, **FARM | {"ProductionPlace": place})
        for shape, place in zip(shapes, places, strict=True)
    ]
    act(client, ready(client, *rows), "apply")
    made = projects(client)
    assert [made[place]["geometry"] for place in places] == shapes
    assert sorted(places, key=lambda place: made[place]["id"]) == list(places)


@pytest.mark.slow
def test_200_plots_of_one_place_keep_the_order_of_the_file(client: Client) -> None:
    rows = [
        feature(shape, **FARM, Row=number)
        for number in range(200)
        for shape in (square(10 + number / 100, 47, 0.005), at(10 + number / 100, 46))
    ]
    record = ready(client, *rows, points_as_plots=True)
    record = act(client, record, "apply")
    assert (record["status"], counts(record)) == ("applied", (400, 0, 0, 0))

    def listed(path: str) -> list[dict[str, Any]]:
        pages = [
            client.get(f"{path}?per_page=100&page={page}").json["data"] for page in range(1, 4)
        ]
        return sorted((each for page in pages for each in page), key=lambda each: each["id"])

    made = [each for each in listed("/v1/projects") if each["metadata"]]
    assert [each["metadata"]["Row"] for each in made] == list(range(200))
    assert (made[0]["name"], made[199]["name"]) == ("Ötz", "Ötz (200)")
    kept = listed(f"/v1/projects/{record['project_id']}/assets")
    assert [each["metadata"]["Row"] for each in kept] == list(range(200))
    assert {each["name"] for each in kept} == {"Ötz"}


def test_names_come_from_the_place_and_never_from_areas_or_producers(client: Client) -> None:
    column = "productionplace"
    columns = {"Area": 3.5, "ProducerName": "Anna Roth", column: "Ötz"}
    record = ready(
        client, feature(square(), **columns), feature(square(11), **columns | {"Area": 4})
    )
    assert record["mapping"]["name"] == column
    act(client, record, "apply")
    assert projects(client)["Ötz"]["metadata"] == columns


def test_several_producers_without_countries_are_told(client: Client) -> None:
    people = ("Anna Roth", "Ben Falk", "Anna Roth")
    rows = [feature(square(10 + n), ProducerName=each) for n, each in enumerate(people)]
    (note,) = [each for each in ready(client, *rows)["notes"] if "producers" in each]
    assert note.startswith(
        "The file names several producers, and 3 features have no ProducerCountry."
    )
    rows = [feature(square(10 + n), **FARM | {"ProducerName": p}) for n, p in enumerate(people)]
    assert not any("producers" in each for each in ready(client, *rows)["notes"])


@pytest.mark.parametrize(
    ("column", "type"), [("Risk_PCrop", "plot"), ("risk_of_fall", "point_of_interest")]
)
def test_points_with_a_risk_are_plots_if_it_is_of_whisp(
    client: Client, column: str, type: str
) -> None:
    project = make_project(client, name="Park")["id"]
    trees = [feature(at(11 + n), name=f"Tree {n}", **{column: "low"}) for n in range(2)]
    act(client, ready(client, *trees, kind="assets", project_id=project), "apply")
    assert {each["type"] for each in plots(client, project)} == {type}


def test_whisps_results(client: Client) -> None:
    names = [f"col_{n}" for n in range(100)] + [f"Ind_{n:02}_x" for n in range(12)]
    head = ["plotId", "external_id", "Area", "Unit", "Geometry_type", "Country", "ProducerCountry",
            "Centroid_lon", "Centroid_lat", *names, "risk_pcrop", "risk_timber", "geo"]  # fmt: skip
    shapes = [square(10, 47, 0.01), at(10.5)]

    def row(number: int, shape: dict[str, Any], risk: str) -> str:
        geo = json.dumps(shape).replace('"', '""')
        start = [number, f"F-{number}", 84.5, "ha", shape["type"], "AUT", "AT", 10.0, 47.0]
        return ",".join(map(str, [*start, *[1] * len(names), risk, "low", f'"{geo}"']))

    text = "\n".join([",".join(head), row(1, shapes[0], "low"), row(2, shapes[1], "high")])
    record = uploaded(client, text.encode(), "whisp.csv", points_as_plots=True)
    assert (record["questions"], counts(record)) == ([], (2, 0, 0, 0)), record
    assert record["mapping"]["name"] == record["mapping"]["external_id"] == "external_id"
    record = act(client, record, "apply")
    (found,) = client.get("/v1/projects?metadata.risk_pcrop=low").json["data"]
    assert (found["name"], found["external_id"], len(found["metadata"])) == ("F-1", "F-1", 50)
    firsts = {"Area", "Country", "ProducerCountry", "risk_pcrop", "risk_timber", "Ind_11_x"}
    assert firsts <= set(found["metadata"])
    (plot,) = plots(client, record["project_id"])
    assert (plot["name"], plot["metadata"]["risk_pcrop"]) == ("F-2", "high")


def test_points_as_plots_are_of_imports_of_projects(client: Client) -> None:
    project = make_project(client)["id"]
    content = b"{}"
    wrong = upload(client, content, kind="assets", project_id=project, points_as_plots=True)
    assert wrong.status_code == 422
    assert wrong.json["error"]["details"][0]["field"] == "points_as_plots"
    wrong = upload(client, content, project_id=project)
    assert wrong.json["error"]["details"][0]["field"] == "project_id"


def test_a_turn_that_goes_on_makes_no_second_project(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(steps, "_begin_turn", lambda _: lambda: True)
    rows = [feature(at(10 + number / 10), **FARM, Row=number) for number in range(60)]
    record = ready(client, *rows, points_as_plots=True)
    record = act(client, record, "apply")
    assert (record["status"], counts(record)) == ("applied", (60, 0, 0, 0))
    assert list(projects(client)) == ["forests"]
    assert len(plots(client, record["project_id"])) == 60


def test_a_turn_that_fails_leaves_no_project(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = mixed(client, points_as_plots=True)
    monkeypatch.setattr(applying, "update_features", lambda **_: 1 / 0)
    client.post(f"/v1/imports/{record['id']}/apply")
    work(client)
    found = read(client, record["id"])
    assert (projects(client), found["project_id"], found["status"]) == ({}, None, "applying")


def test_a_new_project_has_a_number_where_its_name_is_in_use(client: Client) -> None:
    make_project(client, name="forests")
    row = feature(square(10, 47, 0.01), **FARM | {"ProductionPlace": "Forests"})
    record = ready(client, row, feature(at(11), **FARM), points_as_plots=True)
    record = act(client, record, "apply")
    assert sorted(projects(client)) == ["Forests (2)", "forests", "forests (3)"]


def test_areas_and_points_of_one_name_are_matched_among_their_own(client: Client) -> None:
    first = act(client, mixed(client, points_as_plots=True), "apply")
    record = ready(
        client,
        feature(square(10, 48, 0.01), **FARM),
        feature(at(13, 48), **FARM),
        points_as_plots=True,
        project_id=first["project_id"],
        match="name",
    )
    assert counts(record) == (0, 2, 0, 0)
    act(client, record, "apply")
    assert projects(client)["Ötz"]["geometry"] == square(10, 48, 0.01)
    assert plots(client, first["project_id"])[1]["location"] == at(13, 48)
    act(client, record, "undo")
    assert projects(client)["Ötz"]["geometry"] == square(10, 47, 0.01)
    assert plots(client, first["project_id"])[1]["location"] == at(13)


def test_plots_need_the_permission_for_assets(client: Client) -> None:
    limited = make_key(client, permissions=["projects:write"])
    content = collection(feature(square(), **FARM), feature(at(20), **FARM))
    assert upload(limited, content, points_as_plots=True).status_code == 403
    record = mixed(client, points_as_plots=True)
    assert limited.post(f"/v1/imports/{record['id']}/apply").status_code == 403
