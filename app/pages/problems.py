"""What the schemas of the API find wrong with the filters in an address."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import marshmallow as ma

from app.http.errors import BadRequest
from app.site.forms import errors_by_field


def problems_by_name(error: ma.ValidationError) -> dict[str, list[str]]:
    """What is wrong with filters, as sentences, by their names."""
    return {
        name: [f"{name}: {message}" for message in messages]
        for name, messages in errors_by_field(error).items()
    }


def refuse(problems: Sequence[str]) -> None:
    """Raises BadRequest where a filter is wrong: without it, there would be more than was asked."""
    if problems:
        raise _bad_request(problems)


def load_filters(schema: ma.Schema, values: Mapping[str, Any]) -> dict[str, Any]:
    """The values of filters that must all be right. Raises BadRequest."""
    try:
        loaded: dict[str, Any] = schema.load(values)
    except ma.ValidationError as error:
        found = problems_by_name(error).values()
        raise _bad_request([each for problems in found for each in problems]) from None
    return loaded


def _bad_request(problems: Sequence[str]) -> BadRequest:
    return BadRequest(f"Correct these filters and try again. {' '.join(problems)}")
