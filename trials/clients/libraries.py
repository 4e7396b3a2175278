"""Programs from PyPI: GDAL in pyogrio, and OWSLib. Each function returns what it saw."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import numpy as np
import pyogrio
from owslib.ogcapi.features import Features
from pyogrio import raw

from tests.make import multi_square, square
from trials.clients.service import BOX, Layer

TYPES: Final = {
    "id": "object", "name": "object", "slug": "object", "external_id": "object",
    "description": "object", "area_hectares": "float64", "country": "object", "status": "object",
    "created_at": "datetime64[ms]", "updated_at": "datetime64[ms]", "forest": "object",
    "stand": "int32", "height": "float64", "mixed": "object", "species": "object",
}  # fmt: skip

MIXED_TEXTS: Final = ['{"b":1}', "x", "3"]


@contextmanager
def gdal(**options: str | None) -> Iterator[None]:
    """Configure GDAL as its environment variables do."""
    pyogrio.set_gdal_config_options(options)
    try:
        yield
    finally:
        pyogrio.set_gdal_config_options(dict.fromkeys(options))


def read(layer: Layer, name: str = "projects", query: str = "", **options: Any) -> Any:
    """The metadata and the columns of a layer, by their names."""
    meta, _, geometry, columns = raw.read(f"OAPIF:{layer.url}{query}", layer=name, **options)
    return meta, geometry, dict(zip(meta["fields"], columns, strict=True))


def check_gdal(layer: Layer) -> str:
    """GDAL reads the whole layer with the right types, and parts of it."""
    before = len(layer.requests())
    with gdal(GDAL_HTTP_AUTH="BASIC", GDAL_HTTP_USERPWD=f"any:{layer.key}"):
        meta, geometry, columns = read(layer)
        requests = len(layer.requests()) - before
        assert len(geometry) == len(set(columns["id"])) == layer.count
        assert meta["geometry_type"] == "MultiPolygon"
        types = {name: str(values.dtype) for name, values in columns.items()}
        assert types == TYPES, types
        assert abs(np.nansum(columns["area_hectares"]) - layer.hectares) < 1e-6
        assert len(read(layer, bbox=BOX)[1]) == layer.in_box
        assert len(read(layer, where="name = 'Stand 00042'")[1]) == 1
        assert len(read(layer, where="status = 'active'")[1]) == layer.count
        assert len(read(layer, where="status = 'active' AND stand < 10")[1]) == 10
        assert len(read(layer, where=f"id = '{columns['id'][3]}'")[1]) == 1
        assert len(read(layer, where="updated_at < '2001/01/01 00:00:00'")[1]) == 0
        assert len(read(layer, where="updated_at > '2001-01-01'")[1]) == layer.count
        species = [each for each in columns["species"] if each is not None]
        assert species == ["oak"], "one key of one record far behind the first page"
        assert list(read(layer, where="species = 'oak'")[2]["stand"]) == [layer.rare]
        assert [columns["mixed"][number] for number in range(3)] == MIXED_TEXTS
        assert _is_refused(layer, "bees = 1"), "an unknown column"
        assert read(layer, "assets")[0]["geometry_type"] == "Point"
        assert len(read(layer, "assets")[1]) == -(-layer.count // 10)
    return (
        f"GDAL {pyogrio.__gdal_version_string__}: {layer.count:,} features in {requests} requests"
    )


def _is_refused(layer: Layer, where: str) -> bool:
    try:
        read(layer, where=where)
    except ValueError:
        return True
    return False


def check_gdal_credentials(layer: Layer) -> str:
    """GDAL with the key in the address, as a header from a file, and as a bearer token."""
    assert len(read(layer, query=f"?key={layer.reader.token}")[1]) == layer.count
    with gdal(GDAL_HTTP_AUTH="BEARER", GDAL_HTTP_BEARER=layer.key):
        assert len(read(layer, max_features=5)[1]) == 5
    with gdal(GDAL_HTTP_AUTH="BASIC", GDAL_HTTP_USERPWD=f"{layer.key}:"):
        assert len(read(layer, max_features=5)[1]) == 5
    headers = layer.folder / "headers.txt"
    headers.write_text(f"X-Api-Key: {layer.key}\n")
    with gdal(GDAL_HTTP_HEADER_FILE=str(headers)):
        assert len(read(layer, max_features=5)[1]) == 5
    assert layer.key not in layer.log()
    assert str(layer.reader.token) not in layer.log()
    return (
        "the key in the address, in a header, as a user name and as a bearer token; it is in no "
        "line of the log"
    )


def check_owslib(layer: Layer) -> str:
    """OWSLib reads the documents, follows filters, and edits."""
    client = Features(layer.url, headers={"X-Api-Key": layer.key})
    assert client.feature_collections() == ["projects", "assets"]
    assert client.api()["openapi"] == "3.0.3"
    assert "area_hectares" in client.collection_queryables("projects")["properties"]
    assert client.collection_schema("projects")["properties"]["stand"]["type"] == "integer"
    page = client.collection_items("projects", bbox=list(BOX), limit=10)
    assert page["numberMatched"] == layer.in_box
    page = client.collection_items("projects", filter="name = 'Stand 00042'")
    assert [each["properties"]["stand"] for each in page["features"]] == [42]
    shape = multi_square((0, 0))
    body = {"type": "Feature", "geometry": shape, "properties": {"name": "By OWSLib", "stand": 1}}
    assert client.collection_item_create("projects", body)
    (made,) = client.collection_items("projects", name="By OWSLib")["features"]
    assert made["geometry"] == shape
    made["geometry"], made["properties"]["status"] = square(0, 0, 0.2), "archived"
    untyped = Features(layer.url, headers={"X-Api-Key": layer.key})  # sends texts without a type
    assert untyped.collection_item_update("projects", made["id"], json.dumps(made))
    (now,) = client.collection_items("projects", name="By OWSLib")["features"]
    assert now["properties"]["area_hectares"] > made["properties"]["area_hectares"]
    client.collection_item_delete("projects", made["id"])
    assert client.collection_items("projects")["numberMatched"] == layer.count
    return "OWSLib: documents, filters, and a feature created, replaced and deleted"
