"""What the tools refuse: a missing permission, another account, arguments of another form."""

from __future__ import annotations

import json
from typing import Any

import pytest

from app.chat import tools
from tests.chat.conftest import called
from tests.make import Client, make_asset, make_key, make_project, square

NEEDS = {
    "list_projects": "projects:read",
    "read_project": "projects:read",
    "summarize_projects": "projects:read",
    "summarize_assets": "assets:read",
    "list_assets": "assets:read",
    "read_asset": "assets:read",
    "usage": "billing:read",
}


@pytest.mark.parametrize("held", ["projects:read", "assets:read", "billing:read"])
def test_a_tool_needs_the_permission_of_its_route(caller: Client, held: str) -> None:
    project = make_project(caller)["id"]
    asset = make_asset(caller, project)["id"]
    limited = make_key(caller, permissions=[held])
    arguments = {
        "read_project": {"project_id": project},
        "list_assets": {"project_id": project},
        "read_asset": {"project_id": project, "asset_id": asset},
    }
    paths = {
        "list_projects": "/v1/projects",
        "read_project": f"/v1/projects/{project}",
        "list_assets": f"/v1/projects/{project}/assets",
        "read_asset": f"/v1/projects/{project}/assets/{asset}",
        "usage": "/v1/account/usage",
    }
    for name, needed in NEEDS.items():
        given = called(limited, name, json.dumps(arguments.get(name, {})))
        lacking = f"The caller's credential lacks the permission {needed}."
        assert given == {"error": lacking} if needed != held else "error" not in given
        if name in paths:
            assert limited.get(paths[name]).status_code == (200 if needed == held else 403)


def test_every_tool_is_tested_for_its_permission() -> None:
    assert {name: tool.permission for name, tool in tools.TOOLS.items()} == NEEDS


def test_another_account_cannot_be_reached(caller: Client, stranger: Client) -> None:
    def read(name: str, arguments: Any = None) -> Any:
        return called(caller, name, json.dumps(arguments or {}))

    project = make_project(stranger, name="Hidden wood", geometry=square())["id"]
    asset = make_asset(stranger, project, name="Hidden camera")["id"]
    own = make_project(caller)["id"]
    no_project, no_asset = (
        "This project does not exist.",
        "This asset does not exist in this project.",
    )
    for name, arguments, told in (
        ("read_project", {"project_id": project}, no_project),
        ("list_assets", {"project_id": project}, no_project),
        ("read_asset", {"project_id": project, "asset_id": asset}, no_asset),
        ("read_asset", {"project_id": own, "asset_id": asset}, no_asset),
    ):
        assert read(name, arguments) == {"error": told}
        absent = {
            key: value[:-1] + ("0" if value[-1] != "0" else "1") for key, value in arguments.items()
        }
        assert read(name, absent) == {"error": told}
    everything = [read("list_projects", {"search": "hidden"})]
    everything += [read(name) for name in ("list_projects", "usage")]
    everything += [read("summarize_projects")]
    assert "idden" not in json.dumps(everything)
    assert everything[0]["total"] == 0
    assert everything[1]["total"] == 1
    assert everything[3]["active"]["projects"] == 1


WRONG = [
    *[("list_projects", text) for text in ("{", "[]", "null", "5", '"a"', "{}{}", "\ud800", "NaN")],
    *[("list_projects", {"page": page}) for page in (0, -1, 10**6 + 1, 10**30, 1.5, 2.0, "1")],
    *[("list_projects", {"page": page}) for page in (True, None, [], {})],
    ("list_projects", '{"page": 1e999}'),
    ("list_projects", '{"page": 1, "page": 2}'),
    *[("list_projects", {"per_page": size}) for size in (0, 21, "20")],
    *[("list_projects", {"search": text}) for text in ("a\x00b", "x" * 201, 5, None)],
    ("list_projects", {"status": "felled"}),
    ("list_projects", {"sort": "geometry"}),
    ("list_projects", {"order": "DESC"}),
    ("list_projects", {"account_id": "acct_1"}),
    ("list_projects", {"boundaries": True}),
    ("list_projects", {"x" * 3_000: 1}),
    ("list_projects", json.dumps({"search": "x" * 4_000})),
    ("list_projects", "[" * 3_999),
    ("list_projects", "{}" + " " * 3_999),
    ("read_project", {}),
    *[("read_project", {"project_id": value}) for value in ("", "x" * 41, 5, None, ["a"], "\x00")],
    ("list_assets", {}),
    ("list_assets", {"project_id": "proj_1", "type": "No/Word"}),
    ("read_asset", {"asset_id": "a"}),
    ("usage", {"account_id": "acct_1"}),
    ("summarize_projects", {"status": "active"}),
]


def test_wrong_arguments_are_told_to_the_model(caller: Client) -> None:
    for name, arguments in WRONG:
        text = arguments if isinstance(arguments, str) else json.dumps(arguments)
        result = called(caller, name, text)
        assert set(result) == {"error"}, (name, text[:40])
        assert result["error"].startswith("The arguments are not valid: ")
        assert len(result["error"]) <= 1_001


def test_an_id_of_another_form_is_of_no_project(caller: Client) -> None:
    for value in ("proj_1", "../../etc", "' OR 1=1 --", "森", "proj_" + "x" * 35):
        result = called(caller, "read_project", json.dumps({"project_id": value}))
        assert result == {"error": "This project does not exist."}


def test_an_unknown_tool_is_told_to_the_model(caller: Client) -> None:
    for name in ("", "delete_project", "LIST_PROJECTS", "call", "__init__", "x" * 9_999):
        assert called(caller, name, "{}")["error"].startswith("Unknown tool. The tools are list_")


def test_no_arguments_at_all_are_none(caller: Client) -> None:
    assert called(caller, "list_projects", "")["total"] == 0
