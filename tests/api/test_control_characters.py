"""Names and texts with characters that cannot be shown: not taken, and not shown where stored."""

from __future__ import annotations

from typing import Any, Final

import pytest

from app.http.errors import ValidationFailed
from app.oauth.applications.validation import check_application
from app.people.single_sign_on.admission import name_of
from app.people.single_sign_on.interface import ProviderIdentity
from tests.make import Client, make_project
from tests.names import CONTROL, NOT_NAMES, SHOWN, make_stored
from tests.pages.support import browser_of, post

NOT_TEXTS: Final = ("\x1b[2J", "a\x00b", "a\x7fb", "a\x9bb", "\ufdd0", "\U0010ffff")
NAMES: Final = ("Wald", "شجرة", "می\u200cخواهم", "👩\u200d🌾", "क्\u200dष", "a\u00a0b", "\u0301")


def fields_of(response: Any) -> set[str]:
    assert response.status_code == 422, response.text
    return {each["field"] for each in response.json["error"]["details"]}


def test_what_is_no_name(client: Client) -> None:
    project = make_project(client)
    for name in NOT_NAMES:
        assert fields_of(client.post("/v1/projects", json={"name": name})) == {"name"}, name
    name, path = NOT_NAMES[0], f"/v1/projects/{project['id']}"
    assert fields_of(client.put(path, json={"name": name})) == {"name"}
    asset = {"name": name, "type": "gate"}
    assert fields_of(client.post(f"{path}/assets", json=asset)) == {"name"}
    assert fields_of(client.put("/v1/account", json={"name": name})) == {"name"}
    webhook = {"url": "https://example.org/x", "events": ["*"], "description": name}
    assert fields_of(client.post("/v1/webhooks", json=webhook)) == {"description"}
    numbered = {"name": "Wald", "external_id": name}
    assert fields_of(client.post("/v1/projects", json=numbered)) == {"external_id"}


def test_names_of_all_scripts(client: Client) -> None:
    for name in NAMES:
        assert make_project(client, name=name)["name"] == name


def test_what_is_no_text(client: Client) -> None:
    for text in NOT_TEXTS:
        body = {"name": "Wald", "description": text}
        assert fields_of(client.post("/v1/projects", json=body)) == {"description"}, text
    for metadata in ({"a": text}, {text: 1}, {"a": [{"b": text}]}):
        body = {"name": "Wald", "metadata": metadata}
        assert fields_of(client.post("/v1/projects", json=body)) == {"metadata"}


def test_texts_have_tabs_and_lines(client: Client) -> None:
    text = "one\ttwo\nthree \\u001b \\b"
    made = make_project(client, description=text, metadata={text: [text]})
    assert (made["description"], made["metadata"]) == (text, {text: [text]})


def test_lines_may_end_as_on_windows(client: Client) -> None:
    sent, stored = "one\r\ntwo\rthree", "one\ntwo\nthree"
    values = {"description": sent, "metadata": {"note": [sent]}}
    made = make_project(client, **values)
    assert (made["description"], made["metadata"]) == (stored, {"note": [stored]})
    feature = {"type": "Feature", "geometry": None, "properties": {"name": "B", "note": sent,
               "description": sent}}  # fmt: skip
    response = client.post("/ogc/collections/projects/items", json=feature)
    assert response.status_code == 201, response.json
    item = client.get(response.headers["Location"]).json["properties"]
    assert (item["description"], item["note"]) == (stored, stored)
    browser = browser_of(client)
    browser.get("/projects/new")
    browser.submit("/projects/new", name="C", description=sent)
    assert {each["description"] for each in client.get("/v1/projects").json["data"]} == {stored}


def test_forms_take_no_such_names(client: Client) -> None:
    browser = browser_of(client)
    for path in ("/profile/name", "/settings", "/projects/new"):
        assert post(browser, path, name=NOT_NAMES[0]).response.status_code == 422, path


def test_applications_and_single_sign_on_take_no_such_names() -> None:
    for name in NOT_NAMES:
        with pytest.raises(ValidationFailed) as refused:
            check_application(name, ["https://example.org/x"], ["projects:read"])
        assert [each.field for each in refused.value.details] == ["name"]
        assert name_of(ProviderIdentity("1", {"name": name}), "jo@example.org") == "jo"


def test_pages_show_no_stored_name(client: Client) -> None:
    stored = make_stored(client)
    browser = browser_of(client)
    for path in ("/projects", f"/projects/{stored}", f"/projects/{stored}/edit", "/members"):
        text = browser.get(path).response.get_data(as_text=True)
        assert SHOWN in text, path
        assert not CONTROL.search(text), path
