"""Numbers, percents and days in texts of pages, and whether a locale writes them so."""

from __future__ import annotations

import re
from typing import Final

# With separators or before a unit, outside of ids, versions, addresses and names.
_NUMBER: Final = re.compile(
    r"(?<![\w.,:/#+-])(?:\d+(?:[.,’\u202f\xa0]\d+)+(?![\w/:]|[.,-]\d)°?"
    r"|\d{4,}(?=\s(?:ha|ac|km|m|ms|kB|bytes)\b))"
)
_PERCENT: Final = re.compile(r"\d(\s*%)")
_DAY: Final = re.compile(r"(?<![\w/.-])\d\d(?:\d\d)?([./-])\d\d\1\d\d(?:\d\d)?(?![\w/-])")
_VERSION: Final = re.compile(
    r"(?:OAuth|CC BY|Etalab) \d\.\d|\d+(?:\.\d+)+\.\d{1,2}\b|\d+(?:\.\d+){3}"
)
# The whole part of numbers, what is before their decimals, days, and what is after a percentage.
LOCALES: Final = {
    "en-US": (r"\d{1,3}(,\d{3})*", r"\.", r"\d\d/\d\d/\d{4}", "%"),
    "de-DE": (r"\d{1,3}(\.\d{3})*", ",", r"\d\d\.\d\d\.\d{4}", "\xa0%"),
    "fr-FR": (r"\d{1,3}(\u202f\d{3})*", ",", r"\d\d/\d\d/\d{4}", "\xa0%"),
    "ro-RO": (r"\d{1,3}(\.\d{3})*", ",", r"\d\d\.\d\d\.\d{4}", "\xa0%"),
    "pt-BR": (r"\d{1,3}(\.\d{3})*", ",", r"\d\d/\d\d/\d{4}", "%"),
    "hi-IN": (r"\d{1,3}|\d{1,2}(,\d{2})*,\d{3}", r"\.", r"\d\d/\d\d/\d{4}", "%"),
}


def written_in(text: str) -> list[str]:
    """The numbers and days in a text."""
    text = _VERSION.sub(" ", text)
    numbers = [match[0] for match in _NUMBER.finditer(_DAY.sub(" ", text))]
    return numbers + [match[0] for match in _DAY.finditer(text)]


def wrongly_written(text: str, locale: str) -> list[str]:
    """The numbers, days and percents in a text that are in another format than the locale's. Only
    degrees have three decimals: elsewhere ``1,960`` would be of the other format."""
    whole, point, day, percent = LOCALES[locale]
    decimals = rf"{point}(\d\d?|\d{{4,}}|\d{{3}}(?=°))"
    known = rf"(({whole})({decimals})?°?|{day})"
    found = [each for each in written_in(text) if not re.fullmatch(known, each)]
    return found + [match[0] for match in _PERCENT.finditer(text) if match[1] != percent]
