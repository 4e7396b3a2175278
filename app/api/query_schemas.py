"""Schemas of the query strings of lists: filters, bounding boxes, ids, pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

import marshmallow as ma
from marshmallow import fields, validate

from app.api.openapi.geojson import FORMAT_DESCRIPTION, FORMATS
from app.geometry import read_bbox
from app.policy import request_limits
from app.policy.fields import Field
from app.values.ids import PATTERNS, PREFIXES
from app.values.messages import CodedMessage, invalid
from app.values.schemas import QueryInteger, QuerySchema, Text
from app.values.strict_json import JsonInvalid, dumps, loads
from app.values.text import storage_problem

METADATA_PREFIX: Final = "metadata."
METADATA_DESCRIPTION: Final = (
    "Only records whose `metadata` has these values at these keys: a text exactly, a number or a "
    f"boolean by its JSON text; at most {request_limits.METADATA_FILTERS} keys. Send "
    "`metadata.risk=high`, `metadata[risk]=high`, or a JSON object as `metadata`. In a generated "
    "client, name the key `metadata.risk`, as most send each key as a parameter of its own."
)
_METADATA: Final = "metadata"


class ResourceId(Text):
    """The id of a resource of one kind in a query string."""

    def __init__(self, kind: str, **options: Any) -> None:
        metadata = {"pattern": PATTERNS[kind]} | options.pop("metadata", {})
        super().__init__(longest=request_limits.ID_LENGTH, metadata=metadata, **options)
        article = "an" if kind[0] in "aeiou" else "a"
        message = f'Must be the id of {article} {kind}, which begins with "{PREFIXES[kind]}".'
        error = CodedMessage(message, "wrong_format")
        self.validators = [validate.Regexp(PATTERNS[kind], error=error)]


class BoundingBox(fields.Field[Any]):
    """``minLon,minLat,maxLon,maxLat`` of a query string, as unwrapped ``Bounds``."""

    def __init__(self, **options: Any) -> None:
        shape = {
            "type": "string",
            "description": (
                "Only records in this bounding box, as "
                "`minLon,minLat,maxLon,maxLat`. If `minLon` is greater than "
                "`maxLon`, the box crosses the antimeridian."
            ),
            "examples": ["-123,43,-122,44"],
        }
        super().__init__(metadata=shape, **options)

    def _deserialize(self, value: Any, attr: Any, data: Any, **options: Any) -> Any:
        try:
            return read_bbox(value)
        except ValueError as error:
            raise invalid(str(error), "wrong_format") from None


class CommaSeparated(fields.Field[tuple[str, ...]]):
    """Words of a query string, separated by commas.

    Args:
        noun: the noun for the words in messages, in the plural.
        allowed: the allowed words; empty: any.
    """

    def __init__(
        self, noun: str, *, most: int, allowed: Sequence[str] = (), **options: Any
    ) -> None:
        super().__init__(metadata={"type": "string"} | options.pop("metadata", {}), **options)
        self._noun, self._most, self._allowed = noun, most, allowed

    def _deserialize(self, value: Any, attr: Any, data: Any, **options: Any) -> tuple[str, ...]:
        words = [word.strip() for word in value.split(",", self._most)]
        if len(words) > self._most:
            raise invalid(f"Must have at most {self._most} {self._noun}.", "too_many")
        if not all(words):
            raise invalid(f"Must be {self._noun} separated by commas.", "wrong_format")
        if self._allowed and (unknown := [word for word in words if word not in self._allowed]):
            message = f"{unknown[0][:50]!r} is unknown. The {self._noun} are: "
            raise invalid(f"{message}{', '.join(self._allowed)}.", "not_one_of")
        if problem := storage_problem(value):
            raise ma.ValidationError(problem)
        return tuple(dict.fromkeys(words))


class FieldNames(CommaSeparated):
    """The selected fields of a record, in the record's order, always with ``id``."""

    def __init__(self, table: Sequence[Field]) -> None:
        self._names = tuple(field.name for field in table)
        description = (
            "Only these fields of each record, separated by commas; `id` is always included."
        )
        super().__init__(
            "fields",
            most=len(self._names),
            allowed=self._names,
            data_key="fields",
            attribute="fields",
            metadata={"description": description, "examples": ["name,status"]},
        )

    def _deserialize(self, value: Any, attr: Any, data: Any, **options: Any) -> tuple[str, ...]:
        requested = super()._deserialize(value, attr, data, **options)
        return tuple(name for name in self._names if name == "id" or name in requested)


class PageQuerySchema(QuerySchema):
    """The page of a list."""

    page = QueryInteger(
        low=1,
        high=request_limits.PAGE_MAX,
        load_default=1,
        metadata={"description": "Page number, starting at 1."},
    )
    per_page = QueryInteger(
        low=1,
        high=request_limits.PER_PAGE_MAX,
        load_default=request_limits.PER_PAGE_DEFAULT,
        metadata={"description": "Number of records per page."},
    )


class SearchText(Text):
    """Part of the texts of a record.

    Args:
        where: the searched texts, such as "the name".
    """

    problem = staticmethod(storage_problem)  # older texts may hold more than new ones

    def __init__(self, where: str) -> None:
        description = f"Part of {where}. Case and accents are ignored."
        super().__init__(
            longest=request_limits.SEARCH_LENGTH, metadata={"description": description}
        )


class MetadataQuerySchema(QuerySchema):
    """Filters by keys of the metadata, however a client writes an object into a query string."""

    metadata = fields.Dict(
        metadata={
            "description": METADATA_DESCRIPTION,
            "additionalProperties": {"type": "string"},
            "examples": [{"metadata.risk": "high"}],
        }
    )

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        unknown = f"{self.error_messages['unknown']} Filter by a key of the metadata as "
        self.error_messages["unknown"] = CodedMessage(f"{unknown}metadata.KEY=value.", "unknown")

    @ma.pre_load
    def _take_metadata(self, data: Mapping[str, str], **_: Any) -> dict[str, Any]:
        sent = {name: _metadata_of(name, value) for name, value in data.items()}
        filters: dict[str, str] = {}
        problems: dict[str, list[str]] = {}
        for name, given in sent.items():
            for sent_key, text in (given or {}).items():
                key = sent_key.removeprefix(METADATA_PREFIX)
                if problem := _filter_problem(key, text, filters):
                    problems[name] = [problem]
                filters[key] = text
        if problems:
            raise ma.ValidationError(problems)
        others = {name: value for name, value in data.items() if sent[name] is None}
        return others | ({_METADATA: filters} if filters else {})


def _filter_problem(key: str, text: str, others: Mapping[str, str]) -> str | None:
    if key in others:
        return CodedMessage("Send each key only once.", "not_unique")
    if len(others) >= request_limits.METADATA_FILTERS:
        message = (
            f"A list is filtered by at most {request_limits.METADATA_FILTERS} keys of metadata."
        )
        return CodedMessage(message, "too_many")
    return storage_problem(key) or storage_problem(text)


def _metadata_of(name: str, value: str) -> dict[str, str] | None:
    """Return the keys, perhaps with ``METADATA_PREFIX``, and texts of a parameter; None if it is no
    filter by the metadata.

    Raises:
        ValidationError: it is no object of texts, numbers and booleans.
    """
    if name.startswith(METADATA_PREFIX):
        return {name: value}
    if name.startswith(f"{_METADATA}[") and name.endswith("]"):
        return {name[len(_METADATA) + 1 : -1]: value}
    if name != _METADATA:
        return None
    with suppress(JsonInvalid):
        given = loads(value.encode())
        if isinstance(given, dict) and all(
            isinstance(each, str | int | float) for each in given.values()
        ):
            return {
                key: each if isinstance(each, str) else dumps(each).decode()
                for key, each in given.items()
            }
    message = 'Send metadata.KEY=value, or a JSON object of texts, such as {"risk":"high"}.'
    raise invalid(message, "wrong_type", _METADATA)


class FilterQuerySchema(MetadataQuerySchema):
    """The filters of a list."""

    ids = CommaSeparated(
        "ids",
        most=request_limits.LIST_IDS,
        metadata={
            "description": "Only records with these ids, separated by commas; at most "
            f"{request_limits.LIST_IDS}."
        },
    )
    bbox = BoundingBox()

    @ma.validates_schema
    def _check_ranges(self, data: Mapping[str, Any], **_: Any) -> None:
        for name, highest in data.items():
            lowest = name.replace("max_", "min_", 1)
            if name != lowest and lowest in data and data[lowest] > highest:
                raise invalid(f"Must not be more than {name}.", "too_large", lowest)


class ListQuerySchema(PageQuerySchema, FilterQuerySchema):
    """The filters, order, page and format of a list."""

    format = fields.String(
        validate=validate.OneOf(FORMATS), metadata={"description": FORMAT_DESCRIPTION}
    )

    order = fields.String(
        validate=validate.OneOf(("asc", "desc")),
        metadata={
            "description": "Sort direction. By default, `created_at` sorts newest first, other "
            "fields ascending."
        },
    )

    @ma.post_load
    def _leave_out_format(self, data: dict[str, Any], **_: Any) -> dict[str, Any]:
        """Drop the format, which ``app.api.media_types`` reads."""
        return {name: value for name, value in data.items() if name != "format"}
