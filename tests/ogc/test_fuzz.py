"""Any query and any body is answered, and never with an error of ours."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.make import Client, make_account, make_asset, make_project, multi_square, point, square
from tests.ogc.reading import EPSG_3857, EPSG_4326, items

_numbers = st.sampled_from(["0", "-180", "180", "90.5", "1e308", "-0", "x", "", "200", "1e-320"])
_words = st.sampled_from(
    ["name", "status", "area_hectares", "updated_at", "geometry", "'a'", "5", "1e400", "NULL", "=",
     "<", ">=", " AND ", " OR ", "NOT ", " LIKE '%a_'", " IN ('a','b')", " IS NULL", " BETWEEN ",
     "(", ")", "S_INTERSECTS(geometry,", "BBOX(1,2,3,4)", "POINT(1 2)", "LINESTRING(0 0,1 1)",
     "TRUE", "TIMESTAMP('2026-01-02T03:04:05Z')", "POLYGON((0 0,9 0,9 9,0 0))", "\\", "'", '"']
)  # fmt: skip
_texts = st.text(max_size=20)
_queries = st.fixed_dictionaries(
    {},
    optional={
        "bbox": st.lists(_numbers, min_size=3, max_size=6).map(",".join) | _texts,
        "bbox_crs": st.sampled_from([EPSG_4326, EPSG_3857, "x"]),
        "datetime": st.sampled_from(
            ["0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59",
             "../2026-01-02T03:04:05Z", "/"]
        )
        | _texts,
        "filter": st.lists(_words, max_size=12).map("".join) | _texts,
        "filter_lang": st.sampled_from(["cql2-text", "cql2-json"]),
        "limit": st.sampled_from(["1", "2", "10000", "0", "x"]),
        "cursor": st.sampled_from(
            ["2026-01-02T03:04:05.678Z~proj_01k9zq3mgse2j7tbyw5c4r8nhd",
             "0001-01-01 00:00:00~proj_01k9zq3mgse2j7tbyw5c4r8nhd",
             "9999-12-31T23:59:59+00:00~asset_01k9zq3mgse2j7tbyw5c4r8nhd"]
        )
        | _texts,
        "crs": st.sampled_from([EPSG_4326, EPSG_3857]),
        "name": _texts,
        "area_hectares": _numbers,
        "f": st.sampled_from(["json", "html"]),
    },
)  # fmt: skip
_values = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False, allow_infinity=False) | _texts,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["type", "coordinates", "a", "name"]), inner, max_size=4)
    ),
    max_leaves=12,
)
_bodies = st.fixed_dictionaries(
    {"type": st.sampled_from(["Feature", "Point", None])},
    optional={
        "geometry": st.sampled_from([None, square(), point(), multi_square((1, 1))]) | _values,
        "properties": st.dictionaries(
            st.sampled_from(["id", "name", "status", "slug", "metadata", "metadata_name", "x", ""]),
            _values,
            max_size=5,
        )
        | _values,
    },
)
_fuzz = settings(max_examples=40, suppress_health_check=list(HealthCheck), deadline=None)


@pytest.fixture(scope="module")
def account(app: Flask) -> Client:
    made = make_account(app)
    project = make_project(made, name="Fuzz", geometry=square(), metadata={"a": 1})
    make_asset(made, project["id"], location=point())
    return made


@pytest.mark.slow
@pytest.mark.both
@_fuzz
@given(query=_queries)
def test_any_query_is_answered(account: Client, query: dict[str, Any]) -> None:
    for collection in ("projects", "assets"):
        assert items(account, collection, **query).status_code in (200, 400)


@pytest.mark.slow
@_fuzz
@given(body=_bodies, crs=st.sampled_from([None, EPSG_4326, EPSG_3857]))
def test_any_body_is_answered(account: Client, body: Any, crs: str | None) -> None:
    headers = {} if crs is None else {"Content-Crs": crs}
    path = "/ogc/collections/projects/items"
    made = account.post(path, body, headers=headers)
    assert made.status_code in (201, 400, 409, 422)
    if made.status_code == 201:
        one = f"{path}/{made.json['id']}"
        for method in ("PUT", "PATCH"):
            response = account.send(method, one, json=body, headers=headers)
            assert response.status_code in (200, 400, 409, 422)
        account.send("PATCH", one, json={"properties": {"status": "archived"}})
        assert account.delete(one).status_code == 204
