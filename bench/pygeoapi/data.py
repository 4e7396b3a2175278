"""The boundaries that projects have, where pygeoapi reads them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any
from urllib.parse import parse_qs, urlsplit

import psycopg
from shapely import from_geojson, set_srid, to_wkb

from bench.instance import boundary

# The PostgreSQL of the benches has no PostGIS. These stand for its type and for the one function
# that pygeoapi calls for a feature or a page. They convert nothing, and cost less than PostGIS.
_SCHEMA = """\
CREATE DOMAIN geometry AS bytea;
CREATE FUNCTION ST_AsEWKB(geometry) RETURNS bytea LANGUAGE sql IMMUTABLE AS 'SELECT $1::bytea';
CREATE TABLE districts (id text PRIMARY KEY, name text, description text, geom geometry)
"""


def features(ids: Sequence[str]) -> list[dict[str, Any]]:
    """What ``bench.instance`` makes projects of, as GeoJSON, under the ids of these projects."""
    return [
        {
            "type": "Feature",
            "id": each,
            "properties": {"name": f"Forest {number}", "description": "Measured"},
            "geometry": boundary(number),
        }
        for number, each in enumerate(ids)
    ]


def fill(url: str, made: Sequence[dict[str, Any]]) -> dict[str, str]:
    """Put features into a new database, and return what tells ``config.yml`` where it is."""
    with psycopg.connect(url) as connection:
        connection.execute(_SCHEMA)
        for each in made:
            shape = set_srid(from_geojson(json.dumps(each["geometry"])), 4326)
            row = (each["id"], *each["properties"].values(), to_wkb(shape, include_srid=True))
            connection.execute("INSERT INTO districts VALUES (%s, %s, %s, %s)", row)
        connection.execute("ANALYZE districts")
    parts = urlsplit(url)
    (host,) = parse_qs(parts.query)["host"]
    return {"BENCH_DATABASE_HOST": host, "BENCH_DATABASE_NAME": parts.path.strip("/")}
