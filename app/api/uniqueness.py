"""Unique fields of resources, and the 409 that names the other resource.

The unique indexes of the database decide: a check before the change would miss concurrent ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

from sqlalchemy import bindparam
from sqlalchemy.exc import IntegrityError

from app.auth.tenant import columns_of
from app.db.engines import violated_constraint
from app.db.queries import CompiledQuery
from app.http.errors import Conflict
from app.models import Asset, Project

_MESSAGES: Final = {
    "slug": "This name is taken by {other}. Choose one that differs in letters or digits.",
    "external_id": "The external id {value!r} is taken by {other}. Choose another one.",
}


class UniqueField:
    """A unique field, with its owners.

    Args:
        kind: the noun for the resource in messages.
        columns: the columns of the unique index, in its order: the field, the account, and other
            owners.
    """

    def __init__(
        self, name: str, kind: str, model: type[Project] | type[Asset], columns: Sequence[str]
    ) -> None:
        self.name, self.kind = name, kind
        self._owners = [column for column in columns if column not in (name, "account_id")]
        table = model.__tablename__
        joined = "_".join(columns)
        # SQLite names the columns instead of the index.
        in_words = ", ".join(f"{table}.{column}" for column in columns)
        self.violations = {f"uq_{table}_{joined}", f"ix_{table}_{joined}", in_words}
        tests = (getattr(model, column) == bindparam(column) for column in (name, *self._owners))
        self._holder = CompiledQuery(columns_of(model, model.id, model.name).where(*tests))

    def holder(self, row: Mapping[str, Any]) -> Any:
        """The id and the name of the committed resource with a value, or None.

        Args:
            row: the value and its owners, by column.
        """
        names = ("account_id", self.name, *self._owners)
        return self._holder.first(**{name: row[name] for name in names})


@contextmanager
def naming_conflicts(fields: Sequence[UniqueField], row: Mapping[str, Any]) -> Iterator[None]:
    """Turn the violation of a unique index in the block into a ``Conflict`` that names the other
    resource. Principals who write these fields may see it.

    Args:
        row: the written values, by column.
    """
    try:
        yield
    except IntegrityError as error:
        violated = violated_constraint(error)
        field = next((unique for unique in fields if violated in unique.violations), None)
        if field is None:
            raise
        holder = field.holder(row)
        other = (
            f"the {field.kind} {holder.id} ({holder.name})" if holder else f"another {field.kind}"
        )
        message = _MESSAGES[field.name].format(value=row[field.name], other=other)
        other_id = holder and holder.id
        if field.name == "slug":
            raise Conflict("slug_taken", field.name, message, id=other_id) from None
        raise Conflict("external_id_taken", field.name, message, id=other_id) from None
