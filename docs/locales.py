"""Makes ``app/policy/locales.json``, how each locale writes numbers and dates, from the data of
Unicode's CLDR: ``python -m docs.locales``.

At run time Babel would take 11 MB of each process, and up to 1 MB more for each locale; the table
takes 0.3 MB. A test compares the two.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Final

from babel import Locale, UnknownLocaleError
from babel.core import get_global
from babel.languages import get_official_languages
from babel.localedata import locale_identifiers

from config import ROOT

FILE: Final = ROOT / "app" / "policy" / "locales.json"

_FIELDS: Final = {"y": "year", "M": "month", "d": "day", "m": "minute", "a": "half", "B": "half"}
_FIELDS_OF_HOURS: Final = {"H": "hour", "k": "hour", "h": "hour12", "K": "hour12"}
_TOKEN: Final = re.compile(r"'([^']*)'|([A-Za-z])\2*|([^'A-Za-z]+)")
_PLAIN: Final = re.compile(r"[\w\s.,:/{}()،-]*")  # a date that reads as one
# Pages are written from left to right, so that marks of direction would move digits.
_MARKS: Final = dict.fromkeys(map(ord, "\u200e\u200f\u061c"))
_THIN: Final = dict.fromkeys(map(ord, "\u2009\u202f\xa0"), " ")


def make_table() -> dict[str, Any]:
    """Return the distinct formats, the place of each locale's among them, and the names of the
    locales to choose from."""
    locales = {tag_of(locale): format_of(locale) for locale in known_locales()}
    for locale in known_locales():  # zh-TW is zh-Hant-TW
        if locale.script and locale.territory:
            short = f"{locale.language}-{locale.territory}"
            if short not in locales and _parsed(short) == locale:
                locales[short] = format_of(locale)
    formats = sorted(set(locales.values()))
    return {
        "formats": formats,
        "locales": {tag: formats.index(locales[tag]) for tag in sorted(locales)},
        "names": dict(sorted(choices(locales).items(), key=lambda pair: pair[1].casefold())),
    }


def known_locales() -> list[Locale]:
    """Return all locales of the CLDR."""
    return [Locale.parse(name) for name in sorted(locale_identifiers())]


def tag_of(locale: Locale) -> str:
    """Return the tag that browsers have for a locale: ``de-AT``."""
    return str(locale).replace("_", "-")


def format_of(locale: Locale) -> tuple[Any, ...]:
    """Return the fields of ``app.values.formats.Format``, with the digits 0 to 9."""
    symbols = locale.number_symbols.get("latn") or next(iter(locale.number_symbols.values()))
    first, second = locale.decimal_formats[None].grouping
    percent = re.sub(r"[#,0.]+", "{}", locale.percent_formats[None].pattern.partition(";")[0])
    joined = _written(locale.datetime_formats["short"])
    date = _written(locale.datetime_skeletons["yMd"].pattern)
    if not _PLAIN.fullmatch(date):
        date = "{year}-{month}-{day}"
    moment = joined.replace("{1}", date).replace("{0}", _written(_short_time(locale)))
    periods = locale.day_periods["format"]["abbreviated"]
    halves = (periods["am"], periods["pm"]) if "{half}" in moment else ("", "")
    texts = (symbols["decimal"], symbols["group"] if first < 10 else "", symbols["minusSign"])
    return (*map(_marked_off, texts), first, second, _marked_off(percent), date, moment, *halves)


def choices(locales: dict[str, Any]) -> dict[str, str]:
    """Return the names of the locales to choose from: for each official language of a territory, if
    it is the language's usual one or writes something else; and English for all territories that
    write something else, as the pages are in English."""
    found: dict[str, str] = {}
    pairs = {(tag.partition("-")[0], tag) for tag in locales if re.fullmatch("en-[A-Z]{2}", tag)}
    for territory in get_global("territory_languages"):
        languages = get_official_languages(territory, regional=True, de_facto=True)
        pairs |= {(name, f"{name.replace('_', '-')}-{territory}") for name in languages}
    for language, name in sorted(pairs):
        if (locale := _parsed(name)) is None:
            continue
        tag, likely = tag_of(locale), get_global("likely_subtags").get(language, language)
        is_usual = likely.endswith(f"_{locale.territory}")
        if is_usual or locales[tag] != locales.get(language.replace("_", "-")):
            words = locale.get_display_name(locale) or tag
            found[tag] = words[:1].upper() + words[1:]
    return found


def _parsed(tag: str) -> Locale | None:
    try:
        return Locale.parse(tag, sep="-")
    except (UnknownLocaleError, ValueError):
        return None


def _short_time(locale: Locale) -> str:
    return str(locale.time_formats["short"].pattern)


def _marked_off(text: str) -> str:
    return text.translate(_MARKS)


def _written(pattern: str) -> str:
    """Return a pattern of the CLDR as one with named fields; those of dates with leading zeros."""

    def part(match: re.Match[str]) -> str:
        quoted, letter, other = match.groups()
        if letter:
            return f"{{{(_FIELDS | _FIELDS_OF_HOURS)[letter]}}}"
        return _marked_off(quoted or other or "").translate(_THIN)

    return _TOKEN.sub(part, pattern)


def text_of(table: dict[str, Any]) -> str:
    """Return the file's text, with a line for each format."""
    parts = [
        f' "{name}": {json.dumps(table[name], ensure_ascii=False)}' for name in ("locales", "names")
    ]
    rows = (f"  {json.dumps(row, ensure_ascii=False)}" for row in table["formats"])
    parts.insert(0, ' "formats": [\n{}\n ]'.format(",\n".join(rows)))
    return "{{\n{}\n}}\n".format(",\n".join(parts))


if __name__ == "__main__":
    Path(FILE).write_text(text_of(make_table()))
