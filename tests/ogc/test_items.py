"""Pages of features: each arrives once, with links that keep what was asked for."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import update

from app.auth.tenant import find_locked
from app.db.extensions import db
from app.db.transactions import transaction
from app.lists import selecting
from app.models import Project
from app.values import clock
from tests.make import Client, make_asset, make_project, multi_square, point, second_app, square
from tests.ogc.reading import CRS84, error, found, items, link, local


def every_page(client: Client, path: str) -> list[list[Any]]:
    """The names on each page, as a client finds them that follows the links."""
    pages = []
    href: str | None = path
    while href is not None:
        response = client.get(href)
        features = found(response)
        pages.append([feature["properties"]["name"] for feature in features])
        next_link = link(response.json, "next")
        header = response.headers.get("Link")
        expected = f'<{next_link}>; rel="next"; type="application/geo+json"'
        assert header == (None if next_link is None else expected)
        href = None if next_link is None else local(next_link)
    return pages


def test_every_feature_arrives_once_on_pages_of_any_size(client: Client) -> None:
    made = [make_project(client, name=f"P{number}")["name"] for number in range(7)]
    for limit, sizes in ((1, [1] * 7), (3, [3, 3, 1]), (7, [7]), (8, [7])):
        pages = every_page(client, f"/ogc/collections/projects/items?limit={limit}")
        assert [len(page) for page in pages] == sizes
        assert [name for page in pages for name in page] == made


@pytest.mark.both
def test_filtered_pages_have_every_feature_once(client: Client) -> None:
    made = [
        make_project(client, name=f"P{number}", geometry=square(10 + number / 10, 50, 0.05))["name"]
        for number in range(5)
    ]
    make_project(client, name="Archived")
    for query in ("filter=status%3D'active'", "bbox=9,49,12,52", "status=active"):
        pages = every_page(client, f"/ogc/collections/projects/items?limit=2&{query}")
        assert [name for page in pages for name in page if name != "Archived"] == made


@pytest.mark.both
def test_pages_do_not_overlap_where_rows_are_more_precise(client: Client) -> None:
    """Rows that were written with SQL can have microseconds on PostgreSQL."""
    ids = [make_project(client, name=f"P{number}")["id"] for number in range(4)]
    with client.app.app_context():
        if db.engine.dialect.name == "postgresql":
            for number, row_id in enumerate(ids):
                moment = datetime.fromisoformat(f"2026-01-02T03:04:05.6780{number}1+00:00")
                own = update(Project).where(Project.id == row_id)
                db.session.execute(
                    own.where(Project.account_id == client.account_id).values(created_at=moment)
                )
            db.session.commit()
    pages = every_page(client, "/ogc/collections/projects/items?limit=1")
    assert pages == [["P0"], ["P1"], ["P2"], ["P3"]]


def test_changes_between_two_pages_move_no_other_feature(client: Client) -> None:
    made = [make_project(client, name=f"P{number}") for number in range(4)]
    first = items(client, limit=2)
    with client.app.app_context():  # the last one of the page, which the next one begins after
        project = find_locked(client.account_id, Project, made[1]["id"])
        assert project is not None
        db.session.delete(project)
        db.session.commit()
    make_project(client, name="P4")
    href = link(first.json, "next")
    assert href is not None
    rest = client.get(local(href))
    assert [each["properties"]["name"] for each in found(rest)] == ["P2", "P3"]


def test_the_next_link_keeps_every_parameter(client: Client) -> None:
    for number in range(3):
        make_project(client, geometry=square(10 + number, 50))
    query = {"bbox": "9,49,20,60", "crs": CRS84, "f": "json", "filter": "name LIKE '%'"}
    href = link(items(client, limit=1, **query).json, "next")
    assert href is not None
    asked = client.app.test_client().get(local(href), headers=client.authorization).request.args
    assert dict(asked) == query | {"limit": "1", "cursor": asked["cursor"]}


def test_links_are_below_the_public_url(app: Flask, client: Client) -> None:
    for _ in range(2):
        make_project(client)
    with second_app(app, public_url="https://maps.example.org", public_url_is_set=True) as public:
        own = Client(public, client.account_id, client.owner_id, client.token)
        page = items(own, limit=1)
    hrefs = [each["href"] for each in page.json["links"]]
    assert all(href.startswith("https://maps.example.org/ogc/") for href in hrefs)


def test_a_page_says_how_many_there_are_and_when(client: Client) -> None:
    before = clock.format_time(clock.now())
    for number in range(3):
        make_project(client, name=f"P{number}", geometry=square(10 + number, 50))
    page = items(client, limit=2).json
    assert (page["numberMatched"], page["numberReturned"]) == (3, 2)
    assert page["timeStamp"] >= before
    page = items(client, bbox="10,50,11.05,51").json
    assert (page["numberMatched"], page["numberReturned"]) == (2, 2)


def test_a_larger_limit_means_the_largest(client: Client) -> None:
    for limit in ["10001", "9" * 20, "0" * 30 + "9" * 500]:
        assert items(client, limit=limit).status_code == 200


def test_a_limit_that_is_no_number_is_rejected(client: Client) -> None:
    for limit in ["0", "-1", "many", "1.5", "", "unlimited"]:
        assert "limit: Must be a whole number" in error(items(client, limit=limit), 400)


def test_a_wrong_parameter_is_rejected_by_name(client: Client) -> None:
    for parameters, message in [
        (
            {"resultType": "hits"},
            "resultType: Unknown parameter. The parameters are: area",
        ),
        ({"f": "xml"}, "f: Must be one of: json, html."),
        ({"crs": "EPSG:4326"}, "crs: Must be one of: http://www.opengis.net/def/crs/OGC"),
        ({"cursor": "x"}, "cursor: This cursor is invalid."),
        ({"cursor": "2026-13-45T00:00:00Z~proj_01k9zq3mgse2j7tbyw5c4r8nhv"}, "cursor: This cursor"),
        ({"cursor": "0000000000~proj_01k9zq3mgse2j7tbyw5c4r8nhv"}, "cursor: This cursor"),
        ({"sortby": "name"}, "sortby: Unknown parameter."),
        ({"filter-lang": "cql-text"}, "filter-lang: Must be one of: cql2-text, cql2-json."),
    ]:
        assert message in error(items(client, **parameters), 400)


def test_all_geometries_of_projects_are_multipolygons(client: Client) -> None:
    shapes = [square(10, 50), multi_square((20, 50)), multi_square((30, 50), (31, 50)), None]
    made = [make_project(client, geometry=shape) for shape in shapes]
    shown = [feature["geometry"] for feature in found(items(client))]
    assert shown == [
        {"type": "MultiPolygon", "coordinates": [shapes[0]["coordinates"]]},
        shapes[1],
        shapes[2],
        None,
    ]
    for project, geometry in zip(made, shown, strict=True):
        one = client.get(f"/ogc/collections/projects/items/{project['id']}").json
        assert one["geometry"] == geometry


@pytest.mark.both
def test_a_boundary_that_was_written_with_spaces_is_a_multipolygon_too(client: Client) -> None:
    project = make_project(client, geometry=square(10, 50))
    with client.app.app_context(), transaction():
        row = find_locked(client.account_id, Project, project["id"])
        assert row is not None
        row.geometry = '{ "coordinates": [[[1, 2], [2, 2], [2, 3], [1, 2]]], "type": "Polygon" }'
    (feature,) = found(items(client))
    assert feature["geometry"] == {
        "type": "MultiPolygon", "coordinates": [[[[1, 2], [2, 2], [2, 3], [1, 2]]]],
    }  # fmt: skip


def test_properties_are_flat_with_the_keys_of_metadata(client: Client) -> None:
    project = make_project(client, name='Ä "quoted"', metadata={"forest": "Ü", "name": 1, "l": [1]})
    (feature,) = found(items(client))
    fields = {name: project[name] for name in project if name not in ("geometry", "metadata")}
    own = {"forest": "Ü", "metadata_name": 1, "l": "[1]"}
    assert feature == {
        "type": "Feature", "id": project["id"], "geometry": None, "properties": fields | own,
    }  # fmt: skip
    one = client.get(f"/ogc/collections/projects/items/{project['id']}").json
    assert one["properties"] == feature["properties"]


def test_assets_of_all_projects_are_one_collection(client: Client) -> None:
    projects = [make_project(client) for _ in range(2)]
    made = [
        make_asset(client, projects[0]["id"], location=point(10, 50), metadata={"serial": "W"}),
        make_asset(client, projects[1]["id"]),
    ]
    first, second = found(items(client, "assets"))
    assert (first["id"], first["geometry"]) == (made[0]["id"], point(10, 50))
    assert first["properties"]["project_id"] == projects[0]["id"]
    assert first["properties"]["serial"] == "W"
    assert second["geometry"] is None
    one = client.get(f"/ogc/collections/assets/items/{made[0]['id']}").json
    assert {name: one[name] for name in first} == first


def test_a_feature_has_links_and_the_type_of_geojson(client: Client) -> None:
    project = make_project(client)
    response = client.get(f"/ogc/collections/projects/items/{project['id']}")
    assert response.content_type == "application/geo+json"
    assert response.headers["Content-Crs"] == f"<{CRS84}>"
    for rel in ("self", "collection"):
        href = link(response.json, rel)
        assert href is not None
        assert client.get(local(href)).status_code == 200


@pytest.mark.both
def test_a_page_of_large_boundaries_is_cut_and_goes_on(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As many as fit into the bytes of a page; the first in any case."""
    made = [
        make_project(client, name=f"P{n}", geometry=square(10 + n, 50))["name"] for n in range(5)
    ]
    size = len(
        '{"type":"Polygon","coordinates":[[[10,50],[10.1,50],[10.1,50.1],[10,50.1],[10,50]]]}'
    )
    monkeypatch.setattr(selecting, "EXPENSIVE_PAGE_BYTES", 10)
    monkeypatch.setattr("app.ogc.feature_collections.LIST_BYTES", 2 * size + 20)
    pages = every_page(client, "/ogc/collections/projects/items?limit=4")
    assert len(pages) >= 3
    assert [name for page in pages for name in page] == made
    monkeypatch.setattr("app.ogc.feature_collections.LIST_BYTES", 1)
    pages = every_page(client, "/ogc/collections/projects/items?limit=4&status=active")
    assert pages == [[name] for name in made]
