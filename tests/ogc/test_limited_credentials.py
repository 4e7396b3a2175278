"""A credential that is limited to a project sees nothing of others below /ogc."""

from __future__ import annotations

from typing import Final

import pytest

from tests.cells import every_cell
from tests.make import Client
from tests.make.limited import Forest, make_forest, normalized

FILTERS: Final = ("", "limit=100", "bbox=9,49,12,52", "external_id=quokka", "f=html",
                  "filter=TRUE", "filter=name LIKE '%25'", "filter=NOT (name = 'Own')",
                  "filter=S_INTERSECTS(geometry, POINT(10.05 50.05)) OR TRUE")  # fmt: skip


@pytest.fixture
def forest(client: Client) -> Forest:
    return make_forest(client)


def test_nothing_of_ogc_tells_of_another_project(forest: Forest) -> None:
    app, ids = forest.owner.app, {"projects": "project_id", "assets": "asset_id"}
    rules = sorted({rule.rule for rule in app.url_map.iter_rules() if rule.rule.startswith("/ogc")})
    assert len(rules) > 10
    with every_cell() as cell:
        for rule in rules:
            kind = ids["assets" if "/assets" in rule else "projects"]
            path = rule.replace("<feature_id>", forest.own[kind])
            no_parameter = ("external_id=quokka",) if "/assets" in rule else ()
            for query in FILTERS if rule.endswith("/items") else ("", "f=html"):
                answer = forest.key.get(f"{path}?{query}")
                with cell(f"{rule} {query}"):
                    assert forest.reveals(answer) == []
                    assert answer.status_code == (400 if query in no_parameter else 200)
                    if rule.endswith("/items") and query in ("", "limit=100", "filter=TRUE"):
                        assert answer.json["numberMatched"] == 1
            if "<feature_id>" in rule:
                for method in ("GET", "PUT", "PATCH", "DELETE"):
                    sent = {"type": "Feature", "geometry": None, "properties": {"name": "X"}}
                    answers = {
                        normalized(
                            forest.key.send(
                                method,
                                rule.replace("<feature_id>", feature_id),
                                json=None if method in ("GET", "DELETE") else sent,
                            )
                        )
                        for feature_id in (forest.hidden[kind], f"{forest.hidden[kind][:-4]}0000")
                    }
                    with cell(f"{method} {rule}"):
                        assert [status for status, _ in answers] == [404]
