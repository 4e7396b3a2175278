"""Fields and base schemas of what comes in: no coercion, no unknown names, storable text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, ClassVar, Final, NoReturn

import marshmallow as ma
from marshmallow import fields, validate

from app.core.geometry import GeometryInvalid, Problem, read_bbox, read_boundary, read_point
from app.core.strict_json import dumps
from app.core.text import unstorable
from app.policy import bounds

_RFC_3339: Final = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?"
    r"(Z|[+-][0-9]{2}:[0-5][0-9])"
)


class Text(fields.String):
    """A string, trimmed; refuses what a database cannot keep."""

    def __init__(self, *, longest: int, shortest: int = 0, **options: Any) -> None:
        limits = validate.Length(min=shortest, max=longest)
        pattern = {"pattern": r"\S"} if shortest else {}  # for the description: it is trimmed
        metadata = pattern | options.pop("metadata", {})
        super().__init__(validate=limits, metadata=metadata, **options)

    def _deserialize(self, value: Any, attr: Any, data: Any, **options: Any) -> str:
        text: str = super()._deserialize(value, attr, data, **options).strip()
        if fault := unstorable(text):
            raise ma.ValidationError(fault)
        return text


class Word(Text):
    """A word of an open vocabulary, such as the type of an asset."""

    def __init__(self, **options: Any) -> None:
        pattern = {"pattern": f"^{bounds.VOCABULARY_PATTERN}$"}
        metadata = pattern | options.pop("metadata", {})
        super().__init__(longest=50, metadata=metadata, **options)
        message = "Must be lower case, begin with a letter, and hold letters, digits, _ and - only."
        self.validators = [validate.Regexp(f"^{bounds.VOCABULARY_PATTERN}\\Z", error=message)]


class Flag(fields.Boolean):
    """true or false, and nothing that stands for them."""

    def _deserialize(self, value: Any, attr: Any, data: Any, **options: Any) -> bool:
        if not isinstance(value, bool):
            raise self.make_error("invalid", input=value)
        return value


class WholeNumber(fields.Integer):
    """A whole number of a body, written as one."""

    def __init__(self, *, low: int, high: int, **options: Any) -> None:
        super().__init__(validate=validate.Range(min=low, max=high), **options)

    def _deserialize(self, value: Any, attr: Any, data: Any, **options: Any) -> int:
        if type(value) is not int:
            raise self.make_error("invalid", input=value)
        return value


class Moment(fields.Field[datetime]):
    """An RFC 3339 timestamp with its zone, as a moment in UTC."""

    def __init__(self, **options: Any) -> None:
        shape = {"type": "string", "format": "date-time"}
        super().__init__(metadata=shape | options.pop("metadata", {}), **options)

    def _deserialize(self, value: Any, attr: Any, data: Any, **options: Any) -> datetime:
        text = value.upper() if isinstance(value, str) else ""
        try:
            if _RFC_3339.fullmatch(text):
                return datetime.fromisoformat(text).astimezone(UTC)
        except (ValueError, OverflowError):  # there is no such day, or no such year in UTC
            pass
        told = "Must be an RFC 3339 timestamp with a zone, such as 2026-01-02T03:04:05Z."
        raise ma.ValidationError(told)


class QueryInteger(fields.Integer):
    """A whole number in a query string: digits and nothing else."""

    def __init__(self, *, low: int, high: int, **options: Any) -> None:
        super().__init__(validate=validate.Range(min=low, max=high), **options)

    def _deserialize(self, value: Any, attr: Any, data: Any, **options: Any) -> int:
        if not re.fullmatch(r"-?[0-9]{1,18}", value):
            raise self.make_error("invalid", input=value)
        return int(value)


class Box(fields.Field[Any]):
    """``minLon,minLat,maxLon,maxLat`` of a query string, as unwrapped ``Bounds``."""

    def __init__(self, **options: Any) -> None:
        shape = {
            "type": "string",
            "description": "`minLon,minLat,maxLon,maxLat`; west may exceed east.",
            "examples": ["-123,43,-122,44"],
        }
        super().__init__(metadata=shape, **options)

    def _deserialize(self, value: Any, attr: Any, data: Any, **options: Any) -> Any:
        try:
            return read_bbox(value)
        except ValueError as error:
            raise ma.ValidationError(str(error)) from None


class Geometry(fields.Field[Any]):
    """A GeoJSON Polygon or MultiPolygon, as a ``Boundary``."""

    def __init__(self, *, allow_none: bool = False, **options: Any) -> None:
        shape = _one_of("Polygon", "MultiPolygon", allow_none=allow_none)
        super().__init__(allow_none=allow_none, metadata=shape, **options)

    def _deserialize(self, value: Any, attr: Any, data: Any, **options: Any) -> Any:
        try:
            return read_boundary(value, max_positions=bounds.GEOMETRY_POSITIONS)
        except GeometryInvalid as error:
            raise ma.ValidationError(_by_member(error.problems)) from None


class Location(fields.Field[Any]):
    """A GeoJSON Point, as a ``Point``."""

    def __init__(self, *, allow_none: bool = False, **options: Any) -> None:
        shape = _one_of("Point", allow_none=allow_none)
        super().__init__(allow_none=allow_none, metadata=shape, **options)

    def _deserialize(self, value: Any, attr: Any, data: Any, **options: Any) -> Any:
        try:
            return read_point(value)
        except GeometryInvalid as error:
            raise ma.ValidationError(_by_member(error.problems)) from None


class FreeForm(fields.Field[Any]):
    """A JSON object of the client's own, bounded in size, as its compact text."""

    def __init__(self, *, allow_none: bool = False, **options: Any) -> None:
        shape = {"type": "object", "maxProperties": bounds.METADATA_KEYS}
        super().__init__(allow_none=allow_none, metadata=shape, **options)

    def _deserialize(self, value: Any, attr: Any, data: Any, **options: Any) -> str:
        if not isinstance(value, dict):
            raise ma.ValidationError("Must be a JSON object.")
        if len(value) > bounds.METADATA_KEYS:
            raise ma.ValidationError(f"Must have at most {bounds.METADATA_KEYS} keys.")
        try:
            text = dumps(value)
        except TypeError:  # orjson writes 254 levels, and reads more
            raise ma.ValidationError("Must be nested at most 250 levels deep.") from None
        if len(text) > bounds.METADATA_BYTES:
            raise ma.ValidationError(f"Must be at most {bounds.METADATA_BYTES:,} bytes as JSON.")
        if b"\\u0000" in text and _has_nul(value):
            raise ma.ValidationError("Must not contain the NUL character.")
        return text.decode()


class NotHere(fields.Field[Any]):
    """A field of the resource that this request cannot set, and why."""

    def __init__(self, reason: str) -> None:
        super().__init__(metadata={"not": {}, "description": reason})
        self.reason = reason

    def _deserialize(self, value: Any, attr: Any, data: Any, **options: Any) -> NoReturn:
        raise ma.ValidationError(self.reason)


class Picked(ma.Schema):
    """An object of somebody else's, of which only the names here are looked at."""

    @ma.pre_load
    def _pick(self, data: Any, **_: Any) -> Any:
        if not isinstance(data, Mapping):
            return data
        names = {field.data_key or name for name, field in self.fields.items()}
        return {name: data[name] for name in names & data.keys()}


class InputSchema(ma.Schema):
    """A body. Names that the resource does not have are refused. Fields that are ``dump_only`` are
    the service's own: they are left out, so that what was read can be sent back.

    Where ``may_be_absent``, no body at all is as good as ``{}``.
    """

    may_be_absent: ClassVar[bool] = False

    class Meta:
        unknown = ma.RAISE

    @ma.pre_load
    def _leave_out_what_is_read_only(self, data: Any, **_: Any) -> Any:
        if not isinstance(data, Mapping):
            return data
        unknown = [name for name in data if name not in self.fields]
        if len(unknown) > 100:
            raise ma.ValidationError(f"Has {len(unknown):,} names that the resource does not have.")
        return {name: value for name, value in data.items() if not self._is_read_only(name)}

    def _is_read_only(self, name: str) -> bool:
        return name in self.fields and self.fields[name].dump_only


class QuerySchema(ma.Schema):
    """A query string."""

    class Meta:
        unknown = ma.RAISE


class PageQuerySchema(QuerySchema):
    """Which page of a list."""

    page = QueryInteger(low=1, high=bounds.PAGE_MAX, load_default=1)
    per_page = QueryInteger(low=1, high=bounds.PER_PAGE_MAX, load_default=bounds.PER_PAGE_DEFAULT)


def _one_of(*kinds: str, allow_none: bool) -> dict[str, Any]:
    """How a field is described that holds one of these GeoJSON objects."""
    choices: list[dict[str, str]] = [{"$ref": f"#/components/schemas/{kind}"} for kind in kinds]
    return {"oneOf": choices + ([{"type": "null"}] if allow_none else [])}


def _by_member(problems: list[Problem]) -> dict[str, list[str]]:
    """The messages of problems, by the member of the object that each is about."""
    messages: dict[str, list[str]] = {}
    for problem in problems:
        member = problem.field.partition(".")[2] or "_schema"
        messages.setdefault(member, []).append(problem.message)
    return messages


def _has_nul(value: Any) -> bool:
    if isinstance(value, str):
        return "\x00" in value
    if isinstance(value, dict):
        return any("\x00" in name or _has_nul(inner) for name, inner in value.items())
    return isinstance(value, list) and any(map(_has_nul, value))
