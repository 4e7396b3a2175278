"""What each tool gives the model."""

from __future__ import annotations

import json

import pytest

from app.policy import chat as policy
from tests.chat.conftest import read
from tests.chat.server import ModelServer
from tests.make import Client, make_account, make_asset, make_project, multi_square, point, square


@pytest.mark.both
def test_list_projects(caller: Client, model: ModelServer) -> None:
    small = make_project(caller, name="Small", description="Oaks", geometry=square(size=0.1))
    large = make_project(caller, name="Large", geometry=square(size=0.2))
    draft = make_project(caller, name="Without")
    caller.put(f"/v1/projects/{draft['id']}", json={"status": "draft"})
    given = read(caller, model, "list_projects", {"sort": "area_hectares", "order": "desc"})
    assert {name: value for name, value in given.items() if name != "projects"} == {
        "total": 3,
        "page": 1,
        "total_pages": 1,
    }
    assert [project["name"] for project in given["projects"]] == ["Large", "Small", "Without"]
    left_out = {"geometry", "created_by", "updated_by"}
    shown = {name: value for name, value in small.items() if name not in left_out}
    assert given["projects"][1] == shown | {"bbox": [10.0, 50.0, 10.1, 50.1]}
    assert given["projects"][2]["bbox"] is None
    found = read(caller, model, "list_projects", {"search": "LARG", "status": "active"})
    assert [project["id"] for project in found["projects"]] == [large["id"]]
    found = read(caller, model, "list_projects", {"status": "draft"})
    assert [project["id"] for project in found["projects"]] == [draft["id"]]


@pytest.mark.slow
def test_list_projects_in_pages(caller: Client, model: ModelServer) -> None:
    made = [make_project(caller, name=f"Wood {number:02}")["id"] for number in range(23)]
    arguments = {"sort": "name", "search": "wood"}
    first = read(caller, model, "list_projects", arguments)
    second = read(caller, model, "list_projects", arguments | {"page": 2})
    assert (first["total"], first["total_pages"], len(first["projects"])) == (23, 2, 20)
    assert [project["id"] for project in first["projects"] + second["projects"]] == made
    third = read(caller, model, "list_projects", arguments | {"page": 5, "per_page": 5})
    assert [project["id"] for project in third["projects"]] == made[20:]
    assert read(caller, model, "list_projects", arguments | {"page": 9})["projects"] == []


def test_what_does_not_fit_is_left_out_by_whole_records(caller: Client, model: ModelServer) -> None:
    for number in range(20):
        name = f"{number:02}" + "𠀀" * 198
        make_project(caller, name=name, description="𠀀" * 10_000)
    shown = read(caller, model, "list_projects", {"sort": "name"})
    kept = len(shown["projects"])
    assert 3 <= kept < 20
    assert [project["name"][:2] for project in shown["projects"]] == [
        f"{number:02}" for number in range(kept)
    ]
    assert f"last {20 - kept} of this page" in shown["note"]
    assert f"per_page {kept}." in shown["note"]
    whole = read(caller, model, "list_projects", {"sort": "name", "per_page": kept, "page": 2})
    assert len(whole["projects"]) == kept
    assert "note" not in whole


def test_read_project(caller: Client, model: ModelServer) -> None:
    made = make_project(caller, description="Oaks " * 1_000, geometry=square())
    given = read(caller, model, "read_project", {"project_id": made["id"]})
    assert given == {
        **{name: value for name, value in made.items() if name != "geometry"},
        "bbox": [10.0, 50.0, 10.1, 50.1],
    }


@pytest.mark.parametrize("letter", ["𠀀", '"'])
def test_a_long_description_is_cut_to_what_fits(
    caller: Client, model: ModelServer, letter: str
) -> None:
    text = letter * 10_000
    made = make_project(caller, description=text)
    given = read(caller, model, "read_project", {"project_id": made["id"]})["description"]
    assert given == text or (given.endswith("…") and text.startswith(given[:-1]))
    assert len(given) > 2_500
    listed = read(caller, model, "list_projects")["projects"][0]
    assert listed["description"] == letter * policy.EXCERPT_LENGTH + "…"


def test_no_tool_gives_the_coordinates_of_a_boundary(caller: Client, model: ModelServer) -> None:
    ring = [[7.123456, 47.1], [7.2, 47.2345678], [7.3, 47.1], [7.2, 47.05], [7.123456, 47.1]]
    made = make_project(caller, geometry={"type": "Polygon", "coordinates": [ring]})
    given = [
        read(caller, model, "read_project", {"project_id": made["id"]}),
        read(caller, model, "list_projects", {}),
        read(caller, model, "list_assets", {"project_id": made["id"]}),
        read(caller, model, "summarize_projects", {}),
    ]
    assert "geometry" not in json.dumps(given)
    assert "7.2," not in json.dumps(given)  # a corner that is not one of the box
    assert given[0]["bbox"] == [7.123456, 47.05, 7.3, 47.2345678]


def test_a_box_across_the_antimeridian(caller: Client, model: ModelServer) -> None:
    shape = multi_square((179.9, 10.0), (-180.0, 10.0), size=0.1)
    made = make_project(caller, geometry=shape)
    given = read(caller, model, "read_project", {"project_id": made["id"]})
    assert given["bbox"] == pytest.approx([179.9, 10.0, -179.9, 10.1])


def test_summarize_projects(caller: Client, model: ModelServer) -> None:
    made = [make_project(caller, geometry=square(size=0.1 * n)) for n in (1, 2, 3)]
    bare = make_project(caller)
    empty = {"projects": 0, "hectares": 0.0}
    assert read(caller, model, "summarize_projects")["draft"] == empty
    caller.put(f"/v1/projects/{bare['id']}", json={"status": "draft"})
    caller.post(f"/v1/projects/{made[0]['id']}/archive")
    areas = [project["area_hectares"] for project in made]
    assert read(caller, model, "summarize_projects") == {
        "active": {"projects": 2, "hectares": pytest.approx(areas[1] + areas[2])},
        "archived": {"projects": 1, "hectares": areas[0]},
        "draft": {"projects": 1, "hectares": 0.0},
    }


@pytest.mark.both
def test_summarize_assets(
    caller: Client, model: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert read(caller, model, "summarize_assets") == {"assets": 0, "kinds": [], "others": 0}
    projects = [make_project(caller)["id"] for _ in range(2)]
    for project in projects:
        make_asset(caller, project, type="gate")
    make_asset(caller, projects[0], type="gate", status="retired")
    other = make_account(caller.app)
    make_asset(other, make_project(other)["id"])
    gates = {"type": "gate", "status": "active", "assets": 2}
    retired = {"type": "gate", "status": "retired", "assets": 1}
    found = read(caller, model, "summarize_assets")
    assert found == {"assets": 3, "kinds": [gates, retired], "others": 0}
    monkeypatch.setattr("app.assets.summaries.MOST_KINDS", 1)
    found = read(caller, model, "summarize_assets")
    assert found == {"assets": 3, "kinds": [gates], "others": 1}
    monkeypatch.setattr(policy, "RESULT_BYTES", 60)
    found = read(caller, model, "summarize_assets")
    assert found == {"error": "The record is too large to be shown here."}


def test_list_assets(caller: Client, model: ModelServer) -> None:
    project = make_project(caller)["id"]
    camera = make_asset(caller, project, name="Camera", location=point(), metadata={"battery": 7})
    gate = make_asset(caller, project, type="gate", status="retired", metadata={"a": "x" * 500})
    make_asset(caller, make_project(caller)["id"])
    shown = read(caller, model, "list_assets", {"project_id": project})
    assert shown["total"] == 2
    assert shown["assets"][1] == camera
    assert shown["assets"][0] == gate | {"metadata": "508 bytes; read_asset has them."}
    for arguments in ({"type": "gate"}, {"status": "retired"}, {"page": 1, "per_page": 1}):
        found = read(caller, model, "list_assets", {"project_id": project} | arguments)
        assert [asset["id"] for asset in found["assets"]] == [gate["id"]]
    found = read(caller, model, "list_assets", {"project_id": project, "search": "CAMERA"})
    assert [asset["id"] for asset in found["assets"]] == [camera["id"]]


def test_read_asset(caller: Client, model: ModelServer) -> None:
    project = make_project(caller)["id"]
    large = {"a": "x" * (16 * 1024 - 8)}
    made = make_asset(caller, project, name="𠀀" * 200, location=point(), metadata=large)
    given = read(caller, model, "read_asset", {"project_id": project, "asset_id": made["id"]})
    assert given == made


def test_usage(caller: Client, model: ModelServer) -> None:
    make_project(caller, geometry=square())
    given = read(caller, model, "usage")
    now = caller.get("/v1/account/usage").json["data"]
    assert given.pop("plan") == "enterprise"
    for name in ("period", "hectares", "projects", "members"):
        assert given[name] == now[name]
