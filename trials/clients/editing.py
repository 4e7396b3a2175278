"""The requests with which QGIS edits from version 3.32 on, one after the other.

Debian 12 has an older QGIS, which only reads; ``installed`` edits with a newer one. These are the
requests of its provider (``src/providers/wfs/oapif``): it asks what it may do, creates, patches and
deletes.
"""

from __future__ import annotations

from typing import Final

import requests

from tests.make import multi_square
from trials.clients.service import Layer

EDITED: Final = ["project.deleted", "project.updated", "project.updated", "project.created"]


def check_editing(layer: Layer) -> str:
    """An edited boundary arrives, with its event."""
    session = requests.Session()
    session.auth = ("any", layer.key)
    items = f"{layer.url}/collections/projects/items"
    assert "POST" in _allowed(session, items)
    first = session.get(f"{items}?limit=10", timeout=20).json()["features"][0]
    assert {"PUT", "PATCH", "DELETE"} <= _allowed(session, f"{items}/{first['id']}")
    body = {
        "type": "Feature",
        "geometry": multi_square((1, 1)),
        "properties": dict.fromkeys(first["properties"]) | {"name": "By QGIS", "stand": 7},
    }
    made = session.post(
        items, json=body, headers={"Content-Type": "application/geo+json"}, timeout=20
    )
    assert made.status_code == 201, made.text
    path = f"{items}/{made.headers['Location'].rpartition('/items/')[2]}"
    shape = multi_square((1, 1), (2, 2))
    assert _patch(session, path, {"geometry": shape}).json()["geometry"] == shape
    assert _patch(session, path, {"properties": {"status": "archived"}}).status_code == 200
    assert session.delete(path, timeout=20).status_code == 204
    assert newest_events(layer, 4) == EDITED
    return "the requests of an editing QGIS: a feature created, its boundary changed, deleted"


def newest_events(layer: Layer, count: int) -> list[str]:
    """The types of so many events, the newest first."""
    url = f"{layer.url.removesuffix('/ogc')}/v1/events?per_page={count}"
    bearer = {"Authorization": f"Bearer {layer.key}"}
    return [each["type"] for each in requests.get(url, headers=bearer, timeout=20).json()["data"]]


def _allowed(session: requests.Session, url: str) -> set[str]:
    response = session.options(url, timeout=20)
    return set(response.headers["Allow"].split(", "))


def _patch(session: requests.Session, url: str, body: object) -> requests.Response:
    headers = {"Content-Type": "application/merge-patch+json"}
    return session.patch(url, json=body, headers=headers, timeout=20)
