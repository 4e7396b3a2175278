"""The list of imports, and the form that uploads a file."""

from __future__ import annotations

import io
from typing import Any

import pytest
from flask import Flask

from tests.make import (
    Browser,
    Client,
    make_account,
    make_project,
    new_email,
    point,
    second_app,
    sign_up,
    square,
)
from tests.make.features import collection, feature
from tests.pages.importing import CSV, act, ready, shapes, upload
from tests.pages.support import HOSTILE, MULTIPART, several_parts


def test_the_list_names_the_project_of_assets(browser: Browser, client: Client) -> None:
    project = make_project(client, name=HOSTILE)
    browser.get(f"/imports/new?project_id={project['id']}")
    assert b"selected" in browser.page.response.data  # type: ignore[union-attr]
    page = ready(browser, feature(point(), name="Spring"), kind="assets", project_id=project["id"])
    assert "Apply: create 1 asset" in page.text
    assert [each["part"] for each in shapes(browser, page.path)] == ["new"]
    page = act(browser, "apply")
    assert f"/projects/{project['id']}" in page.links
    page = browser.get("/imports")
    assert HOSTILE in page.text
    assert b"<script>alert" not in page.response.data


def test_what_is_wrong_with_an_upload_stands_in_the_form(browser: Browser) -> None:
    for form, message in [
        ({}, "Choose a file."),
        ({"kind": "assets", "file": "a.geojson"}, "Choose the project"),
        ({"kind": "trees", "file": "a.geojson"}, "Must be one of"),
        ({"file": "a" * 201 + ".kml"}, "a name of at most 200 characters"),
    ]:
        browser.get("/imports/new")
        if name := form.get("file"):
            form = form | {"file": (io.BytesIO(b"{}"), name)}
        page = browser.submit(**form)
        assert page.status == 422
        assert message in page.text


def test_a_project_of_another_account_is_refused(app: Flask, browser: Browser) -> None:
    theirs = make_project(make_account(app))["id"]
    page = upload(browser, CSV, kind="assets", project_id=theirs)
    assert page.status == 422
    assert "The account has no such project." in page.text


def test_a_script_gets_the_address_or_what_is_wrong(browser: Browser) -> None:
    token = browser.get("/imports/new").form().fields["csrf_token"]
    script = {"X-Requested-With": "fetch", "Accept": "application/json", "X-CSRFToken": token}

    def post(**data: Any) -> Any:
        return browser.client.post("/imports/new", data=data, headers=script)

    refused = post(kind="projects")
    assert refused.status_code == 422
    (detail,) = refused.json["error"]["details"]
    assert (detail["field"], detail["message"]) == ("file", "Choose a file.")
    taken = post(kind="projects", file=(io.BytesIO(collection(feature(square()))), "a.geojson"))
    assert taken.status_code == 201
    assert browser.get(taken.headers["Location"]).status == 200


def test_a_file_that_is_too_large_is_refused_with_the_limit(app: Flask) -> None:
    with second_app(app, max_import_bytes=100 * 1024) as small:
        browser = sign_up(small, new_email("large"))
        assert "At most 102.4 kB" in browser.get("/imports/new").text
        form = browser.page.form().fields  # type: ignore[union-attr]
        file: Any = (io.BytesIO(b" " * 300 * 1024), "a.geojson")
        page = browser.send("/imports/new", **form | {"file": file})
        assert page.status == 413
        assert "The file is larger than 102.4 kB" in page.text
        slightly: Any = (io.BytesIO(b" " * (100 * 1024 + 1)), "a.geojson")
        page = browser.send("/imports/new", **form | {"file": slightly})
        assert (page.status, "The file is larger than 102.4 kB" in page.text) == (413, True)
        headers = {"X-Requested-With": "fetch", "Accept": "application/json"}
        again: Any = (io.BytesIO(b" " * 300 * 1024), "a.geojson")
        page = browser.send("/imports/new", headers, **form | {"file": again})
        assert "The file is larger than 102.4 kB" in page.response.json["error"]["message"]


def test_a_text_in_the_form_of_a_file_is_small(browser: Browser) -> None:
    form = browser.get("/imports/new").form().fields
    file: Any = (io.BytesIO(b"{}"), "a.geojson")
    page = browser.send("/imports/new", **form | {"file": file, "layer": "x" * 200_000})
    assert page.status == 413


@pytest.mark.slow
def test_a_file_of_many_short_lines_is_taken(browser: Browser) -> None:
    lines = b"name,x,y\r\n" + b"Oak,10,50\r\n" * 100_000
    token = browser.get("/imports/new").form().fields["csrf_token"]
    for start in range(4):  # where the lines end in the pieces that are read
        body = several_parts(csrf_token=token, kind="projects", file=b" " * start + lines)
        page = browser.post_bytes("/imports/new", body, MULTIPART)
        assert page.status == 303, page.text


def test_an_upload_needs_the_token_of_the_form(browser: Browser) -> None:
    file: Any = (io.BytesIO(b"{}"), "a.geojson")
    assert browser.send("/imports/new", kind="projects", file=file).status == 403
    assert "No imports yet" in browser.get("/imports").text


def test_projects_are_searched_for_assets(browser: Browser, client: Client) -> None:
    make_project(client, name="Ash grove")
    make_project(client, name="Birch hill")
    page = browser.get("/imports/new?kind=assets&search=birch")
    assert "Birch hill" in page.text
    assert "Ash grove" not in page.text
    headers = {"X-Requested-With": "fetch"}
    options = browser.get("/imports/new?search=ash", headers=headers)
    assert "Ash grove" in options.text
    assert "Birch hill" not in options.text
    assert "Upload" not in options.text


def test_text_that_no_database_takes_finds_nothing(browser: Browser) -> None:
    for query in ["search=a%00b", "project_id=proj_%00", "kind=%00"]:
        for headers in [{}, {"X-Requested-With": "fetch"}]:
            assert browser.get(f"/imports/new?{query}", headers=headers).status == 200
