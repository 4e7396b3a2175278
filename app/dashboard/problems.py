"""What is wrong with the filters in the address of a page, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import marshmallow as ma

from app.http.errors import BadRequest


def problems_by_name(error: ma.ValidationError) -> dict[str, list[str]]:
    """What is wrong, as sentences, by the names of the filters."""
    return {
        name: [f"{name}: {message}" for message in messages]
        for name, messages in error.messages_dict.items()
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
