"""Features in other coordinate systems, against pyproj."""

from __future__ import annotations

from typing import Any

import pytest
from pyproj import Transformer

from tests.make import Client, make_asset, make_project, point, square
from tests.ogc.reading import CRS84, EPSG_3857, EPSG_4326, found, items

RING = [[-122.5, 43.25], [-121.0, 43.0], [-121.5, 44.75], [-122.5, 43.25]]


def shown(client: Client, crs: str) -> Any:
    response = items(client, crs=crs)
    assert response.headers["Content-Crs"] == f"<{crs}>"
    (feature,) = found(response)
    one = client.get(f"/ogc/collections/projects/items/{feature['id']}?crs={crs}")
    assert one.headers["Content-Crs"] == f"<{crs}>"
    assert one.json["geometry"] == feature["geometry"]
    return feature["geometry"]["coordinates"][0][0]


def test_epsg_4326_has_the_latitude_first(client: Client) -> None:
    make_project(client, geometry={"type": "Polygon", "coordinates": [RING]})
    assert shown(client, CRS84) == RING
    assert shown(client, EPSG_4326) == [[y, x] for x, y in RING]


def test_web_mercator_agrees_with_proj(client: Client) -> None:
    make_project(client, geometry={"type": "Polygon", "coordinates": [RING]})
    transform = Transformer.from_crs("OGC:CRS84", "EPSG:3857", always_xy=True).transform
    for position, expected in zip(shown(client, EPSG_3857), RING, strict=True):
        assert position == pytest.approx(transform(*expected), abs=1e-3)


def test_heights_stay_and_the_poles_are_where_the_world_ends(client: Client) -> None:
    project = make_project(client)["id"]
    make_asset(client, project, location={"type": "Point", "coordinates": [180, 90, 12.5]})
    (feature,) = found(items(client, "assets", crs=EPSG_3857))
    x, y, height = feature["geometry"]["coordinates"]
    assert (x, y) == pytest.approx((20037508.3428, 20037508.3428), abs=1e-3)
    assert height == 12.5


def body(geometry: Any, **properties: Any) -> dict[str, Any]:
    return {"type": "Feature", "geometry": geometry, "properties": properties}


@pytest.mark.parametrize(
    ("crs", "position"), [(EPSG_4326, [50.5, 10.25]), (EPSG_3857, [1141024.7806, 6533321.5678])]
)
def test_a_feature_can_be_sent_in_another_system(
    client: Client, crs: str, position: list[float]
) -> None:
    project = make_project(client)["id"]
    response = client.post(
        "/ogc/collections/assets/items",
        body({"type": "Point", "coordinates": position}, name="A", type="post", project_id=project),
        headers={"Content-Crs": f"<{crs}>", "Content-Type": "application/geo+json"},
    )
    assert response.status_code == 201
    assert response.json["geometry"]["coordinates"] == pytest.approx(position, abs=1e-3)
    (feature,) = found(items(client, "assets"))
    assert feature["geometry"]["coordinates"] == pytest.approx([10.25, 50.5], abs=1e-6)


def test_a_boundary_that_went_to_and_fro_has_not_changed(client: Client) -> None:
    project = make_project(client, geometry=square(10.1234567, 50.7654321, 0.3))
    path = f"/ogc/collections/projects/items/{project['id']}"
    for crs in (CRS84, EPSG_4326, EPSG_3857):
        feature = client.get(f"{path}?crs={crs}").json
        response = client.put(path, feature, headers={"Content-Crs": f"<{crs}>"})
        assert response.status_code == 200
        assert response.json["properties"]["updated_at"] == project["updated_at"]
    assert client.get(f"/v1/projects/{project['id']}").json["data"] == project


def test_an_unknown_system_is_rejected(client: Client) -> None:
    response = client.post(
        "/ogc/collections/projects/items",
        body(None, name="A"),
        headers={"Content-Crs": "<http://www.opengis.net/def/crs/EPSG/0/25832>"},
    )
    assert response.status_code == 400
    assert response.json["error"]["details"][0]["field"] == "Content-Crs"


def test_what_is_no_boundary_is_invalid_in_any_system(client: Client) -> None:
    for geometry in [
        {"type": "Polygon", "coordinates": []},
        {"type": "Polygon", "coordinates": [[["a", 1], [2, 3]]]},
        {"type": "Polygon"},
        {"type": "Polygon", "coordinates": [[[True, 1], [2, 1], [2, 3], [True, 1]]]},
        {"type": "Polygon", "coordinates": [[["1", 1], [2, 1], [2, 3], ["1", 1]]]},
        {"type": "MultiPolygon", "coordinates": [5]},
        "POLYGON",
        point(),
    ]:
        for crs in [EPSG_4326, EPSG_3857]:
            response = client.post(
                "/ogc/collections/projects/items",
                body(geometry, name="A"),
                headers={"Content-Crs": crs},
            )
            assert response.status_code == 422
            assert response.json["error"]["details"][0]["field"].startswith("geometry")
