"""The resources as pages for people, in the frame of all other pages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from flask import Response, request

from app.api.expensive import answer_in_turn
from app.auth.principal import Principal
from app.http.urls import OGC, absolute_url
from app.ogc.collections import COLLECTIONS, Collection
from app.ogc.items import select_features
from app.ogc.parameters import Query
from app.ogc.responses import next_url, other_format
from app.policy.ogc import HTML_BYTES, HTML_LIMIT
from app.site.pages import page
from app.site.svg_map import Outline, draw_svg_map
from app.values.records import row_reader

_COLUMNS: Final = {  # the columns after the name, with their headings
    "type": "Type", "status": "Status", "area_hectares": "Hectares", "updated_at": "Last change",
}  # fmt: skip
_NO_FILTERS: Final = frozenset({"f", "limit", "crs"})


def landing_page(principal: Principal, document: Mapping[str, Any]) -> Response:
    """The landing page, with how to connect."""
    collections = [collection for collection in COLLECTIONS if principal.may(collection.read)]
    url = absolute_url(OGC)
    title = principal.account_name
    return _ogc_page("ogc_landing.html", title, document=document, url=url, collections=collections)


def collections_page(document: Mapping[str, Any]) -> Response:
    """The collections, or one of them."""
    collections = document.get("collections", [document])
    title = document.get("title", "Collections")
    return _ogc_page("ogc_collections.html", title, collections=collections)


def table_page(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> Response:
    """A document that is a table."""
    return _ogc_page("ogc_table.html", title, head=head, rows=rows)


def properties_page(document: Mapping[str, Any], about: str) -> Response:
    """A schema, or what can be filtered by."""
    rows = [
        (name, _property_type(described), described.get("description", ""))
        for name, described in document["properties"].items()
    ]
    return table_page(f"{document['title']}: {about}", ("Property", "Type", "Description"), rows)


def operations_page(document: Mapping[str, Any]) -> Response:
    """The operations of the API."""
    rows = [
        (method.upper(), f"{OGC}{path}", operation["summary"])
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
        if method != "parameters"
    ]
    return table_page("API", ("Method", "Path", "Description"), rows)


def features_page(principal: Principal, collection: Collection, query: Query) -> Response:
    """A page of features, with a map. Raises as ``app.ogc.items.select_features``."""
    answer_in_turn()  # drawing large boundaries takes half a second
    limit = min(query.limit or HTML_LIMIT, HTML_LIMIT)
    selected = select_features(principal, collection, query, limit=limit, most_bytes=HTML_BYTES)
    rows = list(_feature_properties(collection, selected.rows))
    cursor = selected.next()
    fields = {field.name for field in collection.type.property_fields}
    return _ogc_page(
        "ogc_items.html",
        collection.title,
        collection=collection,
        columns={name: text for name, text in _COLUMNS.items() if name in fields},
        kinds=_property_kinds(collection),
        records=[record for record, _ in rows],
        matched=selected.matched,
        is_filtered=bool(request.args.keys() - _NO_FILTERS),
        next=None if cursor is None else next_url(cursor),
        map=draw_svg_map(_feature_outlines(collection, rows)),
    )


def feature_page(
    collection: Collection, geojson: Mapping[str, Any], geometry: str | None
) -> Response:
    """A feature, with a map."""
    title = str(geojson["properties"]["name"])
    outlines = [] if geometry is None else [Outline(title, "", geometry)]
    return _ogc_page(
        "ogc_item.html",
        title,
        collection=collection,
        properties=geojson["properties"],
        kinds=_property_kinds(collection),
        map=draw_svg_map(outlines),
    )


def _ogc_page(template: str, title: str, **values: Any) -> Response:
    response = page(template, title=title, json_url=other_format("json"), **values)
    response.vary.add("Accept")
    return response


def _feature_properties(
    collection: Collection, rows: Any
) -> Iterator[tuple[dict[str, Any], str | None]]:
    """The properties of features, and the texts of their geometries."""
    read = row_reader(collection.type.property_fields)
    for *values, _, geometry in rows:
        yield read(*values), geometry


def _feature_outlines(
    collection: Collection, rows: list[tuple[dict[str, Any], str | None]]
) -> Iterator[Outline]:
    for record, geometry in rows:
        if geometry is not None:
            url = f"{collection.path}/items/{record['id']}?f=html"
            yield Outline(record["name"], url, geometry)


def _property_kinds(collection: Collection) -> dict[str, str]:
    """The kinds of the properties that are fields."""
    return {field.name: field.kind.name for field in collection.type.property_fields}


def _property_type(described: Mapping[str, Any]) -> str:
    return str(described.get("format") or described.get("type") or "any")
