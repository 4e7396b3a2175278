"""/ogc."""

from __future__ import annotations

from functools import partial, update_wrapper

from flask import Blueprint, Response

from app.auth.guard import ANY_CREDENTIAL
from app.auth.principal import Principal
from app.http.urls import OGC, absolute_url
from app.ogc import documents, pages, properties, views
from app.ogc.api_document import api_document
from app.ogc.collections import COLLECTIONS, Collection
from app.ogc.operations import View, needs_permission
from app.ogc.parameters import FormatSchema, read_query
from app.ogc.responses import document_response, wants_html
from app.site.pages import instance

bp = Blueprint("ogc", __name__, url_prefix=OGC, template_folder="templates")


@bp.get("")
@needs_permission(ANY_CREDENTIAL)
def landing(principal: Principal) -> Response:
    """The landing page of OGC API Features."""
    read_query(FormatSchema)
    document = documents.landing_document(principal.account_name, instance().name)
    return pages.landing_page(principal, document) if wants_html() else document_response(document)


@bp.get("/conformance")
def conformance() -> Response:
    """The conformance classes, without a credential: QGIS does not send the key of the URL."""
    read_query(FormatSchema)
    document = documents.conformance_document()
    if wants_html():
        rows = [(name,) for name in document["conformsTo"]]
        return pages.table_page("Conformance", ("Class",), rows)
    return document_response(document)


@bp.get("/api")
@needs_permission(ANY_CREDENTIAL)
def api(principal: Principal) -> Response:
    """The OpenAPI document."""
    read_query(FormatSchema)
    site = instance()
    contact = {"name": "Whoever runs this instance", "url": absolute_url("/docs")}
    contact |= {"email": site.support_email} if site.support_email else {}
    document = api_document(principal, site.name, contact)
    return (
        pages.operations_page(document)
        if wants_html()
        else document_response(document, documents.OPENAPI)
    )


@bp.get("/collections")
@needs_permission(ANY_CREDENTIAL)
def collections(principal: Principal) -> Response:
    """The collections."""
    read_query(FormatSchema)
    document = documents.collections_document(principal)
    return pages.collections_page(document) if wants_html() else document_response(document)


def describe_collection(principal: Principal, collection: Collection) -> Response:
    """A collection."""
    read_query(FormatSchema)
    document = documents.collection_document(principal, collection)
    return pages.collections_page(document) if wants_html() else document_response(document)


def schema(principal: Principal, collection: Collection) -> Response:
    """The JSON Schema of a collection's features."""
    read_query(FormatSchema)
    document = properties.properties_schema(principal, collection)
    if wants_html():
        return pages.properties_page(document, "properties")
    return document_response(document, properties.SCHEMA)


def queryables(collection: Collection) -> Response:
    """The queryables of a collection, without a credential: QGIS does not send the key."""
    read_query(FormatSchema)
    document = properties.queryables_schema(collection)
    if wants_html():
        return pages.properties_page(document, "filterable properties")
    return document_response(document, properties.SCHEMA)


def _add(collection: Collection, rule: str, needs: str | None, view: View) -> None:
    """Add an operation on a collection.

    Args:
        rule: the methods, and the path below the collection.
        needs: a permission; None: no credential.
    """
    methods, slash, path = rule.partition("/")
    bound = update_wrapper(partial(view, collection=collection), view)
    endpoint = bound if needs is None else needs_permission(needs)(bound)
    name = f"{collection.id}_{view.__name__}"
    address = f"/collections/{collection.id}{slash}{path}"
    bp.add_url_rule(address, name, endpoint, methods=methods.split())


for _collection in COLLECTIONS:
    _add(_collection, "GET", _collection.read, describe_collection)
    _add(_collection, "GET /schema", _collection.read, schema)
    _add(_collection, "GET /queryables", None, queryables)
    _add(_collection, "GET /items", _collection.read, views.read_features)
    _add(_collection, "POST /items", _collection.write, views.create_feature)
    _add(_collection, "OPTIONS /items", _collection.read, views.methods_of_collection)
    _add(_collection, "GET /items/<feature_id>", _collection.read, views.read_feature)
    _add(_collection, "PUT PATCH /items/<feature_id>", _collection.write, views.change_feature)
    _add(_collection, "DELETE /items/<feature_id>", _collection.write, views.delete_feature)
    _add(_collection, "OPTIONS /items/<feature_id>", _collection.read, views.methods_of_feature)
