"""A box that holds all projects or assets finds what has a place, whichever way it is read."""

from __future__ import annotations

from typing import Any

import pytest

from app.assets.listing import table_of
from app.geometry import Bounds
from app.lists import extents
from app.projects import listing
from app.projects.listing import TABLE
from tests.make import Client, make_asset, make_project, point, square

pytestmark = pytest.mark.both

EXTENT = (10.0, 50.0, 12.1, 51.1)  # of ``place``


@pytest.fixture(autouse=True)
def _few_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listing, "MANY", 0)


@pytest.fixture
def place(client: Client, stranger: Client) -> list[str]:
    """The ids of three projects with a boundary; there is one without, and one of a stranger."""
    make_project(client)
    make_project(stranger, geometry=square(west=-80.0))
    corners = ((10.0, 50.0), (11.0, 50.5), (12.0, 51.0))
    return [make_project(client, geometry=square(*corner))["id"] for corner in corners]


def holds_all(client: Client, *box: float) -> bool:
    with client.app.app_context():
        return extents.holds_all(TABLE, client.account_id, Bounds(*box))


def found(client: Client, path: str, *box: float, more: str = "") -> tuple[list[str], int]:
    """The ids of a page, sorted, and the number of all."""
    body: Any = client.get(f"{path}?bbox={','.join(map(str, box))}{more}").json
    records = body["features"] if "features" in body else body["data"]
    total = body["numberMatched"] if "features" in body else body["meta"]["total"]
    return sorted(record["id"] for record in records), total


@pytest.mark.usefixtures("place")
def test_what_lies_beside_a_box_is_found(client: Client) -> None:
    for box, holds in [
        ((9.0, 49.0, 13.0, 52.0), True),
        ((-180.0, -90.0, 180.0, 90.0), True),
        ((-180.0, 49.0, 180.0, 52.0), True),
        ((-180.0, 50.05, 180.0, 52.0), False),
        ((10.5, 49.0, 13.0, 52.0), False),
        ((9.0, 50.05, 13.0, 52.0), False),
        ((9.0, 49.0, 12.05, 52.0), False),
        ((9.0, 49.0, 13.0, 51.05), False),
    ]:
        assert holds_all(client, *box) is holds


def test_a_box_around_all_finds_what_has_a_boundary(client: Client, place: list[str]) -> None:
    for path in ["/v1/projects", "/ogc/collections/projects/items"]:
        for box in [
        (-180, -90, 180, 90), (9, 49, 13, 52), EXTENT, (10.1, 50.0, 12.1, 51.1),
        (9, 49, 13, 51.0), (-180, 50, 180, 51.1),
    ]:  # fmt: skip
            assert found(client, path, *box) == (sorted(place), 3)


def test_filters_still_hold(client: Client, place: list[str]) -> None:
    client.post(f"/v1/projects/{place[0]}/archive")
    client.put(f"/v1/projects/{place[1]}", json={"name": "Meadow"})
    box = (9, 49, 13, 52)
    path = "/v1/projects"
    assert found(client, path, *box, more="&status=active") == (sorted(place[1:]), 2)
    assert found(client, path, *box, more="&search=meadow") == ([place[1]], 1)
    assert found(client, path, *box, more="&search=me") == ([place[1]], 1)
    assert found(client, path, 10.5, 49, 13, 52, more="&status=active") == (sorted(place[1:]), 2)
    since = "&updated_since=2020-01-01T00:00:00Z"
    assert found(client, path, *box, more=since) == (sorted(place), 3)


def test_a_box_holds_all_until_something_lies_beside_it(client: Client, place: list[str]) -> None:
    box = (9.0, 49.0, 13.0, 52.0)
    beside = make_project(client, geometry=square(west=20.0))["id"]
    assert not holds_all(client, *box)
    assert found(client, "/v1/projects", *box) == (sorted(place), 3)
    client.post(f"/v1/projects/{beside}/archive")
    client.delete(f"/v1/projects/{beside}")
    assert holds_all(client, *box)
    client.put(f"/v1/projects/{place[0]}", json={"geometry": square(west=-20.0)})
    assert not holds_all(client, *box)
    assert found(client, "/v1/projects", *box) == (sorted(place[1:]), 2)


def test_across_the_antimeridian(client: Client) -> None:
    """Such a boundary ends at more than 180 degrees, and a box may hold it a turn away."""
    made = [make_project(client, geometry=square(west=west))["id"] for west in (179.5, -179.8)]
    for box in ((179, 49, -179, 52), (-180, 49, 180, 52), (-180, -90, 180, 90)):
        assert found(client, "/v1/projects", *box) == (sorted(made), 2)


def test_assets_of_a_project_and_of_the_account(client: Client) -> None:
    near, far = (make_project(client)["id"] for _ in range(2))
    made = [make_asset(client, near, location=point(x, x))["id"] for x in (1.0, 2.0)]
    make_asset(client, near)
    beside = make_asset(client, far, location=point(50.0, 50.0))["id"]
    box = Bounds(0.0, 0.0, 3.0, 3.0)
    with client.app.app_context():
        assert extents.holds_all(table_of(near), client.account_id, box, near)
        assert not extents.holds_all(table_of(None), client.account_id, box)
    assert found(client, f"/v1/projects/{near}/assets", *box) == (sorted(made), 2)
    for path in ("/v1/assets", "/ogc/collections/assets/items"):
        assert found(client, path, *box) == (sorted(made), 2)
        assert found(client, path, 0, 0, 60, 60) == (sorted([*made, beside]), 3)


def test_what_is_written_beside_the_box_meanwhile_is_not_shown(
    client: Client, place: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    make_project(client, geometry=square(west=20.0))
    monkeypatch.setattr(listing, "holds_all", lambda *_: True)
    for size in (10**9, 0):  # the bytes of an account with pages that may be large
        monkeypatch.setattr(listing, "EXPENSIVE_PAGE_BYTES", size)
        for more in ("", "&sort=name", "&search=forest", "&status=active"):
            ids, _ = found(client, "/v1/projects", 9.0, 49.0, 13.0, 52.0, more=more)
            assert ids == sorted(place)
