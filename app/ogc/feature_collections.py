"""Pages of features as GeoJSON FeatureCollections."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from operator import itemgetter
from typing import Any, Final

from flask import Response, request

from app.api.expensive import answer_in_turn
from app.api.openapi.geojson import GEOJSON
from app.auth.principal import Principal
from app.geometry.shapes import CRS84, Crs
from app.http.etags import entity_tag
from app.http.response_cache import cached_response
from app.http.urls import absolute_url
from app.lists.selecting import SelectedPage
from app.ogc.collections import Collection, document_links
from app.ogc.columns import Types, metadata_types
from app.ogc.features import as_features
from app.ogc.items import select_features
from app.ogc.parameters import Query
from app.ogc.responses import HTML, JSON, features_response, next_url, other_format
from app.policy.ogc import LIMIT_DEFAULT, TRANSFORMED_BYTES
from app.policy.request_limits import LIST_BYTES
from app.values import clock
from app.values.batching import batched_by_bytes
from app.values.strict_json import dumps

BLOCK: Final = 256 * 1024  # bytes of metadata and geometries that are written at a time
AT_ONCE: Final = 200  # features; each can have a long description besides


def features_page(principal: Principal, collection: Collection, query: Query) -> Response:
    """A page of features, from the cache if nothing in the collection has changed, or 304.

    Raises:
        BadRequest: the cursor is invalid, or there is too much to compare.
        ServiceUnavailable: the page is large, and too many requests are waiting.
    """
    make = partial(_read_page, principal, collection, query)
    # With a credential that is limited to some projects, it would tell of changes to others.
    if collection.version is None or principal.project_ids is not None:
        return make()
    state = collection.version(principal.account_id), absolute_url(request.full_path)
    response = cached_response(f"W/{entity_tag([repr(state).encode()])}", GEOJSON, make)
    response.vary.add("Accept")
    return response


def _read_page(principal: Principal, collection: Collection, query: Query) -> Response:
    if query.crs is not CRS84:
        answer_in_turn()  # transforming large boundaries takes half a second
    limit = query.limit or LIMIT_DEFAULT
    most = LIST_BYTES if query.crs is CRS84 else TRANSFORMED_BYTES
    page = select_features(principal, collection, query, limit=limit, most_bytes=most)
    blocks = _collection_blocks(page, collection, query.crs, metadata_types(principal, collection))
    response = features_response(blocks, query.crs, is_large=page.is_large)
    if (cursor := page.next()) is not None:
        response.headers["Link"] = f'<{next_url(cursor)}>; rel="next"; type="{GEOJSON}"'
    return response


def _collection_blocks(
    page: SelectedPage, collection: Collection, crs: Crs, types: Types
) -> Iterator[bytes]:
    """Yield a FeatureCollection in blocks, with few features in memory at a time."""
    before, returned = b'{"type":"FeatureCollection","features":[', 0
    pairs = as_features(collection, page.rows, crs, types)
    for batch in batched_by_bytes(pairs, itemgetter(1), BLOCK, AT_ONCE):
        yield before + dumps([feature for feature, _ in batch])[1:-1]
        before, returned = b",", returned + len(batch)
    if not returned:
        yield before
    members = _other_members(page, collection, returned)
    yield b"]," + dumps(members)[1:]


def _other_members(page: SelectedPage, collection: Collection, returned: int) -> dict[str, Any]:
    """The members of a FeatureCollection after its features, once all rows were read."""
    related = [
        ("self", GEOJSON, "This page", other_format("json")),
        ("alternate", HTML, "This page for people", other_format("html")),
        ("collection", JSON, collection.title, absolute_url(collection.path)),
    ]
    if (cursor := page.next()) is not None:
        related.append(("next", GEOJSON, "The next page", next_url(cursor)))
    return {
        "numberMatched": page.matched,
        "numberReturned": returned,
        "timeStamp": clock.format_time(clock.now()),
        "links": document_links(*related),
    }
