"""Filters that stand in the addresses of lists, read by the schemas of the API."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

import marshmallow as ma

from app.api.query_schemas import METADATA_PREFIX
from app.http.errors import BadRequest
from app.site.forms import errors_by_field


def filtered(path: str, chosen: Mapping[str, object], default: Mapping[str, object]) -> str:
    """Return the address of a list, without filters that are empty or as they are by default."""
    query = {
        name: value for name, value in chosen.items() if value not in (None, "", default.get(name))
    }
    return f"{path}?{urlencode(query)}" if query else path


def metadata_filters(arguments: Mapping[str, str]) -> dict[str, str]:
    """Return the filters by metadata that stand in an address, by the names of its parameters."""
    return {name: value for name, value in arguments.items() if name.startswith(METADATA_PREFIX)}


def load_valid(
    schema: ma.Schema, values: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, list[str]]]:
    """Load the filters that are valid. Return them, and the messages for all others by name."""
    try:
        return schema.load(values), {}
    except ma.ValidationError as error:
        wrong = errors_by_field(error)
    loaded = schema.load({name: value for name, value in values.items() if name not in wrong})
    return loaded, wrong


def load_all(schema: ma.Schema, values: Mapping[str, Any]) -> dict[str, Any]:
    """Load filters. Raises BadRequest if any is invalid."""
    loaded, wrong = load_valid(schema, values)
    refuse(sentences(wrong))
    return loaded


def refuse(problems: Sequence[str]) -> None:
    """Raise BadRequest if a filter is wrong: without it, there would be more than was asked."""
    if problems:
        raise BadRequest(f"Correct these filters and try again. {' '.join(problems)}")


def sentences(wrong: Mapping[str, list[str]], labels: Mapping[str, str] | None = None) -> list[str]:
    """Return what ``load_valid`` found wrong, each with the name or the label of its filter."""
    return [
        f"{(labels or {}).get(name, name)}: {message}"
        for name, messages in wrong.items()
        for message in messages
    ]
