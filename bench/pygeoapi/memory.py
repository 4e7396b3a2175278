"""A provider of pygeoapi that costs next to nothing: it finds features in a dictionary.

It answers only what is measured. What a request then takes is pygeoapi's own, with any provider.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from pygeoapi.provider.base import BaseProvider

Feature = dict[str, Any]


@cache
def _features(path: str) -> dict[str, Feature]:
    """The features of a GeoJSON file by their ids, read once in each process."""
    return {each["id"]: each for each in json.loads(Path(path).read_text())["features"]}


class MemoryProvider(BaseProvider):
    """pygeoapi makes one for each request."""

    def __init__(self, provider_def: dict[str, Any]) -> None:
        super().__init__(provider_def)
        self._held = _features(self.data)
        self._fields = {"name": {"type": "string"}, "description": {"type": "string"}}

    def get(self, identifier: str, **_: Any) -> Feature:
        return dict(self._held[identifier])  # pygeoapi adds links

    def query(self, offset: int = 0, limit: int = 10, **_: Any) -> dict[str, Any]:
        features = list(self._held.values())[offset : offset + limit]
        return {
            "type": "FeatureCollection",
            "features": features,
            "numberMatched": len(self._held),
            "numberReturned": len(features),
        }
