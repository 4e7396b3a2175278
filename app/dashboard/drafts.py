"""What the forms of projects and assets share: errors by field, and what two people changed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import marshmallow as ma

from app.http.errors import PreconditionFailed
from app.http.etags import IfMatch, entity_tag
from app.values.strict_json import dumps, loads

_SHOWN: Final = 200  # characters of a difference


class Difference(NamedTuple):
    """A field that differs between what is saved and what is being saved."""

    label: str
    theirs: str
    mine: str


class Unchanged(IfMatch):
    """The precondition that some fields of a record are still as a page showed them. Others may
    have changed, such as when a member was last active."""

    def __init__(self, **shown: Any) -> None:
        super().__init__(None)
        self._shown = shown

    def check(self, data: bytes) -> None:
        """Raises PreconditionFailed if one of the fields differs."""
        record = loads(data)
        if any(record[name] != value for name, value in self._shown.items()):
            raise PreconditionFailed


def differences(mine: Mapping[str, str], theirs: Mapping[str, str]) -> list[Difference]:
    """The fields in which a form differs from the record as it is.

    Args:
        mine: the texts of the form by their labels.
        theirs: likewise of the record, under the same labels.
    """
    return [
        Difference(label, their[:_SHOWN], mine[label][:_SHOWN])
        for label, their in theirs.items()
        if their != mine[label]
    ]


def version_of(record: Mapping[str, Any]) -> str:
    """The entity tag of a record, as the API has it."""
    return entity_tag([dumps(record)])


def errors_by_field(error: ma.ValidationError) -> dict[str, list[str]]:
    """The messages of a schema, by its fields."""
    return {name: _flat(messages) for name, messages in dict(error.messages_dict).items()}


def _flat(messages: Any) -> list[str]:
    if isinstance(messages, dict):
        return [text for each in messages.values() for text in _flat(each)]
    return list(messages) if isinstance(messages, list) else [str(messages)]
