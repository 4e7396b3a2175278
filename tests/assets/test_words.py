"""Types and statuses of assets: words of any language, in lower case."""

from __future__ import annotations

import unicodedata

import pytest

from tests.make import Client, make_asset, make_project

WORDS = (
    "fire_tower", "capcană foto", "bornă", "дуб", "l'arbre", "st. bernard", "2-inch pipe", "वृक्ष",
    "樹", "m²", "x", "fire-tower_2", "x" * 50,
)  # fmt: skip
NO_WORDS = ("_a", "a  b", "a/b", "a.", "<b>", "a\nb", "", " ", "-", "👩", "x" * 51)


def test_words_of_any_language(client: Client) -> None:
    project = make_project(client)["id"]
    for word in WORDS:
        made = make_asset(client, project, type=word, status=word)
        assert (made["type"], made["status"]) == (word, word)
        found = client.get("/v1/assets", query_string={"type": word.upper()}).json["data"]
        assert [each["id"] for each in found] == [made["id"]], word


@pytest.mark.parametrize("word", NO_WORDS)
def test_what_is_no_word(client: Client, word: str) -> None:
    path = f"/v1/projects/{make_project(client)['id']}/assets"
    response = client.post(path, json={"name": "A", "type": word})
    (detail,) = response.json["error"]["details"]
    assert (response.status_code, detail["field"]) == (422, "type")


def test_capitals_are_named_or_made_small(client: Client) -> None:
    project = make_project(client)["id"]
    for word, small in (("Bornă", "bornă"), (unicodedata.normalize("NFD", "bornă"), "bornă")):
        body = {"name": "A", "type": word}
        refused = client.post(f"/v1/projects/{project}/assets", json=body).json["error"]
        (detail,) = refused["details"]
        assert (detail["field"], detail["code"]) == ("type", "wrong_format")
        assert detail["message"] == f"Must be in lower case: {small}."
    feature = {"type": "Feature", "geometry": None,
               "properties": {"name": "A", "type": "Bornă", "project_id": project}}  # fmt: skip
    made = client.post("/ogc/collections/assets/items", json=feature)
    assert made.status_code == 201, made.json
    (asset,) = client.get("/v1/assets").json["data"]
    assert asset["type"] == "bornă"
    for query in ({"type": "BORNĂ"}, {"filter": "type = 'Bornă'"}):
        found = client.get("/ogc/collections/assets/items", query_string=query).json
        assert len(found["features"]) == 1, query
