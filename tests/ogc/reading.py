"""Requests to /ogc in tests."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode, urlsplit

from werkzeug.test import TestResponse

from tests.make import Client

CRS84 = "http://www.opengis.net/def/crs/OGC/1.3/CRS84"
EPSG_4326 = "http://www.opengis.net/def/crs/EPSG/0/4326"
EPSG_3857 = "http://www.opengis.net/def/crs/EPSG/0/3857"


def items(client: Client, collection: str = "projects", /, **parameters: Any) -> TestResponse:
    """A page of features. An underscore in the name of a parameter stands for a hyphen if it has
    one: ``bbox_crs``, ``filter_lang``, ``filter_crs``."""
    hyphened = ("bbox_crs", "filter_lang", "filter_crs")
    query = urlencode(
        {
            name.replace("_", "-") if name in hyphened else name: value
            for name, value in parameters.items()
        }
    )
    return client.get(f"/ogc/collections/{collection}/items?{query}")


def found(response: TestResponse) -> list[Any]:
    """The features of a page, which must be one."""
    assert response.status_code == 200, response.get_data(as_text=True)
    assert response.json["numberReturned"] == len(response.json["features"])
    features: list[Any] = response.json["features"]
    return features


def names(client: Client, collection: str = "projects", /, **parameters: Any) -> list[str]:
    """The names of the features of a page, sorted."""
    features = found(items(client, collection, **parameters))
    return sorted(feature["properties"]["name"] for feature in features)


def link(document: Any, rel: str) -> str | None:
    """The path and the query of the one link of this relation that is not for people, or None."""
    hrefs = [
        each["href"]
        for each in document["links"]
        if each["rel"] == rel and each["type"] != "text/html"
    ]
    assert len(hrefs) < 2
    return hrefs[0] if hrefs else None


def local(url: str) -> str:
    """The path and the query of a URL of the application."""
    parts = urlsplit(url)
    assert (parts.scheme, parts.netloc) == ("http", "localhost")
    return f"{parts.path}?{parts.query}" if parts.query else parts.path


def error(response: TestResponse, status: int) -> str:
    """What is said in an error, which must have this status."""
    assert response.status_code == status, response.get_data(as_text=True)
    details = "; ".join(
        f"{each['field']}: {each['message']}" for each in response.json["error"]["details"]
    )
    return f"{response.json['error']['message']} {details}"
