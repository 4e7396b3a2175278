"""The page of one asset, and the form that makes or edits it, without scripts."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from app.policy.forms import FIELD_LENGTH
from tests.make import Browser, Client, make_asset, make_project, point, square
from tests.make.browser import Page
from tests.pages.support import metadata_of
from tests.processor_time import is_within, seconds_taken


@pytest.fixture
def project(client: Client) -> dict[str, Any]:
    return make_project(client, name="North Wood", geometry=square(10, 50))


@pytest.fixture
def asset(client: Client, project: dict[str, Any]) -> dict[str, Any]:
    metadata = {"serial": "WX-1", "height": 12, "sensors": ["wind"]}
    return make_asset(
        client,
        project["id"],
        name="Station",
        status="under_repair",
        location=point(10.05, 50.05),
        metadata=metadata,
    )


def path_of(asset: dict[str, Any]) -> str:
    return f"/assets/{asset['project_id']}/{asset['id']}"


def api_path(asset: dict[str, Any]) -> str:
    return f"/v1/projects/{asset['project_id']}/assets/{asset['id']}"


def saved(client: Client, asset: dict[str, Any]) -> dict[str, Any]:
    """The asset as the API has it."""
    record: dict[str, Any] = client.get(api_path(asset)).json["data"]
    return record


def rows(*pairs: tuple[str, str]) -> dict[str, Any]:
    """The fields of rows of metadata."""
    return {
        "metadata_name": [name for name, _ in pairs],
        "metadata_value": [value for _, value in pairs],
    }


def test_an_asset_is_created(browser: Browser, client: Client, project: dict[str, Any]) -> None:
    browser.get(f"/assets/new?project_id={project['id']}")
    page = browser.submit(
        "/assets/new",
        name=" Tower 1 ",
        type="Fire tower",
        status="under repair",
        latitude="50°3'N",
        longitude="10,05",
        **rows(("height", "12 m"), ("", "")),
    )
    assert page.title == "Tower 1"
    assert "Tower 1 created." in page.text
    assert "outside the boundary" not in page.text
    (made,) = client.get("/v1/assets").json["data"]
    assert made["project_id"] == project["id"]
    assert (made["name"], made["type"], made["status"]) == ("Tower 1", "fire tower", "under repair")
    assert made["location"]["coordinates"] == [10.05, 50.05]
    assert made["metadata"] == {"height": "12 m"}


def test_several_are_added_one_after_the_other(browser: Browser, project: dict[str, Any]) -> None:
    browser.get("/assets/new")
    page = browser.submit(name="Post", project="north", type="post", then="another")
    assert page.path == f"/assets/new?project_id={project['id']}&type=post"
    assert "Post created. Add the next one." in page.text
    assert page.form("/assets/new").fields["project"] == "North Wood"


def test_a_place_in_36_000_characters_is_refused_unread(
    browser: Browser, asset: dict[str, Any]
) -> None:
    """An expression that looks at it took eleven seconds."""
    place = f"N{' ' * 36_000}x"

    def sent(text: str, path: str) -> Page:
        if path.endswith("="):
            return browser.get(path + text)
        return browser.send(path, **browser.get(path).form(path).fields | {"latitude": text})

    for path in (f"{path_of(asset)}/edit", "/assets/new", "/assets/new?latitude="):
        pages: list[Page] = []
        for text in (place, place[: FIELD_LENGTH - 1] + "x"):
            assert is_within(seconds_taken(partial(_append, pages, sent, text, path)), 0.2)
        assert pages[0].status == (400 if path.endswith("=") else 422)
        assert f"“latitude” has more than {FIELD_LENGTH:,} characters. Shorten" in pages[0].text
        assert "Latitude" in pages[1].text
        assert path.endswith("=") or "Write it in degrees" in pages[1].text


def _append(pages: list[Page], sent: Callable[[str, str], Page], *arguments: str) -> None:
    pages.append(sent(*arguments))


def test_errors_stand_at_their_fields_and_nothing_is_lost(
    browser: Browser, client: Client, project: dict[str, Any]
) -> None:
    browser.get("/assets/new")
    page = browser.submit(
        name="",
        project="east",
        type="_dwarfs",
        latitude="95",
        longitude="10 O",
        **rows(("", "lost"), ("a", "1"), ("a", "2")),
    )
    assert page.status == 422
    assert page.title.startswith("Problem")
    for message in (
        "No project is called this.",
        "Must begin with a letter",
        "Must be between −90 and 90 degrees.",
        "The value 'lost' needs a name.",
        "The name 'a' is there twice.",
    ):
        assert message in page.text
    fields = page.form("/assets/new").fields
    assert (fields["project"], fields["type"], fields["latitude"]) == ("east", "_dwarfs", "95")
    assert b'value="lost"' in page.response.data
    page = browser.submit("/assets/new", type=" ")
    assert "Say what it is" in page.text
    assert client.get("/v1/assets").json["data"] == []


def test_one_of_several_projects_is_chosen(
    browser: Browser, client: Client, project: dict[str, Any]
) -> None:
    make_project(client, name="South Wood")
    browser.get("/assets/new")
    page = browser.submit(name="Saw", project="wood", type="saw")
    assert page.status == 422
    assert "Several projects match" in page.text
    page = browser.submit(project_id=project["id"])
    assert page.title == "Saw"
    assert client.get("/v1/assets").json["data"][0]["project_id"] == project["id"]


def test_the_page_of_an_asset(browser: Browser, asset: dict[str, Any]) -> None:
    page = browser.get(path_of(asset))
    assert page.title == "Station"
    for words in (
        "50.0500° N 10.0500° E",
        "equipment",
        "under repair",
        "WX-1",
        '["wind"]',
        "North Wood",
    ):
        assert words in page.text
    assert "created the asset" in page.text


def test_a_place_outside_the_boundary_is_pointed_out(
    browser: Browser, client: Client, project: dict[str, Any]
) -> None:
    far = make_asset(client, project["id"], location=point(12, 50))
    assert "outside the boundary of" in browser.get(path_of(far)).text


def test_the_status_is_changed_at_once(
    browser: Browser, client: Client, asset: dict[str, Any]
) -> None:
    browser.get(path_of(asset))
    page = browser.submit(f"{path_of(asset)}/status", press="maintenance")
    assert "The status is maintenance now." in page.text
    assert "changed the asset: status from under repair to maintenance" in page.text
    assert saved(client, asset)["status"] == "maintenance"
    browser.get(path_of(asset))
    assert browser.submit(f"{path_of(asset)}/status", status="Nothing").status == 400


@pytest.mark.both
def test_an_asset_is_edited(browser: Browser, client: Client, asset: dict[str, Any]) -> None:
    sent = metadata_of(browser.get(f"{path_of(asset)}/edit"))
    sent |= rows(("height", "13"), ("sensors", '["rain"]'), ("serial", "WX-2"))
    page = browser.submit(name="Station 2", **sent)  # type: ignore[arg-type]
    assert page.title == "Station 2"
    assert "Asset saved." in page.text
    assert "changed the asset: metadata, name" in page.text
    record = saved(client, asset)
    assert record["metadata"] == {"serial": "WX-2", "height": 13, "sensors": ["rain"]}
    assert record["location"] == asset["location"]


def test_what_is_not_touched_stays(
    browser: Browser, client: Client, project: dict[str, Any]
) -> None:
    metadata = {"lines": "one\n\ntwo", "year": 1998, " odd": [1]}
    for word in ("a__b", "foo_"):
        made = make_asset(client, project["id"], type=word, status=word, metadata=metadata)
        sent = metadata_of(browser.get(f"{path_of(made)}/edit"))
        assert browser.submit(name="Renamed", **sent).title == "Renamed"  # type: ignore[arg-type]
        record = saved(client, made)
        assert (record["type"], record["status"], record["metadata"]) == (word, word, metadata)


def test_a_location_is_taken_away(browser: Browser, client: Client, asset: dict[str, Any]) -> None:
    browser.get(f"{path_of(asset)}/edit")
    page = browser.submit(longitude="")
    assert page.status == 422
    assert "Write both latitude and longitude, or neither." in page.text
    browser.submit(latitude="", longitude="")
    assert saved(client, asset)["location"] is None


def test_what_somebody_else_saved_is_not_overwritten(
    browser: Browser, client: Client, asset: dict[str, Any]
) -> None:
    browser.get(f"{path_of(asset)}/edit")
    theirs = {"name": "Theirs", "location": point(10.06, 50.06)}
    assert client.put(api_path(asset), json=theirs).status_code == 200
    page = browser.submit(name="Mine", type="saw")
    assert page.status == 412
    assert "has saved this asset" in page.text
    assert "Name Theirs Mine" in page.text
    assert "Location 50.06, 10.06 50.05, 10.05" in page.text
    assert "Status" not in page.text.partition("Field")[2].partition("Save to overwrite")[0]
    assert saved(client, asset)["name"] == "Theirs"
    assert page.form(f"{path_of(asset)}/edit").fields["name"] == "Mine"
    browser.submit()
    assert saved(client, asset)["name"] == "Mine"
    assert saved(client, asset)["type"] == "saw"


def test_an_asset_is_deleted(browser: Browser, client: Client, asset: dict[str, Any]) -> None:
    page = browser.get(path_of(asset))
    assert "is deleted for good, with its location and metadata" in page.text
    page = browser.submit(f"{path_of(asset)}/delete", confirmation="Staton")
    assert "Nothing was deleted. To confirm, type the name: Station" in page.text
    page = browser.submit(f"{path_of(asset)}/delete", confirmation="station")
    assert "Station deleted." in page.text
    assert client.get("/v1/assets").json["data"] == []
    assert browser.get(path_of(asset)).status == 404


def test_assets_of_other_projects_are_absent(
    client: Client, browser: Browser, asset: dict[str, Any]
) -> None:
    other = make_project(client)
    for path in ("", "/edit"):
        assert browser.get(f"/assets/{other['id']}/{asset['id']}{path}").status == 404


def test_an_external_id_is_kept_and_shown(
    browser: Browser, client: Client, project: dict[str, Any]
) -> None:
    browser.get(f"/assets/new?project_id={project['id']}")
    page = browser.submit("/assets/new", name="Tower", type="tower", external_id=" T-1 ")
    assert "External ID T-1" in " ".join(page.text.split())
    (made,) = client.get("/v1/assets").json["data"]
    assert made["external_id"] == "T-1"
    assert "T-1" in browser.get("/assets").text
    page = browser.get(f"{path_of(made)}/edit")
    assert page.form().fields["external_id"] == "T-1"
    browser.submit(external_id="")
    assert saved(client, made)["external_id"] is None


def test_a_taken_external_id_names_the_other(
    browser: Browser, client: Client, project: dict[str, Any], asset: dict[str, Any]
) -> None:
    other = make_asset(client, project["id"], external_id="T-1")
    browser.get(f"/assets/new?project_id={project['id']}")
    page = browser.submit("/assets/new", name="Tower", type="tower", external_id="T-1")
    assert page.status == 409
    assert f"is taken by the asset {other['id']}" in page.text
    assert page.form("/assets/new").fields["name"] == "Tower"
    browser.get(f"{path_of(asset)}/edit")
    page = browser.submit(external_id="T-1", name="Renamed")
    assert page.status == 409
    assert f"is taken by the asset {other['id']}" in page.text
    assert saved(client, asset) == asset


def test_a_form_that_a_script_sends_again_is_carried_out_once(
    browser: Browser, client: Client, project: dict[str, Any]
) -> None:
    token = browser.get("/assets/new").form("/logout").fields["csrf_token"]

    def send(path: str, key: str, kind: str = "multipart/form-data", **fields: str) -> Page:
        headers = {
            "Content-Type": kind,
            "X-Requested-With": "fetch",
            "X-CSRFToken": str(token),
            "Idempotency-Key": key,
        }
        return browser.send(path, headers, **fields)

    fields = {"name": "Gate", "type": "gate", "project_id": project["id"], "external_id": "G-1"}
    assert send("/assets/new", "one", **fields | {"type": ""}).status == 422
    first, second = (send("/assets/new", "one", **fields) for _ in range(2))
    assert first.status == second.status == 200
    assert first.response.json == second.response.json
    assert second.response.headers["Idempotency-Replayed"] == "true"
    (record,) = client.get("/v1/assets").json["data"]
    assert first.response.json["data"] == {"path": path_of(record), "message": "Gate created."}
    assert "Gate created." in browser.get(path_of(record)).text
    assert send("/assets/new", "two", **fields).status == 409  # by another form
    edit = f"{path_of(record)}/edit"
    version = str(browser.get(edit).form(edit).fields["version"])
    changed = {"name": "Gate 2", "type": "gate", "version": version}
    kinds = "multipart/form-data", "application/x-www-form-urlencoded"
    assert [send(edit, "three", kind, **changed).status for kind in kinds] == [200, 200]
    assert send(edit, "four", **changed | {"name": "Gate 3"}).status == 412


def test_a_place_in_one_text_is_read_as_tables_read_it(
    browser: Browser, project: dict[str, Any]
) -> None:
    path = f"/assets/new?project={project['id']}"

    def sent(text: str) -> Page:
        return browser.send(
            path, **browser.get(path).form("/assets/new").fields | {"latitude": text}
        )

    for text, place in (
        ("33°27'15.48\"S 70°39'0.36\"W", (-33.4543, -70.6501)),
        ("32TMT4349361137", (47.50121449, 8.24969634)),
    ):
        fields = sent(text).form("/assets/new").fields
        read = (float(fields["latitude"]), float(fields["longitude"]))
        assert read == pytest.approx(place, abs=1e-7)
    assert "Write E or W." in sent("47.01 N, 10.01 O").text
