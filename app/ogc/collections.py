"""The collections."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from app.assets import listing as assets
from app.formats.writers.features import ASSETS, PROJECTS, FeatureType
from app.http.urls import OGC
from app.lists.conditions import filterable_properties
from app.lists.cql.nodes import ValueKind
from app.lists.query import FeatureSource
from app.projects import listing as projects
from app.projects.lookup import version_of_projects


@dataclass(frozen=True, eq=False)
class Collection:
    """A collection of features.

    Args:
        geometry: the GeoJSON type of all its geometries.
        word: the name of a feature in messages.
        example: an example of a filter, for the description.
        version: returns a value that changes with each change in an account; None without one.
    """

    title: str
    description: str
    type: FeatureType
    source: FeatureSource
    geometry: str
    word: str
    example: str
    version: Callable[[str], object] | None = None

    @property
    def id(self) -> str:
        return self.type.name

    @property
    def path(self) -> str:
        return f"{OGC}/collections/{self.id}"

    @property
    def read(self) -> str:
        """The permission to read features."""
        return f"{self.id}:read"

    @property
    def write(self) -> str:
        """The permission to change them."""
        return f"{self.id}:write"

    @cached_property
    def queryables(self) -> dict[str, ValueKind]:
        """The properties that can be filtered by."""
        return filterable_properties(self.type.fields)

    @cached_property
    def parameters(self) -> dict[str, ValueKind]:
        """The properties with a query parameter of their name: all but the geometry."""
        return {name: kind for name, kind in self.queryables.items() if kind != "geometry"}


COLLECTIONS: Final = (
    Collection(
        "Projects",
        "Forest areas with their boundaries. Archived ones are included.",
        PROJECTS,
        projects.FEATURES,
        "MultiPolygon",
        "project",
        "status = 'active' AND area_hectares > 100",
        version_of_projects,
    ),
    Collection(
        "Assets",
        "Equipment, stations and points of interest in all projects.",
        ASSETS,
        assets.FEATURES,
        "Point",
        "asset",
        "type = 'equipment' AND status <> 'retired'",
    ),
)


def document_links(*rows: tuple[str, str, str, str]) -> list[dict[str, Any]]:
    """Links of a document, from their relations, media types, titles and URLs."""
    return [
        {"rel": rel, "type": kind, "title": title, "href": href} for rel, kind, title, href in rows
    ]
