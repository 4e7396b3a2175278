"""What an import has made or changed, by every door."""

from __future__ import annotations

import pytest
from sqlalchemy import delete

from app.db.extensions import db
from app.db.transactions import transaction
from app.models import Import
from tests.imports.making import act, ready
from tests.lists.doors import project_doors
from tests.make import Client, make_asset, make_project, point, square
from tests.make.features import feature
from tests.pages.support import browser_of


@pytest.mark.both
def test_every_door_finds_what_an_import_made_or_changed(client: Client) -> None:
    make_project(client, name="Old", geometry=square(30))
    made = ready(client, *(feature(square(n), name=f"Plot {n}") for n in (1, 5)))
    act(client, made, "apply")
    changed = ready(client, feature(square(9), name="Plot 5"), feature(square(13), name="New"),
                    match="name")  # fmt: skip
    act(client, changed, "apply")
    owner = browser_of(client)
    for record, names in ((made, ["Plot 1", "Plot 5"]), (changed, ["New", "Plot 5"])):
        found = project_doors(client, owner, {"import_id": record["id"]})
        assert found == dict.fromkeys(found, names)
        assert f"Import is {record['id']}" in owner.get(f"/projects?import_id={record['id']}").text
        path = f"/ogc/collections/projects/items?import_id={record['id']}"
        assert sorted(each["properties"]["name"] for each in client.get(path).json["features"]) == (
            names
        )
    with client.app.app_context(), transaction():
        db.session.execute(
            delete(Import).where(Import.account_id == client.account_id, Import.id == made["id"])
        )
    assert client.get(f"/v1/projects?import_id={made['id']}").json["meta"]["total"] == 2
    act(client, changed, "undo")
    assert client.get(f"/v1/projects?import_id={changed['id']}").json["meta"]["total"] == 0


def test_assets_and_what_is_no_import(client: Client) -> None:
    project = make_project(client)["id"]
    make_asset(client, project, name="Mast")
    record = ready(client, feature(point(), name="Post"), kind="assets", project_id=project)
    act(client, record, "apply")
    for path in ("/v1/assets", f"/v1/projects/{project}/assets"):
        listed = client.get(f"{path}?import_id={record['id']}").json
        assert [each["name"] for each in listed["data"]] == ["Post"], path
        assert listed["meta"]["total"] == 1
    for path in ("/v1/assets", "/v1/eudr", "/ogc/collections/assets/items"):
        refused = client.get(f"{path}?import_id=proj_1")
        assert refused.status_code == 400
        assert refused.json["error"]["details"][0]["message"] == (
            'Must be the id of an import, which begins with "imp_".'
        )
