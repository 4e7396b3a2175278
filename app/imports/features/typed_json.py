"""Dataclasses as JSON and back, where another process may send anything."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import asdict, is_dataclass
from functools import cache
from types import NoneType
from typing import Any, Final, TypeVar, get_args, get_origin, get_type_hints

T = TypeVar("T")

_types_of: Final = cache(get_type_hints)


@cache
def _parts(kind: Any) -> tuple[Any, tuple[Any, ...]]:
    return get_origin(kind), get_args(kind)


def encode_value(value: Any) -> bytes:
    """Return a JSON value, in which there may be dataclasses and collections, as a text."""
    return json.dumps(value, default=_plain_value).encode()


def _plain_value(value: Any) -> Any:
    return asdict(value) if is_dataclass(value) else list(value)  # type: ignore[arg-type]


def typed_value(kind: type[T], value: Any) -> T:
    """Return the value. Raises TypeError if it is of another type."""
    if type(value) is not kind:
        raise TypeError
    return value


def decode_value(kind: Any, value: Any) -> Any:
    """Return JSON as a value of a type: a dataclass, tuple, list, dict, scalar or optional one.
    What a dataclass has a default for may be missing.

    Raises LookupError, TypeError or ValueError for other JSON.
    """
    if type(value) is kind or kind in (object, Any):
        return value
    origin, arguments = _parts(kind)
    if NoneType in arguments:
        return None if value is None else decode_value(arguments[0], value)
    if origin is tuple and Ellipsis not in arguments:
        pairs = zip(arguments, typed_value(list, value), strict=True)
        return tuple(decode_value(item_kind, item) for item_kind, item in pairs)
    if origin in (dict, Mapping):
        members = typed_value(dict, value).items()
        return {name: decode_value(arguments[1], member) for name, member in members}
    if origin in (list, tuple, Collection):
        items = (decode_value(arguments[0], item) for item in typed_value(list, value))
        return tuple(items) if origin is tuple else list(items)
    if isinstance(kind, type) and is_dataclass(kind):
        fields = _types_of(kind).items()
        return kind(**{name: decode_value(of, value[name]) for name, of in fields if name in value})
    if kind is float:
        return float(value)
    return typed_value(kind, value)
