"""Metadata in forms."""

from __future__ import annotations

from flask import Flask
from werkzeug.datastructures import MultiDict

from app.pages.metadata import Row, metadata_rows, read_metadata, sent_metadata
from tests.make import make_account, make_asset, make_project
from tests.pages.support import browser_of, metadata_of


def test_a_value_keeps_its_type_under_another_name() -> None:
    rows = [row._replace(name=f"{row.name}2") for row in metadata_rows({"year": 1998, "a": "7"})]
    assert read_metadata(rows) == ({"year2": 1998, "a2": "7"}, [])


def test_a_changed_value_is_read_as_what_it_was() -> None:
    rows = metadata_rows({"year": 1998, "text": "1998"})
    changed = [row._replace(text="1999") for row in rows]
    assert read_metadata(changed) == ({"year": 1999, "text": "1999"}, [])
    changed = [row._replace(text="19 or 20") for row in rows]
    assert read_metadata(changed)[0] == {"year": "19 or 20", "text": "19 or 20"}


def test_lines_end_in_line_feeds() -> None:
    (row,) = metadata_rows({"a": "one\rtwo\r\nthree\n"})
    assert row.has_lines
    fields = {"metadata_name": "a", "metadata_value": "one\r\ntwo\r\nthree\r\n"}
    form = MultiDict(fields | {"metadata_was": row.former})
    assert read_metadata(sent_metadata(form))[0] == {"a": "one\ntwo\nthree\n"}
    assert read_metadata(sent_metadata(MultiDict(fields)))[0] == {"a": "one\ntwo\nthree\n"}


def test_what_no_form_of_ours_sent_is_text() -> None:
    for was in ("{", "5", "[1]", "[1,2]", '["a"]'):
        assert read_metadata([Row("a", "1", was)])[0] == {"a": "1"}


def test_much_metadata_fits_into_the_form(app: Flask) -> None:
    client = make_account(app)
    metadata = {"notes": "<é>" * 3500}
    made = make_asset(client, make_project(client)["id"], metadata=metadata)
    browser = browser_of(client)
    path = f"/assets/{made['project_id']}/{made['id']}/edit"
    sent = metadata_of(browser.get(path))
    assert browser.submit(name="Renamed", **sent).status == 200  # type: ignore[arg-type]
    record = client.get(f"/v1/projects/{made['project_id']}/assets/{made['id']}").json["data"]
    assert (record["name"], record["metadata"]) == ("Renamed", metadata)
