"""The fields of projects and assets, one entry each.

Everything else that the service knows of a field follows from its entry:

- the columns that are read, the record, and what ``changes`` lists: ``app.values.records``
- the schemas of /v1, the description of the API, the chat's arguments: ``app.api.resource_fields``
- the filters of a list: ``app.lists``
- the data of events and its JSON Schema: ``app.policy.events``, ``app.events.records``
- what an import reads from the properties of a feature: ``app.imports.features.mapping``
- which rows written with SQL are valid: ``app.database_webhook``
- the rows that the benchmarks write: ``bench.filling``

A new field is an entry here, a column in ``app.models`` and a migration.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal

from app.policy import bounds

Kind = Literal[
    "id",  # of this or of another resource
    "text",
    "choice",  # one of a few words
    "keyword",  # one word of an open vocabulary
    "hectares",  # stored as whole square meters
    "time",
    "boundary",  # a GeoJSON Polygon or MultiPolygon
    "point",  # a GeoJSON Point
    "object",  # JSON of the client's own
]


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a resource.

    ``writable`` says when a client can set it, and ``required`` that a new resource must have it.
    ``properties`` are names of GeoJSON properties, in lower case, that an import reads it from.
    """

    name: str
    kind: Kind
    example: Any = None
    column: str = ""  # the attribute of the model; empty: named like the field
    description: str = ""
    nullable: bool = False
    writable: Literal["never", "on update", "always"] = "never"
    required: bool = False
    shortest: int = 0  # characters of a text
    longest: int = 0
    choices: tuple[str, ...] = ()
    title: str = ""  # of a choice: what the description of the API calls its words
    filter: bool = False  # whether a list can be filtered by one value of it
    unique: bool = False  # within the account
    in_events: bool = True
    properties: tuple[str, ...] = ()

    @property
    def stored_as(self) -> str:
        return self.column or self.name


def _any_of(words: tuple[str, ...]) -> str:
    return f"Any word of lower-case letters, digits, `_` and `-`, such as {', '.join(words)}."


_CREATED_AT: Final = Field("created_at", "time", "2026-01-02T03:04:05.678Z")
_UPDATED_AT: Final = Field("updated_at", "time", "2026-01-03T10:20:30.456Z")
_NAME_BOUNDS: Final[dict[str, Any]] = {"shortest": 1, "longest": bounds.NAME_LENGTH}
_PROJECT_ID: Final = "proj_01k9zq3mgse2j7tbyw5c4r8nhd"

PROJECT: Final = (
    Field("id", "id", _PROJECT_ID),
    Field(
        "name", "text", "Cottage Grove District",
        writable="always", required=True, **_NAME_BOUNDS,
    ),
    Field(
        "slug", "text", "cottage-grove-district",
        description="Derived from the project's original name; never changes.",
        shortest=1, longest=bounds.SLUG_LENGTH, filter=True, unique=True,
    ),
    Field(
        "external_id", "text", "USFS-061501",
        description="Your own id for the project, unique within the account.",
        nullable=True, writable="always", shortest=1, longest=bounds.EXTERNAL_ID_LENGTH,
        filter=True, unique=True, properties=("external_id", "externalid"),
    ),
    Field(
        "description", "text", "Umpqua National Forest",
        nullable=True, writable="always", longest=bounds.DESCRIPTION_LENGTH,
        properties=("description",),
    ),
    Field("geometry", "boundary", nullable=True, writable="always", in_events=False),
    Field(
        "area_hectares", "hectares", 35692.7657,
        column="area_m2", description="Geodesic area on the WGS84 ellipsoid.", nullable=True,
    ),
    Field(
        "status", "choice", "active",
        writable="on update", choices=bounds.PROJECT_STATUSES, title="ProjectStatus", filter=True,
    ),
    Field(
        "metadata", "object", {"forest": "Umpqua National Forest", "region": 6},
        column="metadata_json", description="A JSON object of your own.",
        nullable=True, writable="always",
    ),
    _CREATED_AT,
    _UPDATED_AT,
)  # fmt: skip

ASSET: Final = (
    Field("id", "id", "asset_01k9zq7c4d8r0v3nwk5t2m6xbe"),
    Field("project_id", "id", _PROJECT_ID),
    Field("name", "text", "Weather station 4", writable="always", required=True, **_NAME_BOUNDS),
    Field(
        "type", "keyword", "monitoring_station",
        description=_any_of(bounds.ASSET_TYPES),
        writable="always", required=True, choices=bounds.ASSET_TYPES, filter=True,
    ),
    Field(
        "location", "point", {"type": "Point", "coordinates": [-122.6512, 43.6638]},
        nullable=True, writable="always",
    ),
    Field(
        "status", "keyword", "active",
        description=_any_of(bounds.ASSET_STATUSES),
        writable="always", choices=bounds.ASSET_STATUSES, filter=True,
    ),
    Field(
        "metadata", "object", {"serial": "WX-2041", "sensors": ["wind", "humidity"]},
        column="metadata_json", nullable=True, writable="always",
    ),
    _CREATED_AT,
    _UPDATED_AT,
)  # fmt: skip
