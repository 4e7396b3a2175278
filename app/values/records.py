"""Records of resources whose fields are listed in ``app.policy.fields``: made of rows, compared."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from app.policy.fields import Field
from app.values.clock import format_value
from app.values.strict_json import Fragment, dumps

Record = dict[str, Any]
RowReader = Callable[[Sequence[Any]], Record]

# How a stored value is shown, by kind of field; all other kinds are shown as they are read.
_SHOWN: Final[dict[str, Callable[[Any], Any]]] = {
    "hectares": lambda square_metres: square_metres / 10_000,
    "boundary": Fragment,  # these are JSON already, and go out unparsed
    "point": Fragment,
    "object": Fragment,
}


def columns(model: Any, fields: Sequence[Field]) -> tuple[Any, ...]:
    """The attributes of a model that hold these fields, in the same order."""
    return tuple(getattr(model, field.stored_as) for field in fields)


def row_reader(fields: Sequence[Field], *others: str) -> RowReader:
    """A function from a row of ``columns(model, fields)`` to the record.

    Args:
        others: names of further columns at the end of the row, which are shown as they are.
    """
    names = (*(field.name for field in fields), *others)
    shown = [(field.name, _SHOWN[field.kind]) for field in fields if field.kind in _SHOWN]

    def read(row: Sequence[Any]) -> Record:
        record = dict(zip(names, row, strict=True))
        for name, show in shown:
            value = record[name]
            if value is not None:
                record[name] = show(value)
        return record

    return read


def object_row(instance: Any, fields: Sequence[Field]) -> tuple[Any, ...]:
    """The row of an object of the model; times as they are shown."""
    return tuple(format_value(getattr(instance, field.stored_as)) for field in fields)


def changed_fields(
    fields: Sequence[Field], before: Mapping[str, Any], after: Mapping[str, Any]
) -> dict[str, dict[str, Any]]:
    """How two records of a resource differ in what clients write and events show, as
    ``{field: {from, to}}``."""
    names = [field.name for field in fields if field.writable != "never" and field.in_events]
    return {
        name: {"from": before[name], "to": after[name]}
        for name in names
        if dumps(before[name]) != dumps(after[name])
    }
