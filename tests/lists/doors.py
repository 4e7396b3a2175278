"""The names of the projects that a filter finds, by every door."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

import orjson

from app.chat.tools import ProjectsArguments
from tests.cli.conftest import runner
from tests.make import Browser, Client
from tests.pages.support import json_of


def project_doors(client: Client, owner: Browser, filters: dict[str, str]) -> dict[str, list[str]]:
    """The sorted names that each door finds. Lists, pages and commands tell their total besides,
    which is compared here."""
    query = urlencode(filters)
    on_page = urlencode({"status": "any"} | filters)
    listed = client.get(f"/v1/projects?{query}").json
    found = {
        "list": [each["name"] for each in listed["data"]],
        "list as GeoJSON": _names(client.get(f"/v1/projects?{query}&format=geojson")),
        "map": _names(client.get(f"/v1/projects/map?{query}&zoom=1")),
        "export": _names(client.get(f"/v1/exports/projects?{query}")),
        "page's export": _names(owner.get(f"/projects/export?{on_page}").response),
        "page's map": _features(json_of(owner, f"/projects/map?zoom=1&{on_page}")),
    }
    words = [f"--{name.replace('_', '-')}={value}" for name, value in filters.items()]
    arguments = ("export", "--account", client.account_id, "--format", "geojson", "--output", "-")
    done = runner(client.app)(*arguments, *words)
    assert done.exit_code == 0, done.output
    found["command"] = _features(orjson.loads(done.stdout))
    total = len(found["list"])
    assert listed["meta"]["total"] == total, filters
    page = owner.get(f"/projects?{on_page}").text
    assert (f"{total} project" if total else "Nothing found") in page, filters
    report = client.get(f"/v1/eudr?{query}&boundaries=false&points=true")
    assert report.status_code == 200, report.text
    assert filters.keys() <= ProjectsArguments().fields.keys() | {"bbox", "updated_since"}
    return {door: sorted(names) for door, names in found.items()}


def _names(response: Any) -> list[str]:
    assert response.status_code == 200, response.get_data(as_text=True)
    return _features(orjson.loads(response.get_data()))


def _features(collection: dict[str, Any]) -> list[str]:
    return [each["properties"]["name"] for each in collection["features"]]
