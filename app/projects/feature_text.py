"""The name, the fields and the attributes of a project from the properties of a GeoJSON feature."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from app.policy.fields import PROJECT, Field
from app.projects.geojson_file import FileScan

# What the property with the name is usually called, the likeliest first; in any case, and with
# "name" behind it or a number ("DISTRICTNAME", "Name_1").
NAME_WORDS: Final = (
    "name", "title", "label",
    "nombre", "nom", "nome", "naam", "navn", "namn", "nimi", "nazwa", "nazev", "bezeichnung",
    "titel", "titre", "titulo", "имя", "название", "名称", "名前",
    "project", "district", "unit", "site", "stand", "compartment", "reserve", "park", "area",
    "forest", "wood", "region",
)  # fmt: skip


def guess_name_property(scan: FileScan) -> str | None:
    """The property that most likely holds the names, or None when none looks like it.

    It has a usual word for its name. Of several the likeliest word wins, where it is filled in at
    least half of the features and does not say the same in all of them.
    """
    likely = [name for name, use in scan.properties.items() if use.filled and _rank(name) >= 0]

    def unlikeliness(name: str) -> tuple[bool, bool, int, int]:
        use = scan.properties[name]
        rare = 2 * use.filled < scan.features
        constant = use.filled > 1 and not use.varies
        return rare, constant, _rank(name), -use.filled

    return min(likely, key=unlikeliness, default=None)


def guess_external_id(scan: FileScan) -> str | None:
    """The property with the name of the field external_id, or None when there is none."""
    (field,) = (field for field in PROJECT if field.name == "external_id")
    found = [name for name, use in scan.properties.items() if use.filled]
    return next((name for name in found if name.casefold() in field.properties), None)


def feature_name(properties: Mapping[str, Any], name_property: str) -> str:
    """The name of a feature; empty when it has none. Numbers are spelled out."""
    value = properties.get(name_property)
    return "" if value is None or isinstance(value, bool | dict | list) else str(value).strip()


def field_properties(
    properties: Mapping[str, Any], name_property: str, fields: Sequence[Field]
) -> dict[str, str]:
    """Which property each of the fields is read from, where there is one that is filled in."""
    return {
        field.name: found[0]
        for field in fields
        if (
            found := [
                name
                for name, value in properties.items()
                if name.casefold() in field.properties
                and name != name_property
                and value not in (None, "")
            ]
        )
    }


def feature_attributes(
    properties: Mapping[str, Any], used: Collection[str], only: Collection[str] | None = None
) -> dict[str, Any]:
    """The properties that become metadata, with their values as they are.

    Args:
        used: those that are read as something else.
        only: the only ones to take; None: all.
    """
    return {
        name: value
        for name, value in properties.items()
        if name not in used and (only is None or name in only)
    }


def _rank(name: str) -> int:
    """The index of a property's name in the list of usual words, or -1."""
    word = "".join(letter for letter in name.casefold() if letter.isalnum()).rstrip("0123456789")
    if word in NAME_WORDS:
        return NAME_WORDS.index(word)
    if not word.endswith("name"):
        return -1
    stem = word.removesuffix("name")
    return NAME_WORDS.index(stem) if stem in NAME_WORDS else len(NAME_WORDS)
