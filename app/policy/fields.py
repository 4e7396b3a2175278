"""The fields of projects and assets, one entry each.

All of the following is derived from these entries:

- the columns that are read, the record, and what ``changes`` lists: ``app.values.records``
- the schemas of /v1, the description of the API, the chat's arguments: ``app.api.resource_schemas``
- the filters of lists, maps, exports, reports, pages, commands and the chat: ``filters_of``
- the data of events and its JSON Schema: ``app.policy.events``, ``app.events.records``
- what an import reads from columns, by ``app.policy.headings``: ``app.imports.features.mapping``
- which rows written with SQL are valid: ``app.database_webhook``
- the forms and the pages, and what they show of a conflict: ``app.pages.editable_fields``
- the changes that need an entry of the audit log: ``app.policy.audit``
- the rows that the benchmarks write: ``tests.make.bulk``

A new field is an entry here, a column in ``app.models`` and a migration.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, Literal

from app.policy import kinds, request_limits
from app.policy.kinds import Kind


@dataclass(frozen=True, slots=True, eq=False)
class Field:
    """A field of a resource.

    Attributes:
        column: the attribute of the model; empty: the name of the field.
        label: on pages; empty: made from the name.
        writable: when a client can set it.
        required: a new resource must have it.
        shortest, longest: characters of a text.
        lowest, highest: the range of a number.
        choices: the words of a choice, or examples of a keyword.
        title: the name of a choice's schema in the description of the API.
        filters: what lists can be filtered by. ``equals``: one value; ``range``: ``min_NAME`` and
            ``max_NAME``, inclusive; ``present``: ``has_NAME``, true or false; ``since``:
            ``updated_since`` for ``updated_at``, inclusive.
        unique: no two projects of an account, or assets of a project, have the same value.
    """

    name: str
    kind: Kind
    example: Any = None
    column: str = ""
    label: str = ""
    description: str = ""
    nullable: bool = False
    writable: Literal["never", "on update", "always"] = "never"
    required: bool = False
    shortest: int = 0
    longest: int = 0
    lowest: float = -(2**53)
    highest: float = 2**53
    choices: tuple[str, ...] = ()
    title: str = ""
    filters: tuple[Literal["equals", "range", "present", "since"], ...] = ()
    unique: bool = False
    in_events: bool = True

    @property
    def stored_as(self) -> str:
        """The attribute of the model."""
        return self.column or self.name

    @property
    def is_long(self) -> bool:
        """True if it may have several lines."""
        return self.longest > request_limits.EXTERNAL_ID_LENGTH

    @property
    def words(self) -> str:
        """The label on pages."""
        return self.label or self.name.replace("_", " ").capitalize()


@dataclass(frozen=True, slots=True)
class Filter:
    """A parameter that narrows a list, a map, an export or a report.

    Attributes:
        sign: how the field compares with the value of the parameter; ``has``: true if the field has
            a value, false if not; ``in``: the import with this id has made or changed the record.
    """

    name: str
    field: Field
    sign: Literal["=", ">=", "<=", "has", "in"]


IMPORT: Final = Field("import_id", kinds.ID, "imp_01k9zq5n0c3f8v2gq7w6r4x1yt", label="Import")


@cache
def filters_of(table: tuple[Field, ...]) -> Mapping[str, Filter]:
    """The filters of a table of fields, by the names of their parameters."""
    filters = [Filter(IMPORT.name, IMPORT, "in")]
    for field in table:
        name = field.name
        if "equals" in field.filters:
            filters.append(Filter(name, field, "="))
        if "range" in field.filters:
            filters += Filter(f"min_{name}", field, ">="), Filter(f"max_{name}", field, "<=")
        if "present" in field.filters:
            filters.append(Filter(f"has_{name}", field, "has"))
        if "since" in field.filters:
            filters.append(Filter(f"{name.removesuffix('_at')}_since", field, ">="))
    return {each.name: each for each in filters}


def _any_of(words: tuple[str, ...]) -> str:
    return (
        "Any word in lower case: letters and digits of any script, single spaces, `_`, `-`, `.` "
        f"and apostrophes, such as {', '.join(words)}."
    )


def _external_id(example: str, description: str) -> Field:
    return Field(
        "external_id", kinds.TEXT, example, label="External ID", description=description,
        nullable=True, writable="always", shortest=1, longest=request_limits.EXTERNAL_ID_LENGTH,
        filters=("equals", "present"), unique=True,
    )  # fmt: skip


_CREATED_AT: Final = Field("created_at", kinds.TIME, "2026-01-02T03:04:05.678Z")
_UPDATED_AT: Final = Field("updated_at", kinds.TIME, "2026-01-03T10:20:30.456Z", filters=("since",))
_NAME_LENGTHS: Final[dict[str, Any]] = {"shortest": 1, "longest": request_limits.NAME_LENGTH}
_PROJECT_ID: Final = "proj_01k9zq3mgse2j7tbyw5c4r8nhd"

PROJECT: Final = (
    Field("id", kinds.ID, _PROJECT_ID),
    Field(
        "name", kinds.TEXT, "Cottage Grove District",
        writable="always", required=True, **_NAME_LENGTHS,
    ),
    Field(
        "slug", kinds.TEXT, "cottage-grove-district",
        description="Derived from the project's original name; never changes.",
        shortest=1, longest=request_limits.SLUG_LENGTH, filters=("equals",), unique=True,
    ),
    _external_id("USFS-061501", "Your own id for the project, unique within the account."),
    Field(
        "description", kinds.TEXT, "Umpqua National Forest",
        nullable=True, writable="always", longest=request_limits.DESCRIPTION_LENGTH,
    ),
    Field("geometry", kinds.BOUNDARY, label="Boundary", nullable=True, writable="always",
          in_events=False, filters=("present",)),
    Field(
        "area_hectares", kinds.HECTARES, 35692.7657,
        column="area_m2", label="Hectares", description="Geodesic area on the WGS84 ellipsoid.",
        nullable=True, lowest=0, filters=("range",),
    ),
    Field(
        "country", kinds.COUNTRY, "US",
        description="The country in which most of the boundary lies, or else the nearest one within"
        " 25 km, as ISO 3166-1 alpha-2: a proposal from a coarse map (Natural Earth), and no"
        " statement about borders.",
        nullable=True, filters=("equals",), in_events=False,
    ),
    Field(
        "status", kinds.CHOICE, "active",
        writable="on update", choices=request_limits.PROJECT_STATUSES, title="ProjectStatus",
        filters=("equals",),
    ),
    Field(
        "metadata", kinds.OBJECT, {"forest": "Umpqua National Forest", "region": 6},
        column="metadata_json", description="A JSON object of your own.",
        nullable=True, writable="always",
    ),
    _CREATED_AT,
    _UPDATED_AT,
)  # fmt: skip

ASSET: Final = (
    Field("id", kinds.ID, "asset_01k9zq7c4d8r0v3nwk5t2m6xbe"),
    Field("project_id", kinds.ID, _PROJECT_ID),
    Field(
        "name", kinds.TEXT, "Weather station 4",
        writable="always", required=True, **_NAME_LENGTHS,
    ),
    _external_id("UNF-WX-04", "Your own id for the asset, unique within the project."),
    Field(
        "type", kinds.KEYWORD, "monitoring_station",
        description=_any_of(request_limits.ASSET_TYPES),
        writable="always", required=True, choices=request_limits.ASSET_TYPES, filters=("equals",),
    ),
    Field(
        "location", kinds.POINT, {"type": "Point", "coordinates": [-122.6512, 43.6638]},
        nullable=True, writable="always", filters=("present",),
    ),
    Field(
        "status", kinds.KEYWORD, "active",
        description=_any_of(request_limits.ASSET_STATUSES),
        writable="always", choices=request_limits.ASSET_STATUSES, filters=("equals",),
    ),
    Field(
        "metadata", kinds.OBJECT, {"serial": "WX-2041", "sensors": ["wind", "humidity"]},
        column="metadata_json", nullable=True, writable="always",
    ),
    _CREATED_AT,
    _UPDATED_AT,
)  # fmt: skip
