"""Filters in the addresses of lists, which the schemas of the API read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar
from urllib.parse import urlencode

import marshmallow as ma

from app.api.query_schemas import METADATA_PREFIX
from app.http.errors import BadRequest
from app.site.forms import errors_by_field


@dataclass(frozen=True)
class RecordFilters:
    """The filters of one request in a list of projects or of assets.

    Attributes:
        home: the address of the list without filters.
        default: the filters of that address.
        chosen: the filters as the address has them.
        values: the filters as the schema of the list loads them.
        problems: sentences about invalid filters.
    """

    home: ClassVar[str]
    default: ClassVar[Mapping[str, str]]

    chosen: dict[str, str]
    values: dict[str, Any]
    problems: list[str]

    @property
    def page(self) -> int:
        return int(self.values["page"])

    @property
    def metadata(self) -> dict[str, str]:
        """The values by key of the metadata."""
        return dict(self.values.get("metadata", {}))

    def address(self, path: str = "", **others: Any) -> str:
        """Return the address of a page with these filters, except for ``others``."""
        chosen = {**self.chosen, "page": None, **others}
        return list_address(path or self.home, chosen, self.default)


def list_address(path: str, chosen: Mapping[str, object], default: Mapping[str, object]) -> str:
    """Return the address of a list, without filters that are empty or as they are by default."""
    query = {
        name: value for name, value in chosen.items() if value not in (None, "", default.get(name))
    }
    return f"{path}?{urlencode(query)}" if query else path


def metadata_filters(arguments: Mapping[str, str]) -> dict[str, str]:
    """Return the filters by metadata in an address, by parameter."""
    return {name: value for name, value in arguments.items() if name.startswith(METADATA_PREFIX)}


def load_valid_filters(
    schema: ma.Schema, values: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, list[str]]]:
    """Load the valid filters. Return (values, messages for the invalid ones by name)."""
    try:
        return schema.load(values), {}
    except ma.ValidationError as error:
        problems = errors_by_field(error)
    loaded = schema.load({name: value for name, value in values.items() if name not in problems})
    return loaded, problems


def load_filters(schema: ma.Schema, values: Mapping[str, Any]) -> dict[str, Any]:
    """Load filters. Raises BadRequest if any is invalid."""
    loaded, problems = load_valid_filters(schema, values)
    refuse_problems(problem_sentences(problems))
    return loaded


def refuse_problems(problems: Sequence[str]) -> None:
    """Raise BadRequest if a filter is invalid: without it, the list would have too much."""
    if problems:
        raise BadRequest(f"Correct these filters and try again. {' '.join(problems)}")


def problem_sentences(
    problems: Mapping[str, list[str]], labels: Mapping[str, str] | None = None
) -> list[str]:
    """Return the messages of ``load_valid_filters``, each with the label or name of its filter."""
    return [
        f"{(labels or {}).get(name, name)}: {message}"
        for name, messages in problems.items()
        for message in messages
    ]
