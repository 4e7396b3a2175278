"""What belongs to another account is not there, whoever asks and however."""

from __future__ import annotations

import pytest

from tests.make import Client, make_asset, make_project, point, square
from tests.make.limited import normalized
from tests.ogc.reading import names

BODY = {"type": "Feature", "geometry": None, "properties": {"name": "X", "type": "post"}}


def test_an_id_of_another_account_is_the_same_404_as_one_that_nobody_has(
    client: Client, stranger: Client
) -> None:
    project = make_project(stranger, geometry=square())
    asset = make_asset(stranger, project["id"], location=point())
    for collection, own_id in (("projects", project["id"]), ("assets", asset["id"])):
        for method in ("GET", "HEAD", "PUT", "PATCH", "DELETE"):
            body = BODY if method in ("PUT", "PATCH") else None
            answers = set()
            for feature_id in (own_id, f"{own_id[:-4]}0000", "x", "%00", "a.b", own_id[::-1]):
                path = f"/ogc/collections/{collection}/items/{feature_id}"
                answers.add(normalized(client.send(method, path, json=body)))
            assert len(answers) == 1
            assert next(iter(answers))[0] == 404
            assert stranger.get(f"/ogc/collections/{collection}/items/{own_id}").status_code == 200


@pytest.mark.slow
@pytest.mark.both
def test_no_filter_reaches_another_account(client: Client, stranger: Client) -> None:
    own = make_project(client, name="Own", geometry=square(10, 50))
    other = make_project(stranger, name="Other", geometry=square(10, 50), external_id="E")
    make_asset(stranger, other["id"], location=point(10, 50), external_id="E")
    for parameters in (
        {},
        {"bbox": "9,49,12,52"},
        {"bbox": "10.01,50.01,10.02,50.02"},
        {"id": other["id"]},
        {"external_id": "E"},
        {"filter": "TRUE OR name = 'Other'"},
        {"filter": "NOT (name = 'Own' AND FALSE)"},
        {"filter": "S_INTERSECTS(geometry, POINT(10.05 50.05)) OR TRUE"},
        {"filter": f"id IN ('{other['id']}', '{own['id']}')"},
        {"filter": "name LIKE '%'", "cursor": f"2000-01-01T00:00:00.000Z~{other['id']}"},
    ):
        assert set(names(client, **parameters)) <= {"Own"}, parameters
        assert names(client, "assets", **parameters) == []


def test_extents_are_of_the_account_alone(client: Client, stranger: Client) -> None:
    make_project(stranger, geometry=square(10, 50))
    assert "extent" not in client.get("/ogc/collections/projects").json
