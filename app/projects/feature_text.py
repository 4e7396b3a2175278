"""From the properties of a feature to the name and the description of a project."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from app.policy.bounds import DESCRIPTION_LENGTH
from app.projects.geojson_file import FileScan
from app.values.strict_json import dumps

# What the property with the name is usually called, the likeliest first; in any case, and with
# "name" behind it or a number ("DISTRICTNAME", "Name_1").
NAME_WORDS: Final = (
    "name", "title", "label",
    "nombre", "nom", "nome", "naam", "navn", "namn", "nimi", "nazwa", "nazev", "bezeichnung",
    "titel", "titre", "titulo", "имя", "название", "名称", "名前",
    "project", "district", "unit", "site", "stand", "compartment", "reserve", "park", "area",
    "forest", "wood", "region",
)  # fmt: skip


def guess_name_property(survey: FileScan) -> str | None:
    """The property that most likely holds the names, or None when none looks like it.

    It has a usual word for its name. Of several the likeliest word wins, where it is filled in at
    least half of the features and does not say the same in all of them.
    """
    likely = [name for name, use in survey.properties.items() if use.filled and _rank(name) >= 0]

    def unlikeliness(name: str) -> tuple[bool, bool, int, int]:
        use = survey.properties[name]
        rare = 2 * use.filled < survey.features
        constant = use.filled > 1 and not use.varies
        return rare, constant, _rank(name), -use.filled

    return min(likely, key=unlikeliness, default=None)


def feature_name(properties: Mapping[str, Any], name_property: str) -> str:
    """The name of a feature; empty when it has none. Numbers are spelled out."""
    value = properties.get(name_property)
    return "" if value is None or isinstance(value, bool | dict | list) else str(value).strip()


def feature_description(properties: Mapping[str, Any], name_property: str) -> str | None:
    """The other properties as lines ``Key: value``, or None when there are none.

    What would make it longer than a description may be is left out, and said to be.
    """
    lines = [
        f"{_readable(key)}: {text}"
        for key, value in properties.items()
        if key != name_property and (text := _spelled(value))
    ]
    if sum(map(len, lines)) + len(lines) - 1 <= DESCRIPTION_LENGTH:
        return "\n".join(lines) or None
    return _cut(lines)


def _cut(lines: list[str]) -> str:
    """As many whole lines as fit, and one that says how many do not."""
    room = DESCRIPTION_LENGTH - 40
    kept: list[str] = []
    for line in lines:
        if len(line) + 1 <= room:
            kept.append(line)
            room -= len(line) + 1
    return "\n".join([*kept, f"({len(lines) - len(kept)} more left out)"])


def _rank(name: str) -> int:
    """The place of a property's name in the list of usual words, or -1."""
    word = "".join(letter for letter in name.casefold() if letter.isalnum()).rstrip("0123456789")
    if word in NAME_WORDS:
        return NAME_WORDS.index(word)
    if not word.endswith("name"):
        return -1
    stem = word.removesuffix("name")
    return NAME_WORDS.index(stem) if stem in NAME_WORDS else len(NAME_WORDS)


def _readable(key: str) -> str:
    words = " ".join(key.replace("_", " ").split())
    return words[:1].upper() + words[1:]


def _spelled(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return value.strip()
    return dumps(value).decode()
