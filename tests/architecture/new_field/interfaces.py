"""Asks an instance with the new fields for them, everywhere a field is taken or shown.

Run in the copy, as ``python interfaces.py FOLDER``; prints what each interface gave, as JSON.
FOLDER is for the instance.
"""

from __future__ import annotations

import csv
import html
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from flask import Flask, current_app

from app.auth.sessions import start_session
from app.chat import tools
from app.db.extensions import db
from app.factory import create_app
from app.security.signatures import signature_header
from config import load_settings
from tests.make.bulk import Filled, fill

SECRET = "the secret of the database"
SQUARE = [[[10, 50], [10.1, 50], [10.1, 50.1], [10, 50.1], [10, 50]]]
TOO_LONG = "x" * 41
Call = Callable[..., Any]


def main(folder: Path) -> dict[str, Any]:
    filled = fill(folder, "", accounts=1, size=60)
    environ = filled.environ | {"REDIS_URL": os.environ["REDIS_URL"], "DB_WEBHOOK_SECRET": SECRET}
    app = create_app(load_settings(environ))
    client = app.test_client()

    def call(method: str, path: str, body: Any = None) -> Any:
        headers = {"Authorization": f"Bearer {filled.key}"}
        return client.open(path, method=method, json=body, headers=headers)

    with app.app_context():
        found = {"module": tools.__file__, **dict(generated(call)), **dict(benches())}
        found |= dict(projects(call)) | dict(chat(filled)) | dict(years(app, call, filled))
        found |= dict(assets(call, f"/v1/projects/{filled.project_id}/assets"))
    return found | {"import": imported(folder, environ, filled)}


def projects(call: Call) -> Iterator[tuple[str, Any]]:
    made = call("POST", "/v1/projects", {"name": "North wood", "ecoregion": "North"})
    project = made.json["data"]
    path = f"/v1/projects/{project['id']}"
    yield "create", project["ecoregion"]
    yield "reject", call("POST", "/v1/projects", {"name": "A", "ecoregion": TOO_LONG}).status_code
    yield "read", call("GET", path).json["data"]["ecoregion"]
    yield "list", call("GET", "/v1/projects").json["data"][0]["ecoregion"]
    for query in (
        "ecoregion=North",
        "ecoregion=North&search=wood",
        "ecoregion=North&status=active",
    ):
        listed = call("GET", f"/v1/projects?{query}").json
        yield f"filter by {query}", [listed["meta"]["total"], listed["data"][0]["name"]]
    yield "filter out", call("GET", "/v1/projects?ecoregion=Nowhere").json["meta"]["total"]
    yield "update", call("PUT", path, {"ecoregion": "South"}).json["data"]["ecoregion"]
    yield "event", last_event(call, "project.updated", "ecoregion")
    with db.engine.begin() as connection:
        connection.execute(
            db.text("UPDATE projects SET ecoregion = 'East' WHERE name = 'North wood'")
        )
    yield "row", report(call, "projects", project["id"])
    yield "event of a row", last_event(call, "project.updated", "ecoregion")
    with db.engine.begin() as connection:
        statement = "UPDATE projects SET ecoregion = :ecoregion WHERE name = 'North wood'"
        connection.execute(db.text(statement), {"ecoregion": TOO_LONG})
    yield "row with a fault", report(call, "projects", project["id"])
    call("PUT", path, {"ecoregion": "North"})


def years(app: Flask, call: Call, filled: Filled) -> Iterator[tuple[str, Any]]:
    """A number, wherever a field is taken or shown."""
    made = call(
        "POST",
        "/v1/projects",
        {
            "name": "Old wood",
            "planting_year": 1950,
            "geometry": {"type": "Polygon", "coordinates": SQUARE},
        },
    ).json["data"]
    path = f"/v1/projects/{made['id']}"
    yield "year: create", made["planting_year"]
    yield (
        "year: reject",
        [
            call("PUT", path, {"planting_year": value}).json["error"]["details"][0]["field"]
            for value in (1799, "1950", 1950.5, True)
        ],
    )
    for query in ("1950", "1951", "x", "1799"):
        listed = call("GET", f"/v1/projects?planting_year={query}")
        yield f"year: filter by {query}", [listed.status_code, len(listed.json.get("data", []))]
    for query in (
        "min_planting_year=1950",
        "max_planting_year=1949",
        "min_planting_year=1950&max_planting_year=1950&status=active",
        "min_planting_year=1951&max_planting_year=1950",
        "has_planting_year=true",
    ):
        doors = (
            "projects?",
            "projects/map?zoom=1&",
            "projects?format=geojson&",
            "exports/projects?",
        )
        yield f"year: {query}", [_count(call, f"/v1/{door}{query}") for door in doors]
    yield "year: update", call("PUT", path, {"planting_year": 1960}).json["data"]["planting_year"]
    yield "year: event", last_event(call, "project.updated", "planting_year")
    entry = call("GET", f"/v1/audit-log?target_id={made['id']}").json["data"][0]
    yield "year: audit entry", entry["changes"]
    for query in (
        "planting_year=1960",
        "filter=planting_year BETWEEN 1955 AND 1965",
        "filter=planting_year < 1900",
    ):
        items = call("GET", f"/ogc/collections/projects/items?{query}").json["features"]
        yield f"year: /ogc {query}", [each["properties"]["planting_year"] for each in items]
    schema = call("GET", "/ogc/collections/projects/schema").json
    yield "year: /ogc schema", schema["properties"]["planting_year"]["type"]
    exported = call("GET", f"/v1/exports/projects?format=csv&ids={made['id']}")
    (row,) = csv.DictReader(exported.text.splitlines())
    yield "year: CSV", row["planting_year"]
    given = tools.call_tool(filled.principals[0], "list_projects", '{"planting_year": 1960}')
    yield "year: chat", [each["planting_year"] for each in json.loads(given)["projects"]]
    yield from pages(app, filled, made["id"])


def _count(call: Call, path: str) -> int:
    """The number of projects; a negative status of a refusal."""
    answer = call("GET", path)
    if answer.status_code != 200:
        return -int(answer.status_code)
    body = answer.get_json(force=True)
    return len(body.get("data", body.get("features")))


def pages(app: Flask, filled: Filled, project_id: str) -> Iterator[tuple[str, Any]]:
    """The page and the form, as somebody in a browser has them."""
    browser = app.test_client()
    principal = filled.principals[0]
    owner = db.session.scalars(db.text("SELECT user_id FROM memberships")).first()
    token = start_session(owner, principal.account_id, address="", browser="")
    db.session.commit()
    browser.set_cookie("canopy_session", token)
    path = f"/projects/{project_id}"
    yield "year: page", '<dt>Planting year</dt><dd dir="auto">1960</dd>' in browser.get(path).text
    form = html.unescape(browser.get(f"{path}/edit").text)
    yield "year: form", 'name="planting_year" value="1960" inputmode="numeric"' in form
    fields = dict(re.findall(r'<input type="hidden" name="(\w+)" value="(.*?)">', form))
    fields |= {"name": "Old wood", "status": "active"}
    wrong = browser.post(f"{path}/edit", data=fields | {"planting_year": "soon"})
    yield "year: wrong", [wrong.status_code, "Must be a whole number" in wrong.text]
    stale = browser.post(f"{path}/edit", data=fields | {"planting_year": "1970", "version": '"x"'})
    yield "year: conflict", [stale.status_code, '<th scope="row">Planting year</th>' in stale.text]
    right = browser.post(f"{path}/edit", data=fields | {"planting_year": "1970"})
    yield "year: saved", [right.status_code, '<dd dir="auto">1970</dd>' in browser.get(path).text]


def assets(call: Call, path: str) -> Iterator[tuple[str, Any]]:
    made = call("POST", path, {"name": "Mast", "type": "equipment", "maker": "North"}).json["data"]
    yield "create asset", made["maker"]
    yield "read asset", call("GET", f"{path}/{made['id']}").json["data"]["maker"]
    listed = call("GET", f"{path}?maker=North").json
    yield "filter assets", [listed["meta"]["total"], listed["data"][0]["maker"]]
    yield "filter out assets", call("GET", f"{path}?maker=Nobody").json["meta"]["total"]
    updated = call("PUT", f"{path}/{made['id']}", {"maker": "South"}).json["data"]
    yield "update asset", updated["maker"]
    yield "event of asset", last_event(call, "asset.updated", "maker")
    with db.engine.begin() as connection:
        connection.execute(db.text("UPDATE assets SET maker = 'East' WHERE name = 'Mast'"))
    yield "row of asset", report(call, "assets", made["id"])
    yield "event of a row of assets", last_event(call, "asset.updated", "maker")


def last_event(call: Call, event_type: str, name: str) -> Any:
    data = call("GET", f"/v1/events?type={event_type}").json["data"][0]["data"]
    return [data[name], data["changes"][name]]


def report(call: Call, table: str, row_id: str) -> Any:
    """Report a row that was changed with SQL. Returns the result, or the columns with a fault."""
    raw = json.dumps({"type": "UPDATE", "table": table, "record": {"id": row_id}}).encode()
    headers = {"X-Service-Signature": signature_header(SECRET, raw)}
    client = current_app.test_client()
    response = client.post(
        "/api/db/webhook", data=raw, headers=headers, content_type="application/json"
    )
    if response.status_code == 200:
        return response.json["data"]["result"]
    return [detail["field"] for detail in response.json["error"]["details"]]


def chat(filled: Filled) -> Iterator[tuple[str, Any]]:
    caller = filled.principals[0]
    given = json.loads(tools.call_tool(caller, "list_projects", '{"ecoregion": "North"}'))
    yield "chat", [(each["name"], each["ecoregion"]) for each in given["projects"]]
    parameters = {
        each["function"]["name"]: sorted(each["function"]["parameters"]["properties"])
        for each in tools.DESCRIPTIONS
    }
    yield "chat's arguments", "ecoregion" in parameters["list_projects"]
    yield "chat's arguments for assets", "maker" in parameters["list_assets"]


def benches() -> Iterator[tuple[str, Any]]:
    for table, column in (("projects", "ecoregion"), ("assets", "maker")):
        statement = f"SELECT count(*) FROM {table} WHERE {column} IS NULL"
        yield f"bench rows of {table}", db.session.execute(db.text(statement)).scalar()
    db.session.rollback()


def generated(call: Call) -> Iterator[tuple[str, Any]]:
    """What is made of the schemas."""
    description = call("GET", "/v1/openapi.json").json
    schemas = description["components"]["schemas"]
    yield (
        "schemas",
        sorted(
            f"{name}.{field}"
            for name, schema in schemas.items()
            for field in ("ecoregion", "planting_year", "maker")
            if field in schema.get("properties", {})
        ),
    )
    yield (
        "parameters",
        sorted(
            parameter["name"]
            for path in description["paths"].values()
            for parameter in path.get("get", {}).get("parameters", [])
            if parameter.get("name") in ("ecoregion", "planting_year", "maker")
        ),
    )
    types = {each["name"]: each for each in call("GET", "/v1/event-types").json["data"]}
    for name, field in (("project.updated", "ecoregion"), ("asset.updated", "maker")):
        data = types[name]["schema"]["properties"]["data"]["properties"]
        shown = [data[field], data["changes"]["properties"][field]["properties"]["to"]]
        yield f"schema of {name}", [*shown, types[name]["example"]["data"][field]]


def imported(folder: Path, environ: dict[str, str], filled: Filled) -> Any:
    """Return the fields of features that the command imported, and why one was rejected."""
    features = [
        {
            "type": "Feature",
            "properties": {
                "name": f"Wood {number}",
                "Ecoregion": ecoregion,
                "Planting Year": f"{1950 + number}",
                "age": 90,
            },
            "geometry": {"type": "Polygon", "coordinates": SQUARE},
        }
        for number, ecoregion in enumerate(("West", 7, TOO_LONG))
    ]
    path = folder / "features.geojson"
    path.write_text(json.dumps({"type": "FeatureCollection", "features": features}))
    account = filled.principals[0].account_id
    command = [sys.executable, "-m", "app.cli", "import", str(path), "--account", account]
    done = subprocess.run(
        [*command, "--json"], env=os.environ | environ, capture_output=True, check=False
    )
    document = json.loads(done.stdout)
    with filled.app.app_context():
        statement = (
            "SELECT ecoregion, planting_year, metadata FROM projects WHERE name LIKE 'Wood _'"
        )
        rows = [list(row) for row in db.session.execute(db.text(statement + " ORDER BY name"))]
        db.session.remove()
    (rejected,) = document["rejected"]
    return [*rows, rejected["problems"][0]["field"]]


if __name__ == "__main__":
    sys.stdout.write(json.dumps(main(Path(sys.argv[1]))))
