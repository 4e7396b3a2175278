"""A credential that is limited to some projects sees nothing of others, whichever way it comes."""

from __future__ import annotations

import json
import re
from typing import Any, Final

import pytest

from app.api.openapi.operations import contract_of
from app.auth.credentials import authenticate_header
from app.auth.guard import ANY_CREDENTIAL
from app.chat.tools import TOOLS, call_tool
from app.policy.permissions import OF_PROJECTS
from app.projects.listing import TABLE
from tests.api.operations import Operation, absent_ids, addressed, bare_app, body, operations
from tests.make import Client, make_service_token, square
from tests.make.limited import HIDDEN, Forest, make_forest, normalized

QUERIES: Final = ("", "search=quokka", "per_page=100", "status=active", "bbox=-180,-90,180,90",
                  "updated_since=2000-01-01T00:00:00Z", "external_id=quokka",
                  "format=geojson", "sort=updated_at")  # fmt: skip


@pytest.fixture
def forest(client: Client) -> Forest:
    return make_forest(client)


@pytest.mark.both
def test_no_operation_of_v1_tells_of_another_project(
    forest: Forest, subtests: pytest.Subtests
) -> None:
    for operation in _without_arguments():
        for query in QUERIES if operation.method == "GET" else ("",):
            path = operation.path({})
            path += ("&" if "?" in path else "?") + query if query else ""
            answer = forest.key.send(operation.method, path, **body(operation))
            with subtests.test(f"{operation.name} {query}"):
                assert forest.reveals(answer) == []
                assert answer.status_code != 500
    for operation in addressed():
        ids = forest.own | {name: each for name, each in absent_ids(operation).items()
                            if name not in forest.own}  # fmt: skip
        if operation.method == "GET":
            answer = forest.key.send(operation.method, operation.path(ids))
            with subtests.test(operation.name):
                assert forest.reveals(answer) == []
                assert answer.status_code in (200, 403, 404)


def test_no_entity_tag_tells_of_changes_to_another_project(
    client: Client, forest: Forest, subtests: pytest.Subtests
) -> None:
    paths = ("/v1/projects", "/v1/projects/map?zoom=3", "/v1/assets", "/v1/account", "/v1/imports",
             "/ogc/collections/projects/items", "/ogc/collections/assets/items")  # fmt: skip
    before = [forest.key.get(path).headers.get("ETag") for path in paths]
    client.post("/v1/projects", json={"name": "Another", "geometry": square()})
    for path, tag in zip(paths, before, strict=True):
        with subtests.test(path):
            assert forest.key.get(path).headers.get("ETag") == tag


def test_another_project_is_the_same_as_none(forest: Forest, subtests: pytest.Subtests) -> None:
    before = _everything(forest)
    for operation in addressed():
        if not {"project_id", "import_id"} & set(operation.arguments):
            continue
        absent = absent_ids(operation)
        answers = [
            normalized(forest.key.send(operation.method, operation.path(ids), **body(operation)))
            for ids in (absent | forest.hidden, absent)
        ]
        with subtests.test(operation.name):
            assert answers[0] == answers[1]
            assert answers[0][0] == 404
    assert _everything(forest) == before


def test_an_asset_is_not_found_through_the_own_project(forest: Forest) -> None:
    ids = {"project_id": forest.own["project_id"], "asset_id": forest.hidden["asset_id"]}
    answer = forest.key.get(f"/v1/projects/{ids['project_id']}/assets/{ids['asset_id']}")
    assert answer.status_code == 404


@pytest.mark.both
def test_totals_and_extents_count_only_what_is_seen(forest: Forest) -> None:
    project = forest.key.get(f"/v1/projects/{forest.own['project_id']}").json["data"]
    for path in ("/v1/projects", "/v1/assets", "/v1/imports"):
        assert forest.key.get(path).json["meta"]["total"] == 1, path
        assert forest.owner.get(path).json["meta"]["total"] == 2, path
    usage = forest.key.get("/v1/account").json["data"]["usage"]
    assert usage == {"hectares": project["area_hectares"], "projects": 1, "members": 1}
    drawn = forest.key.get("/v1/projects/map?zoom=8").json
    assert (drawn["numberMatched"], len(drawn["features"])) == (1, 1)
    extent = forest.key.get("/ogc/collections/projects").json["extent"]["spatial"]["bbox"]
    assert extent == [[10.0, 50.0, 10.1, 50.1]]
    assert forest.key.get("/v1/me").json["data"]["project_ids"] == [forest.own["project_id"]]
    assert forest.owner.get("/v1/me").json["data"]["project_ids"] is None


def test_overlaps_name_no_other_project(forest: Forest) -> None:
    path = f"/v1/projects/{forest.own['project_id']}/overlaps"
    assert len(forest.owner.get(path).json["data"]) == 1
    assert forest.key.get(path).json["data"] == []
    asked = {"geometry": square(10, 50, size=0.3), "overlaps": True}
    found = forest.key.post("/v1/geometry/validate", json=asked).json["data"]["overlaps"]
    assert [each["project_id"] for each in found] == [forest.own["project_id"]]


def test_it_learns_of_no_external_id(forest: Forest) -> None:
    """Whether one is taken is a matter of the whole account."""
    path = f"/v1/projects/{forest.own['project_id']}"
    for method in ("PUT", "PATCH"):
        taken, free = (
            normalized(forest.key.send(method, path, json={"external_id": each}))
            for each in (HIDDEN, "free")
        )
        assert taken == free
        assert taken[0] == 403
    assert forest.owner.put(path, json={"external_id": "own"}).status_code == 200
    unchanged = {"external_id": "own", "description": "New"}
    assert forest.key.put(path, json=unchanged).status_code == 200
    conflict = forest.owner.put(path, json={"external_id": HIDDEN})
    assert conflict.status_code == 409
    assert forest.hidden["project_id"] in conflict.get_data(as_text=True)


def test_it_learns_of_no_idempotency_key(client: Client) -> None:
    make = make_service_token
    forest = make_forest(client, make)
    sent = {"json": {"description": "New"}, "headers": {"Idempotency-Key": "order 1"}}
    path = "/v1/projects/{project_id}"
    assert forest.owner.put(path.format(**forest.hidden), **sent).status_code == 200
    first = forest.key.put(path.format(**forest.own), **sent)
    assert (first.status_code, "Idempotency-Replayed" in first.headers) == (200, False)
    again = forest.key.put(path.format(**forest.own), **sent)
    assert again.headers["Idempotency-Replayed"] == "true"
    other = {**sent, "json": {"description": "Other"}}
    assert forest.key.put(path.format(**forest.own), **other).status_code == 422
    others = make(client, permissions=["projects:write"], project_ids=[forest.own["project_id"]])
    answer = others.put(path.format(**forest.own), **other)
    assert (answer.status_code, "Idempotency-Replayed" in answer.headers) == (200, False)


def test_it_makes_no_project(forest: Forest) -> None:
    refused = forest.key.post("/v1/projects", json={"name": "New"})
    assert refused.status_code == 403
    assert refused.json["error"]["details"][0]["code"] == "limited_to_projects"
    sent = {"type": "Feature", "geometry": None, "properties": {"name": "New"}}
    assert forest.key.post("/ogc/collections/projects/items", json=sent).status_code == 403
    assert forest.key.post("/v1/imports", data=_file("projects")).status_code == 403
    assert forest.owner.get("/v1/projects").json["meta"]["total"] == 2


def test_it_writes_its_own_project(forest: Forest) -> None:
    path = f"/v1/projects/{forest.own['project_id']}"
    assert forest.key.put(path, json={"description": "New"}).status_code == 200
    made = forest.key.post(f"{path}/assets", json={"name": "Mast", "type": "mast"})
    assert made.status_code == 201
    project_id = forest.own["project_id"]
    assert forest.key.post("/v1/imports", data=_file("assets", project_id)).status_code == 202
    answer = forest.key.post("/v1/imports", data=_file("assets", forest.hidden["project_id"]))
    assert answer.status_code == 422
    sent = {"type": "Feature", "geometry": None, "properties": {"name": "A", "type": "mast"}}
    for ids, status in ((forest.own, 201), (forest.hidden, 422)):
        sent["properties"] |= {"project_id": ids["project_id"]}  # type: ignore[operator]
        answer = forest.key.post("/ogc/collections/assets/items", json=sent)
        assert answer.status_code == status


def test_the_chat_reads_nothing_of_another_project(forest: Forest) -> None:
    """A new tool is called here at once, with what its schema requires. What a credential of some
    projects may read must give something, so that no call ends at its arguments."""
    assert len(TOOLS) > 5
    with forest.owner.app.test_request_context():
        principal = authenticate_header(f"Bearer {forest.key.token}", "127.0.0.1")
        for name, tool in TOOLS.items():
            required = [key for key, field in tool.arguments().fields.items() if field.required]
            for ids in (forest.own, forest.hidden):
                said = call_tool(principal, name, json.dumps({key: ids[key] for key in required}))
                for each in (HIDDEN, *forest.hidden.values()):
                    assert each not in said.lower(), name
                is_refused = not principal.may(tool.permission) or (
                    required and ids is forest.hidden
                )
                assert ("error" in json.loads(said)) == bool(is_refused), said
        assert (
            json.loads(call_tool(principal, "summarize_projects", "{}"))["active"]["projects"] == 1
        )
        assert json.loads(call_tool(principal, "summarize_assets", "{}"))["assets"] == 1


def test_what_another_key_was_answered_is_not_answered_again(forest: Forest) -> None:
    asked = {"geometry": square(10, 50, size=0.3), "overlaps": True}
    headers = {"Idempotency-Key": "the same"}
    first = forest.owner.post("/v1/geometry/validate", json=asked, headers=headers)
    assert len(first.json["data"]["overlaps"]) == 2
    second = forest.key.post("/v1/geometry/validate", json=asked, headers=headers)
    assert [each["project_id"] for each in second.json["data"]["overlaps"]] == [
        forest.own["project_id"]
    ]


def test_a_page_that_is_kept_is_not_sent_to_another_key(forest: Forest) -> None:
    for path in ("/v1/projects/map?zoom=8", "/ogc/collections/projects/items"):
        full = forest.owner.get(path)
        assert len(full.json["features"]) == 2
        answer = forest.key.get(path, headers={"If-None-Match": full.headers["ETag"]})
        assert (answer.status_code, len(answer.json["features"])) == (200, 1)


def test_the_projects_of_a_credential_that_are_deleted_leave_it_nothing(forest: Forest) -> None:
    path = f"/v1/projects/{forest.own['project_id']}"
    forest.owner.post(f"{path}/archive")
    forest.owner.delete(path)
    assert forest.key.get("/v1/projects").json["data"] == []
    assert forest.key.get("/v1/exports/projects?format=geojson").json["features"] == []
    assert forest.key.get("/v1/projects/map?zoom=8").json["features"] == []


def test_operations_about_the_whole_account_are_refused() -> None:
    """Whatever the credential's permissions say: a new operation is refused until it says that it
    minds the projects of a credential."""
    app = bare_app()
    minding = {
        operation.name
        for operation in operations()
        if "project_id" not in operation.arguments
        and contract_of(app.view_functions[_endpoint(operation)]).of_some_projects  # type: ignore[union-attr]
    }
    opened = {op.name for op in operations() if _is_of_projects(op.needs)}
    assert minding <= opened | {"POST /v1/geometry/validate"}
    assert TABLE.project.name == "id"


def _is_of_projects(needs: str) -> bool:
    return needs in (ANY_CREDENTIAL, "profile") or not OF_PROJECTS.isdisjoint(needs.split(" or "))


def _endpoint(operation: Operation) -> str:
    app = bare_app()
    for rule in app.url_map.iter_rules():
        same = re.sub(r"<\w+:", "<", rule.rule) == operation.rule
        if same and operation.method in (rule.methods or ()):
            return rule.endpoint
    raise AssertionError(operation)


def _without_arguments() -> list[Operation]:
    return [operation for operation in operations() if not operation.arguments]


def _everything(forest: Forest) -> list[Any]:
    """All that the account has."""
    paths = ("/v1/projects?per_page=100", "/v1/assets?per_page=100", "/v1/imports")
    return [forest.owner.get(path).json["data"] for path in paths]


def _file(kind: str, project_id: str | None = None) -> dict[str, Any]:
    operation = next(each for each in operations() if each.name == "POST /v1/imports")
    sent: dict[str, Any] = body(operation, {"kind": kind})["data"]
    return sent | ({"project_id": project_id} if project_id else {})
