"""What two people changed at the same time, in the forms of projects and assets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from app.http.etags import entity_tag
from app.values.strict_json import dumps

_SHOWN: Final = 200  # characters of a difference


class Difference(NamedTuple):
    """A field that differs between what is saved and what is being saved."""

    label: str
    theirs: str
    mine: str


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
