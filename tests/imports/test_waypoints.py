"""The waypoints and the track of one GPX file, imported together."""

from __future__ import annotations

from typing import Any, Final

import pytest

from tests.imports.making import act, answered, counts, features_of, projects, uploaded
from tests.make import Client, make_project

_POSITIONS: Final = ((46.5, 22.9), (46.5, 22.91), (46.51, 22.91), (46.51, 22.9), (46.5001, 22.9001))
_TRACK: Final = "".join(f'<trkpt lat="{y}" lon="{x}"/>' for y, x in _POSITIONS)


def _gpx(*tracks: str) -> bytes:
    points = "".join(
        f'<wpt lat="46.50{n}" lon="22.905"><name>{name}</name></wpt>'
        for n, name in enumerate(("Spring", "Gate"), start=1)
    )
    walks = "".join(f"<trk><name>{name}</name><trkseg>{_TRACK}</trkseg></trk>" for name in tracks)
    start = '<gpx version="1.1" creator="x" xmlns="http://www.topografix.com/GPX/1/1">'
    return f"{start}{points}{walks}</gpx>".encode()


def _assets(client: Client, project_id: str) -> dict[str, str]:
    found = client.get(f"/v1/projects/{project_id}/assets").json["data"]
    return {asset["name"]: asset["type"] for asset in found}


@pytest.mark.both
def test_waypoints_become_assets_of_the_project_of_the_track(client: Client) -> None:
    record = uploaded(client, _gpx("Walk"), "walk.gpx")
    asked = {question["code"]: question for question in record["questions"]}
    assert list(asked) == ["open_lines", "geometry_type"]
    assert asked["geometry_type"]["message"] == "The file also has 2 waypoints."
    assert not asked["geometry_type"]["required"]
    option, of_another = asked["geometry_type"]["options"]
    assert option["label"] == "Import them too, as assets of the project of the track"
    assert of_another["put"] == {**option["put"], "project_id": None}
    record = answered(client, record, **option["put"])
    assert [question["code"] for question in record["questions"]] == ["open_lines"]
    record = answered(client, record, close_lines=True, names={"1": "Ocolire"})
    assert (record["questions"], record["points"], counts(record)) == ([], "assets", (3, 0, 0, 0))
    assert [(each["name"], each["kind"]) for each in features_of(client, record)] == [
        ("Ocolire", "projects"), ("Spring", "assets"), ("Gate", "assets"),
    ]  # fmt: skip
    record = act(client, record, "apply")
    (project,) = projects(client).values()
    assert (project["name"], record["project_id"]) == ("Ocolire", project["id"])
    made = {"Spring": "point_of_interest", "Gate": "point_of_interest"}
    assert _assets(client, project["id"]) == made
    act(client, record, "undo")
    assert projects(client) == {}


def test_waypoints_become_assets_of_another_project(client: Client) -> None:
    other = make_project(client, name="Other")["id"]
    choices: dict[str, Any] = {"layer": "tracks, routes and waypoints", "close_lines": "true"}
    record = uploaded(client, _gpx("A", "B"), "walks.gpx", **choices)
    (question,) = record["questions"]
    first, second = question["options"][:2]
    assert first["put"] == {"points": "assets", "project_id": None}
    assert (second["label"], second["put"]) == (
        "Assets of a new project “walks”", {"points": "assets"},
    )  # fmt: skip
    for made, owner in (
        (answered(client, record, points="assets"), "walks"),
        (uploaded(client, _gpx("C"), **choices, points="assets", project_id=other), "Other"),
    ):
        act(client, made, "apply")
        found = projects(client)
        assert set(_assets(client, found[owner]["id"])) == {"Spring", "Gate"}
    assert set(found) == {"A", "B", "C", "walks", "Other"}
    record = answered(client, uploaded(client, _gpx("D"), **choices, points="assets"), points=None)
    assert (record["points"], record["points_as_plots"], counts(record)) == (
        None,
        None,
        (1, 0, 0, 2),
    )
