"""What the form of an asset holds: as it was sent, and what is saved of it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import marshmallow as ma
from werkzeug.datastructures import MultiDict

from app.assets.schemas import AssetCreateSchema, AssetUpdateSchema
from app.pages.assets.page.coordinates import read_degrees, split_both
from app.pages.edit_conflicts import version_of
from app.pages.metadata import Row, listed_metadata, metadata_rows, read_metadata, sent_metadata
from app.pages.problems import errors_by_field
from app.pages.project_choice import Choice
from app.pages.projects.page.details import asset_place
from app.pages.record_fields import ASSET_FIELDS, read_texts, sent_texts, texts_of

_TEXTS: Final = ("name", "type", "status", "latitude", "longitude", "version")


@dataclass
class Draft:
    """A form. ``errors`` has messages by field; those of ``form`` are about all of it."""

    name: str = ""
    type: str = ""
    status: str = "active"
    latitude: str = ""
    longitude: str = ""
    texts: dict[str, str] = field(default_factory=dict)  # of ASSET_FIELDS
    metadata: list[Row] = field(default_factory=list)
    version: str = ""  # the entity tag of the asset as it was when the form was loaded
    project: Choice = field(default_factory=Choice)
    errors: dict[str, list[str]] = field(default_factory=dict)

    @property
    def metadata_rows(self) -> list[Row]:
        """The rows of the form: what there is, and an empty one."""
        return [*self.metadata, Row()]


def draft_of(record: Mapping[str, Any]) -> Draft:
    """Return the form of an asset as it is saved."""
    place = asset_place(record)
    numbers = place["place"] if place else ()
    longitude, latitude = [str(number).removesuffix(".0") for number in numbers] or ("", "")
    return Draft(
        name=record["name"],
        type=record["type"],
        status=record["status"],
        latitude=latitude,
        longitude=longitude,
        texts=texts_of(ASSET_FIELDS, record),
        metadata=metadata_rows(record["metadata"]),
        version=version_of(record),
    )


def sent_draft(form: MultiDict[str, str]) -> Draft:
    """Return the form as it was sent, without errors yet. A URL can have some of its fields."""
    sent = {name: form.get(name, "").strip() for name in _TEXTS}
    draft = Draft(texts=sent_texts(ASSET_FIELDS, form), metadata=sent_metadata(form))
    for name, text in sent.items():
        setattr(draft, name, text)
    both = split_both(draft.latitude) if not draft.longitude else None
    if both is not None:
        draft.latitude, draft.longitude = both
    return draft


def read_draft(draft: Draft, before: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the values to create or update an asset with. The draft's errors say what is wrong.

    Args:
        before: the record of the asset as it is; None: a new one.
    """
    metadata, problems = read_metadata(draft.metadata)
    was = draft_of(before) if before else Draft()
    sent = read_texts(ASSET_FIELDS, draft.texts, draft.errors) | {
        "name": draft.name,
        "type": _word(draft.type, was.type),
        "status": _word(draft.status, was.status) or "active",
        "metadata": metadata,
    }
    if (draft.latitude, draft.longitude) != (was.latitude, was.longitude):
        sent["location"] = _location(draft)
    schema = AssetUpdateSchema() if before else AssetCreateSchema()
    values: dict[str, Any] = {}
    try:
        values = schema.load(sent)
    except ma.ValidationError as error:
        draft.errors |= errors_by_field(error)
    if problems:
        draft.errors["metadata"] = problems
    if not draft.type:
        draft.errors["type"] = ["Say what it is, such as equipment."]
    return values


def compared(draft: Draft) -> dict[str, str]:
    """Return the fields as people compare them, by their labels."""
    return {
        "Name": draft.name,
        "Type": _shown(draft.type).lower(),
        "Status": _shown(draft.status).lower(),
        "Location": ", ".join(filter(None, (draft.latitude, draft.longitude))),
        **{each.words: draft.texts[each.name] for each in ASSET_FIELDS},
        "Metadata": listed_metadata(draft.metadata),
    }


def _word(text: str, was: str) -> str:
    """A word of an open vocabulary, of how people write it: ``fire_tower`` for "Fire tower".

    Args:
        was: the word as it is, which stays where the field shows it still.
    """
    return was if _shown(text) == _shown(was) else re.sub(r"\s+", "_", text.strip().lower())


def _shown(word: str) -> str:
    """A word as the field shows it."""
    return word.replace("_", " ").strip()


def _location(draft: Draft) -> dict[str, Any] | None:
    """The GeoJSON of the coordinates; None for none, and where they are wrong."""
    if not draft.latitude and not draft.longitude:
        return None
    degrees = []
    for axis, text in (("longitude", draft.longitude), ("latitude", draft.latitude)):
        try:
            if not text:
                raise ValueError("Write both latitude and longitude, or neither.")
            degrees.append(read_degrees(text, axis))  # type: ignore[arg-type]
        except ValueError as error:
            draft.errors[axis] = [str(error)]
    return {"type": "Point", "coordinates": degrees} if len(degrees) == 2 else None
