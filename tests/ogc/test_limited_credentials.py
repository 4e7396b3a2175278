"""A credential that is limited to a project sees nothing of others below /ogc."""

from __future__ import annotations

from typing import Final

import pytest
from flask import Flask

from tests.make import Client
from tests.make.limited import Forest, make_forest, normalized

pytestmark = pytest.mark.both


FILTERS: Final = ("", "limit=100", "bbox=9,49,12,52", "external_id=quokka", "f=html",
                  "filter=TRUE", "filter=name LIKE '%25'", "filter=NOT (name = 'Own')",
                  "filter=S_INTERSECTS(geometry, POINT(10.05 50.05)) OR TRUE")  # fmt: skip

# What a limited credential is tried with in tests/auth/test_limited_credentials.py.
WRITES: Final = {f"POST /ogc/collections/{name}/items" for name in ("projects", "assets")}


@pytest.fixture
def forest(client: Client) -> Forest:
    return make_forest(client)


@pytest.mark.slow
def test_nothing_of_ogc_tells_of_another_project(forest: Forest, subtests: pytest.Subtests) -> None:
    """A new path is read here at once; a new way to write fails until it is a line of WRITES."""
    ids, views = {"projects": "project_id", "assets": "asset_id"}, _views(forest.owner.app)
    assert len(views) > 10
    for rule, methods in sorted(views.items()):
        kind = ids["assets" if "/assets" in rule else "projects"]
        path = rule.replace("<feature_id>", forest.own[kind])
        for query in FILTERS if rule.endswith("/items") else ("", "f=html"):
            answer = forest.key.get(f"{path}?{query}")
            with subtests.test(f"{rule} {query}"):
                assert forest.reveals(answer) == []
                assert answer.status_code == 200
                if rule.endswith("/items") and query in ("", "limit=100", "filter=TRUE"):
                    assert answer.json["numberMatched"] == 1
        for method in sorted(methods):
            with subtests.test(f"{method} {rule}"):
                if "<feature_id>" in rule:
                    hidden = _answer(forest, method, rule, forest.hidden[kind])
                    absent = f"{forest.hidden[kind][:-4]}0000"
                    assert hidden == _answer(forest, method, rule, absent)
                    assert hidden[0] == 404
                else:
                    assert method == "GET" or f"{method} {rule}" in WRITES


def _answer(forest: Forest, method: str, rule: str, feature_id: str) -> tuple[int, str]:
    sent = {"type": "Feature", "geometry": None, "properties": {"name": "X"}}
    body = None if method in ("GET", "DELETE") else sent
    path = rule.replace("<feature_id>", feature_id)
    return normalized(forest.key.send(method, path, json=body))


def _views(app: Flask) -> dict[str, set[str]]:
    """The paths of /ogc, each with its methods."""
    found: dict[str, set[str]] = {}
    for rule in app.url_map.iter_rules():
        if rule.rule.startswith("/ogc"):
            methods = set(rule.methods or ()) - {"HEAD", "OPTIONS"}
            found.setdefault(rule.rule, set()).update(methods)
    return found
