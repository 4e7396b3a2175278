"""Filters in the addresses of lists, which the schemas of the API read."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final
from urllib.parse import urlencode

import marshmallow as ma

from app.api.query_schemas import METADATA_PREFIX
from app.http.errors import BadRequest
from app.policy.fields import Field, Filter, filters_of
from app.policy.kinds import HECTARES, TIME
from app.site.formats import field_timestamp, moment, reader, time_field_text
from app.site.forms import errors_by_field
from app.values.ids import is_id
from app.values.timestamps import read_timestamp

PER_PAGE: Final = 50  # records of a list
_TIMES: Final = ("since", "until")
_NO_TIME: Final = " is not a date with a time."
_TYPED: Final = "typed."  # before the name of a number's filter: in the format of who types it
NO_CHOICE: Final = ": choose one from the list."
_SIGNS: Final = {"=": "is", "in": "is", ">=": "at least", "<=": "at most"}


@dataclass(frozen=True)
class RecordFilters:
    """The filters of one request in a list of projects or of assets.

    Attributes:
        home: the address of the list without filters.
        default: the filters of that address.
        fields: the fields of the records.
        typed: the filters as the address has them, for the controls.
        chosen: the valid ones of these.
        parameters: the filters as parameters of the API.
        values: the filters as the schema of the list loads them.
        problems: sentences about invalid filters.
    """

    home: ClassVar[str]
    default: ClassVar[Mapping[str, str]]
    fields: ClassVar[tuple[Field, ...]]

    typed: dict[str, str]
    chosen: dict[str, str]
    parameters: dict[str, str]
    values: dict[str, Any]
    problems: list[str]

    @property
    def narrowing(self) -> dict[str, str]:
        """The parameters without the order and the page."""
        order = ("sort", "order", "page", "per_page")
        return {name: text for name, text in self.parameters.items() if name not in order}

    @property
    def more(self) -> dict[str, Filter]:
        """The filters with a control under "More filters", by their labels."""
        return _controls(self.fields)

    @property
    def tags(self) -> dict[str, str]:
        """The words of the chosen filters that no control shows, by parameter."""
        shown = {"status", "type", *(each.name for each in self.more.values())}
        words = filter_words(self.fields, self.chosen)
        return {name: words[name] for name in words if name not in shown}

    @property
    def page(self) -> int:
        return int(self.values["page"])

    def address(self, path: str = "", **others: Any) -> str:
        """Return the address of a page with these filters, except for ``others``."""
        chosen = {**self.chosen, "page": None, **others}
        return list_address(path or self.home, chosen, self.default)


class LogFilters:
    """The filters of one request in a log, without those that are invalid.

    Attributes:
        path: the path of the page.
        chosen: the filters as the address has them.
        values: the filters as ``schema`` loads them.
        problems: sentences about invalid filters.
        before: the id of an entry; the page shows older ones. Empty: the newest.
        others: the other parameters of the page.
    """

    schema: ClassVar[ma.Schema]
    labels: ClassVar[Mapping[str, str]]  # of the filters
    kind: ClassVar[str]  # of the ids of entries

    def __init__(self, path: str, arguments: Mapping[str, str], **others: object) -> None:
        texts = {name: arguments.get(name, "").strip() for name in self.labels}
        for name in _TIMES:
            texts[name] = field_timestamp(texts[name])
        chosen = {name: text for name, text in texts.items() if text}
        self.values, invalid = load_valid_filters(self.schema, chosen)
        self.problems = [
            f"“{self.labels[name]}”{_NO_TIME if name in _TIMES else NO_CHOICE}" for name in invalid
        ]
        since, until = map(self.values.get, _TIMES)
        if since and until and since > until:
            self.problems.append("“From” must be before “To”.")
            for name in _TIMES:
                del chosen[name], self.values[name]
        self.path = path
        self.chosen = {name: text for name, text in chosen.items() if name not in invalid}
        before = arguments.get("before", "")
        self.before = before if is_id(self.kind, before) else ""
        self.others = others

    @property
    def home(self) -> str:
        """The address of the page without filters."""
        return list_address(self.path, self.others, {})

    def address(self, path: str = "", **others: Any) -> str:
        """Return the address of the newest entries with these filters, except for ``others``."""
        return list_address(path or self.path, {**self.chosen, **self.others, **others}, {})

    def moment(self, name: str) -> str:
        """Return ``since`` or ``until`` as the text of its field."""
        return time_field_text(self.values.get(name))


def list_address(path: str, chosen: Mapping[str, object], default: Mapping[str, object]) -> str:
    """Return the address of a list, without filters that are empty or as they are by default."""
    query = {
        name: value for name, value in chosen.items() if value not in (None, "", default.get(name))
    }
    return f"{path}?{urlencode(query)}" if query else path


def is_metadata(name: str) -> bool:
    """True if a parameter filters by a key of the metadata."""
    return name.startswith(METADATA_PREFIX)


def chosen_filters(
    fields: tuple[Field, ...], arguments: Mapping[str, str], *others: str
) -> dict[str, str]:
    """Return the filters of records in an address, and ``others``, without blank ones."""
    names = {*filters_of(fields), "search", *others}
    texts = {name: arguments[name].strip() for name in arguments if name in names}
    texts |= {name: arguments[name] for name in arguments if is_metadata(name)}
    for name, each in filters_of(fields).items():
        if (typed := arguments.get(f"{_TYPED}{name}")) is not None:
            texts[name] = reader().read(typed.strip(), is_area=each.field.kind is HECTARES)
    return {name: text for name, text in texts.items() if text}


def are_typed(arguments: Mapping[str, str]) -> bool:
    """True if an address has a number in the format of who typed it."""
    return any(name.startswith(_TYPED) and arguments[name] for name in arguments)


def filter_words(fields: tuple[Field, ...], chosen: Mapping[str, str]) -> dict[str, str]:
    """Return what each chosen filter by a field or by metadata means, by parameter."""
    filters, words = filters_of(fields), {}
    for name, value in chosen.items():
        if is_metadata(name):
            words[name] = f"{name.removeprefix(METADATA_PREFIX)} is {value}"
        elif name in filters:
            field, sign = filters[name].field, filters[name].sign
            label = _words(field)
            if sign == "has":
                label = f"{label[:1].lower()}{label[1:]}"
                words[name] = f"{'with' if value == 'true' else 'without'} {label}"
            elif field.kind is TIME:
                words[name] = f"{label} {moment(read_timestamp(value))} or later"
            else:
                words[name] = f"{label} {_SIGNS[sign]} {_written(field, value)}"
    return words


def _controls(fields: tuple[Field, ...]) -> dict[str, Filter]:
    found = {}
    for each in filters_of(fields).values():
        if each.sign == "has":
            found[each.field.words] = each
        elif "range" in each.field.filters and each.sign != "=":
            found[f"{_words(each.field)}, {_SIGNS[each.sign]}"] = each
    return found


def _words(field: Field) -> str:
    unit = reader().area_unit if field.kind is HECTARES else "hectares"
    return field.words.replace("Hectares", unit.capitalize())


def _written(field: Field, value: str) -> str:
    is_area = field.kind is HECTARES
    return (
        reader().field_text(value, is_area=is_area) if field.kind.compared_as == "number" else value
    )


def load_valid_filters(
    schema: ma.Schema, values: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, list[str]]]:
    """Load the valid filters. Return (values, messages for the invalid ones by name).

    A schema compares values with each other only once each of them is valid, so that what is left
    is loaded again, until nothing is invalid.
    """
    try:
        return schema.load(values), {}
    except ma.ValidationError as error:
        problems = errors_by_field(error)
        left = {name: value for name, value in values.items() if name not in problems}
        if len(left) == len(values):
            raise
    loaded, others = load_valid_filters(schema, left)
    return loaded, problems | others


def load_chosen(
    schema: ma.Schema, fields: tuple[Field, ...], chosen: dict[str, str], parameters: dict[str, str]
) -> tuple[dict[str, str], dict[str, Any], list[str]]:
    """Load the valid filters of records, and remove the others from ``chosen`` and ``parameters``.
    Return (``typed``, ``values`` and ``problems`` of ``RecordFilters``)."""
    loaded, problems = load_valid_filters(schema, parameters)
    filters = filters_of(fields)
    typed = {
        name: _written(filters[name].field, text) if name in filters else text
        for name, text in chosen.items()
    }
    for name in problems:
        del chosen[name], parameters[name]
    loaded["per_page"] = PER_PAGE
    return typed, loaded, field_sentences(fields, problems)


def load_filters(schema: ma.Schema, values: Mapping[str, Any]) -> dict[str, Any]:
    """Load filters. Raises BadRequest if any is invalid."""
    loaded, problems = load_valid_filters(schema, values)
    refuse_problems(_sentences(problems))
    return loaded


def refuse_problems(problems: Sequence[str]) -> None:
    """Raise BadRequest if a filter is invalid: without it, the list would have too much."""
    if problems:
        raise BadRequest(f"Correct these filters and try again. {' '.join(problems)}")


def field_sentences(fields: tuple[Field, ...], problems: Mapping[str, list[str]]) -> list[str]:
    """Return the messages of ``load_valid_filters``. Controls are named by their labels."""
    sentences = _sentences(problems)
    for label, each in _controls(fields).items():
        sentences = [re.sub(rf"\b{each.name}\b", label, sentence) for sentence in sentences]
    return sentences


def _sentences(problems: Mapping[str, list[str]]) -> list[str]:
    return [f"{name}: {message}" for name, messages in problems.items() for message in messages]
