"""Records from rows, by the fields in ``app.policy.fields``, and their differences."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from app.policy.fields import Field
from app.policy.kinds import Kind
from app.values.clock import format_value
from app.values.strict_json import Fragment, dumps

Record = dict[str, Any]
RowReader = Callable[..., Record]  # called as ``read(*row)``


def hectares(area_m2: int | None) -> float | None:
    """Convert square meters to hectares; None stays None."""
    return None if area_m2 is None else area_m2 / 10_000


def columns_of_fields(model: Any, fields: Sequence[Field]) -> tuple[Any, ...]:
    """The attributes of a model that hold these fields, in the same order."""
    return tuple(getattr(model, field.stored_as) for field in fields)


def row_reader(fields: Sequence[Field], *others: str) -> RowReader:
    """Return a function from the values of ``columns_of_fields(model, fields)`` to a record::

        lambda id, name, area_m2: {
            "id": id,
            "name": name,
            "area_hectares": None if area_m2 is None else area_m2 / 10_000,
        }

    It is compiled from text, like the methods of a named tuple. ``dict(zip(names, row))`` with a
    loop for conversions takes 45 µs more for a hundred projects: 7 % of the processor time of a
    request for such a page.

    Args:
        others: further columns at the end of a row, which are not converted.
    """
    parameters = [*(field.stored_as for field in fields), *others]
    members = [
        f"{field.name!r}: {_conversion_expression(field.kind).format(field.stored_as)}"
        for field in fields
    ]
    members += [f"{name!r}: {name}" for name in others]
    text = f"lambda {', '.join(parameters)}: {{{', '.join(members)}}}"
    read: RowReader = eval(text, {"Fragment": Fragment})  # noqa: S307 - names of the policy's table
    return read


def _conversion_expression(kind: Kind) -> str:
    """Return the expression that converts a stored value ``{0}``. JSON stays unparsed."""
    if kind.is_json:
        return "None if {0} is None else Fragment({0})"
    return f"None if {{0}} is None else {{0}} / {kind.factor}" if kind.factor != 1 else "{0}"


def object_row(instance: Any, fields: Sequence[Field]) -> tuple[Any, ...]:
    """The row of an object of the model, with times as text."""
    return tuple(format_value(getattr(instance, field.stored_as)) for field in fields)


def mapped_row(row: Mapping[str, Any], fields: Sequence[Field]) -> tuple[Any, ...]:
    """The row of values given by column name, with times as text; absent ones are None."""
    return tuple(format_value(row.get(field.stored_as)) for field in fields)


def set_columns(instance: Any, columns: Mapping[str, Any]) -> None:
    """Set these columns of an object of a model."""
    for name, value in columns.items():
        setattr(instance, name, value)


def changed_fields(
    fields: Sequence[Field], before: Mapping[str, Any], after: Mapping[str, Any]
) -> dict[str, dict[str, Any]]:
    """The differences of two records in fields that clients write and events contain, as
    ``{field: {from, to}}``."""
    names = [field.name for field in fields if field.writable != "never" and field.in_events]
    return {
        name: {"from": before[name], "to": after[name]}
        for name in names
        if dumps(before[name]) != dumps(after[name])
    }
