"""What somebody else has changed while a project was being edited."""

from __future__ import annotations

from typing import Final, NamedTuple

from app.dashboard.metadata import listed_metadata
from app.dashboard.project_editor.draft import Draft

_NAMES: Final[dict[str, str]] = {
    "name": "Name",
    "external_id": "External ID",
    "description": "Description",
    "status": "Status",
}
_SHOWN: Final = 200  # characters


class Difference(NamedTuple):
    """A field that differs between what is saved and what is being saved."""

    label: str
    theirs: str
    mine: str


def changed_fields(mine: Draft, theirs: Draft) -> list[Difference]:
    """The fields in which a form differs from the project as it is."""
    found = [
        Difference(label, getattr(theirs, name)[:_SHOWN], getattr(mine, name)[:_SHOWN])
        for name, label in _NAMES.items()
        if getattr(mine, name) != getattr(theirs, name)
    ]
    texts = [listed_metadata(draft.metadata) for draft in (theirs, mine)]
    if texts[0] != texts[1]:
        found.append(Difference("Metadata", *(text[:_SHOWN] for text in texts)))
    return found
