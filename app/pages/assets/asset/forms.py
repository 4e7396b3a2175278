"""The form of an asset."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final, Self

from werkzeug.datastructures import MultiDict

from app.assets.schemas import AssetCreateSchema, AssetUpdateSchema
from app.formats.readers.places import (
    NO_PLACE,
    OPEN_LETTERS,
    Axis,
    PlaceInvalid,
    read_degrees,
    read_place,
)
from app.pages.editable_fields import ASSET_FIELDS, form_value
from app.pages.project_choice import ProjectChoice
from app.pages.projects.project.details import asset_place
from app.pages.record_draft import RecordDraft
from app.policy.fields import ASSET
from app.policy.kinds import DOCUMENTED_WORDS

_TYPE, _STATUS = (field for field in ASSET if field.name in ("type", "status"))
_AXES: Final[tuple[Axis, Axis]] = ("longitude", "latitude")  # as GeoJSON has them


class AssetDraft(RecordDraft):
    """The form of an asset, and the project of a new one."""

    fields = ASSET_FIELDS
    others = ("name", "type", "status", "latitude", "longitude")
    project = ProjectChoice()

    @classmethod
    def other_texts(cls, record: Mapping[str, Any]) -> dict[str, str]:
        place = asset_place(record)
        numbers = place["place"] if place else ()
        longitude, latitude = [str(number).removesuffix(".0") for number in numbers] or ("", "")
        words = {name: shown_keyword(record[name]) for name in ("type", "status")}
        return words | {"name": record["name"], "latitude": latitude, "longitude": longitude}

    @classmethod
    def sent(cls, form: MultiDict[str, str]) -> Self:
        draft = super().sent(form)
        with suppress(PlaceInvalid):
            if (both := draft.both()) is not None:
                draft.texts["longitude"], draft.texts["latitude"] = (
                    f"{round(n, 8):.11g}" for n in both
                )
        return draft

    def both(self) -> list[float] | None:
        """Longitude and latitude, if the field of the latitude has both in one text. Raises
        PlaceInvalid: the text is neither a place nor degrees."""
        text = self.texts["latitude"]
        if self.texts["longitude"] or not text:
            return None
        try:
            read_degrees(text, "latitude")
        except PlaceInvalid as reason:
            try:
                return read_place(text).in_degrees()
            except PlaceInvalid as error:
                raise (reason if str(error) == NO_PLACE else error) from None
        return None

    def labelled(self) -> dict[str, str]:
        return {
            "Name": self.texts["name"],
            "Type": self.texts["type"].lower(),
            "Status": self.texts["status"].lower(),
            "Location": ", ".join(filter(None, (self.texts["latitude"], self.texts["longitude"]))),
        }

    def read(self, before: Mapping[str, Any] | None = None) -> None:
        """Read the values to create or update an asset with.

        Args:
            before: the saved record of the asset; None for a new one.
        """
        former = self.other_texts(before) if before else dict.fromkeys(self.others, "")
        values = {
            "name": self.texts["name"],
            "type": form_value(_TYPE, self.texts["type"]) or "",
            "status": form_value(_STATUS, self.texts["status"]) or "active",
            **self.read_fields(),
        }
        if any(self.texts[axis] != former[axis] for axis in _AXES):
            values["location"] = self._location()
        self.load(AssetUpdateSchema() if before else AssetCreateSchema(), values)
        if not self.texts["type"]:
            self.errors["type"] = ["Say what it is, such as equipment."]

    def _location(self) -> dict[str, Any] | None:
        """Return the coordinates as a GeoJSON Point; None if they are missing or invalid."""
        if not any(self.texts[axis] for axis in _AXES):
            return None
        degrees = []
        for axis in _AXES:
            try:
                if not self.texts[axis]:
                    raise PlaceInvalid("Write both latitude and longitude, or neither.")
                if axis == "latitude":
                    self.both()
                read = read_degrees(self.texts[axis], axis)
                if read.letter:
                    raise PlaceInvalid(OPEN_LETTERS[read.letter])
                degrees.append(read.value)
            except PlaceInvalid as error:
                self.errors[axis] = [str(error)]
        return {"type": "Point", "coordinates": degrees} if len(degrees) == 2 else None


def shown_keyword(keyword: str) -> str:
    """Return a keyword as fields show it: a documented one with spaces."""
    words = keyword.replace("_", " ")
    return words if words in DOCUMENTED_WORDS else keyword
