"""How numbers, units, dates and times are written for a reader, by ``app/policy/locales.json``.

``js/formats.js`` does the same with the same data; a test compares them. Digits are always 0 to 9,
as in ids and coordinates.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from contextlib import suppress
from datetime import date, datetime
from decimal import ROUND_HALF_UP, Decimal
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

_ACRES: Final = 2.4710538147  # acres of one hectare (international)
AREA_UNITS: Final = {"hectares": "ha", "acres": "ac"}  # by the stored names

_FILE: Final = Path(__file__).parent.parent / "policy" / "locales.json"
_SIZES: Final = ((10**9, "GB"), (10**6, "MB"), (10**3, "kB"))
# Numbers with separators or percent signs in sentences of the service, and what stays in them: what
# is quoted, and versions after a name such as OAuth.
_IN_SENTENCES: Final = re.compile(
    r"“[^“”]*”|\"[^\"]*\"|`[^`]*`|[A-Z][A-Za-z]{0,9}[A-Z][A-Za-z]{0,9} \d+\.\d+\b"
    r"|(?<![\w.,:/+-])(-?(?:\d{1,3}(?:,\d{3})+|\d+))(?:\.(\d+))?( ?%)?(?![\w/]|[.,:-]\w)"
)


class Format(NamedTuple):
    """How a locale writes numbers and dates. The fields are those of the table's rows, and
    ``area_unit`` is one of ``AREA_UNITS``."""

    decimal: str
    group: str
    minus: str
    first: int  # digits of the group before the decimal separator
    second: int  # digits of each further group
    percents: str  # "{}%"
    dates: str  # "{day}.{month}.{year}"
    moments: str  # "{day}.{month}.{year}, {hour}:{minute}"; or "{hour12}:{minute} {half}"
    am: str
    pm: str
    area_unit: str = "hectares"

    def number(self, value: float, digits: int = 0, *, trim: bool = False) -> str:
        """Write a number, ``1,960.50``, rounded half up.

        Args:
            digits: decimals.
            trim: leave out zeros at the end of the decimals.
        """
        exact = Decimal(value).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP)
        whole, _, decimals = f"{abs(exact):f}".partition(".")
        return self._joined(exact < 0, whole, decimals.rstrip("0") if trim else decimals)

    def area(self, hectares: float, *, trim: bool = False) -> str:
        """Write an area with two decimals, below one hectare or acre with four: ``1,960.50 ha``."""
        size = hectares * _ACRES if self.area_unit == "acres" else hectares
        digits = 0 if not size else 4 if abs(size) < 1 else 2
        return f"{self.number(size, digits, trim=trim)} {AREA_UNITS[self.area_unit]}"

    def percent(self, share: float, *, trim: bool = False) -> str:
        """Write a share with one decimal: 0.306 is ``30.6%``."""
        return self.percents.replace("{}", self.number(share * 100, 1, trim=trim))

    def length(self, kilometers: float, digits: int = 2, *, trim: bool = False) -> str:
        """Write a length: ``12.35 km``, and below one kilometer ``350 m``."""
        if abs(kilometers) < 1:
            return f"{self.number(kilometers * 1000)} m"
        return f"{self.number(kilometers, digits, trim=trim)} km"

    def bytes(self, size: float) -> str:
        """Write a size in units of powers of 1,000, with up to one decimal: ``1.5 MB``."""
        for step, unit in _SIZES:
            if size >= step:
                return f"{self.number(size / step, 1, trim=True)} {unit}"
        return f"{self.number(size)} byte{'' if size == 1 else 's'}"

    def degrees(self, latitude: float, longitude: float, digits: int = 4) -> str:
        """Write a place: ``46.4533° N 22.9657° E``."""
        return f"{self.degree(latitude, 'NS', digits)} {self.degree(longitude, 'EW', digits)}"

    def degree(self, value: float, letters: str, digits: int = 4, *, trim: bool = False) -> str:
        """Write a latitude or longitude: ``22.9657° E``. ``letters`` are those above and below 0,
        and are left out at 0 and 180 degrees."""
        letter = "" if abs(value) in (0, 180) else f"\N{NO-BREAK SPACE}{letters[int(value < 0)]}"
        return f"{self.number(abs(value), digits, trim=trim)}°{letter}"

    def read(self, text: str, *, is_area: bool = False) -> str:
        """Return a number that is typed in this format as the API has it, ``1960.5``, and any other
        text unchanged.

        Args:
            is_area: typed in ``area_unit``; returned in hectares, to the square meter.
        """
        sign = re.escape(self.group).replace("'", "'\u2019")
        inner, last = (rf"[\s{sign}][0-9]{{{digits}}}" for digits in (self.second, self.first))
        whole = f"[0-9]+|[1-9][0-9]{{0,{self.second - 1}}}(?:{inner})*{last}"
        pattern = rf"([-\u2212]?)({whole})(?:{re.escape(self.decimal)}([0-9]+))?"
        if found := re.fullmatch(pattern, text):
            whole, decimals = re.sub("[^0-9]", "", found[2]), found[3]
            text = ("-" if found[1] else "") + whole + (f".{decimals}" if decimals else "")
        if is_area and self.area_unit == "acres":
            with suppress(ValueError):
                text = f"{float(text) / _ACRES:.4f}".rstrip("0").removesuffix(".")
        return text

    def field_text(self, text: str, *, is_area: bool = False) -> str:
        """Write a number of the API so that ``read`` returns it, and any other text unchanged.
        Only areas have group separators: others may be years."""
        found = re.fullmatch(r"(-?)0*([0-9]{1,12})(?:\.([0-9]{1,12}))?", text)
        if not found:
            return text
        if is_area and self.area_unit == "acres":
            for digits in range(5):
                acres = self.number(float(text) * _ACRES, digits, trim=True)
                if self.read(acres, is_area=True) == text:
                    break
            return acres
        return self._joined(bool(found[1]), found[2], found[3] or "", is_grouped=is_area)

    def date(self, day: date | str) -> str:
        """Write a day, or the day of a time: ``01/31/2026``."""
        return self._filled(self.dates, as_date(day))

    def moment(self, local: datetime) -> str:
        """Write a time of the reader's zone to the minute: ``01/31/2026, 2:05 PM``."""
        return self._filled(self.moments, local)

    def sentence(self, text: str) -> str:
        """Write the numbers in a sentence of the service, such as ``1,960.5``, as this format has
        them, except in quotation marks, ids and versions."""
        return _IN_SENTENCES.sub(self._rewritten, text)

    def _rewritten(self, match: re.Match[str]) -> str:
        whole, decimals, percent = match.groups()
        if whole is None or not ("," in whole or decimals or percent):
            return match[0]
        digits = whole.lstrip("-").replace(",", "")
        text = self._joined(whole[0] == "-", digits, decimals or "", is_grouped="," in whole)
        return self.percents.replace("{}", text) if percent else text

    def _joined(
        self, is_negative: bool, whole: str, decimals: str, *, is_grouped: bool = True
    ) -> str:
        rest, text = (whole[: -self.first], whole[-self.first :]) if is_grouped else ("", whole)
        while rest:
            rest, text = rest[: -self.second], rest[-self.second :] + self.group + text
        sign, point = self.minus if is_negative else "", self.decimal if decimals else ""
        return f"{sign}{text}{point}{decimals}"

    def _filled(self, pattern: str, moment: Any) -> str:
        hour = getattr(moment, "hour", 0)
        return pattern.format(
            year=f"{moment.year:04}",
            month=f"{moment.month:02}",
            day=f"{moment.day:02}",
            hour=f"{hour:02}",
            minute=f"{getattr(moment, 'minute', 0):02}",
            hour12=(hour + 11) % 12 + 1,
            half=self.am if hour < 12 else self.pm,
        )


def as_date(day: date | str) -> date:
    """Return the day that a text begins with, ``2026-01-31``."""
    return date.fromisoformat(day[:10]) if isinstance(day, str) else day


def find_locale(tags: Iterable[str]) -> str:
    """Return the first of these tags that is known, such as ``de-AT``, without what nobody knows at
    its end; ``en`` if there is none."""
    known = _known()
    for tag in tags:
        parts = tag.replace("_", "-").lower().split("-")
        for length in range(len(parts), 0, -1):
            if found := known.get("-".join(parts[:length])):
                return found
    return "en"


@cache
def format_in(locale: str, area_unit: str | None = None) -> Format:
    """Return the format of a known locale."""
    table = _table()
    row = table["formats"][table["locales"][locale]]
    return Format(*row)._replace(area_unit=area_unit if area_unit in AREA_UNITS else "hectares")


def locale_names() -> dict[str, str]:
    """Return the locales to choose from, with their names in their own languages."""
    names: dict[str, str] = _table()["names"]
    return names


@cache
def _table() -> dict[str, Any]:
    table: dict[str, Any] = json.loads(_FILE.read_text())
    return table


@cache
def _known() -> dict[str, str]:
    return {tag.lower(): tag for tag in _table()["locales"]}
