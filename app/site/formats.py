"""Numbers, units, dates and times on pages, as the reader writes them (``app.values.formats``).

That is by the locale of their profile or, if they have chosen none, of their browser.
"""

from __future__ import annotations

import json
import re
from datetime import date, datetime
from typing import Any, Final

from flask import Flask, g, has_request_context, request
from jinja2 import pass_context
from markupsafe import Markup

from app.values.clock import describe_duration, format_optional_time, parse_time
from app.values.formats import Format, find_locale, format_in
from app.values.local_times import local_time
from app.values.timestamps import TimestampInvalid, read_timestamp

_FIELD: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?")  # as browsers send times


def init_app(app: Flask) -> None:
    """Register the filters of templates; ``js/formats.js`` has functions of the same names, but for
    ``km``, as Jinja has a filter ``length``."""
    for name in ("number", "percent", "bytes", "degrees", "degree", "sentence"):
        app.add_template_filter(_as_reader_writes(name), name)
    app.add_template_filter(_as_reader_writes("length"), "km")
    app.add_template_filter(pluralize)
    app.add_template_filter(area_element, "area")
    app.add_template_filter(day_text, "date")
    app.add_template_filter(moment, "moment")
    app.add_template_filter(time_element, "time")
    app.add_template_filter(describe_duration, "span")


def reader() -> Format:
    """Return the format of who reads this page."""
    if not has_request_context():
        return format_in("en")
    person = g.get("person")
    return format_in(reader_locale(), person.area_unit if person else None)


def reader_locale() -> str:
    """Return the tag of the reader's locale, such as ``de-AT``."""
    person = g.get("person")
    chosen = [person.locale] if person and person.locale else []
    return find_locale([*chosen, *request.accept_languages.values()])


def number(value: float, digits: int = 0, *, trim: bool = False) -> str:
    """Write a number with so many decimals: ``1,960.50``."""
    return reader().number(value, digits, trim=trim)


def pluralize(count: int, noun: str, several: str = "") -> str:
    """Write a number with its noun: ``1 seat``, ``1,200 seats``.

    Args:
        several: the plural; empty: ``noun`` with an s.
    """
    return f"{number(count)} {noun if count == 1 else several or noun + 's'}"


def area(hectares: float, *, trim: bool = False) -> str:
    """Write an area in the reader's unit: ``1,960.50 ha``."""
    return reader().area(hectares, trim=trim)


def percent(share: float, *, trim: bool = False) -> str:
    """Write a share with one decimal: ``30.6%``."""
    return reader().percent(share, trim=trim)


def byte_size(size: float) -> str:
    """Write a size in bytes: ``1.5 MB``."""
    return reader().bytes(size)


def sentence(text: str) -> str:
    """Write the numbers in a sentence of a service as the reader does."""
    return reader().sentence(text)


def degrees(latitude: float, longitude: float, digits: int = 4) -> str:
    """Write a place: ``46.4533° N 22.9657° E``."""
    return reader().degrees(latitude, longitude, digits)


def area_element(hectares: float) -> Markup:
    """Return the element for an area, with all digits that the API has in its title."""
    written, full = reader(), reader().number(hectares, 4)
    return Markup('<data value="{}" title="{} ha">{}</data>').format(
        hectares, full, written.area(hectares)
    )


def day_text(day: date | str) -> str:
    """Write a day: ``01/31/2026``."""
    return reader().date(day)


def time_element(value: datetime | str) -> Markup:
    """Return the ``<time>`` element for a timestamp.

    Without a title, js/formats.js rewrites it in the browser's time zone, for people who have
    chosen none.
    """
    timestamp, zone = str(format_optional_time(value)), _zone()
    text = moment(value)
    if not zone:
        return Markup('<time datetime="{}">{}</time>').format(timestamp, text)
    local = local_time(parse_time(timestamp), zone)
    title = f"{local:%A}, {text} {zone} (UTC{local.isoformat()[-6:]})"
    return Markup('<time datetime="{}" title="{}">{}</time>').format(timestamp, title, text)


def moment(value: datetime | str) -> str:
    """Write a timestamp as ``01/31/2026, 2:05 PM UTC``, or without ``UTC`` in the zone that the
    signed-in person has chosen."""
    zone = _zone()
    local = local_time(parse_time(str(format_optional_time(value))), zone)
    return reader().moment(local) + ("" if zone else " UTC")


def document_attributes() -> dict[str, Any]:
    """Return the attributes of the root element that js/formats.js reads."""
    attributes = {
        "data-locale": reader_locale(),
        "data-format": json.dumps(reader()._asdict(), ensure_ascii=False, separators=(",", ":")),
    }
    return attributes | ({"data-time-zone": zone} if (zone := _zone()) else {})


def field_timestamp(text: str) -> str:
    """Return the text of a field for a time as an RFC 3339 timestamp, and any other text unchanged.

    js/formats.js sends times in UTC. Without scripts, people type them in UTC.
    """
    if not _FIELD.fullmatch(text):
        return text
    timestamp = f"{text}:00Z" if text.count(":") == 1 else f"{text}Z"
    try:
        read_timestamp(timestamp)
    except TimestampInvalid:
        return text  # the schema says what is wrong
    return timestamp


def time_field_text(moment: datetime | None) -> str:
    """Return the text of a field for a time, in UTC; empty for None."""
    return "" if moment is None else f"{moment:%Y-%m-%dT%H:%M:%S}"


def _as_reader_writes(name: str) -> Any:
    """Return the filter for a method of ``Format``. As it takes the context, Jinja does not apply
    it to constants when it compiles a template, which would write them as the first reader does."""
    return pass_context(lambda _, *values, **options: getattr(reader(), name)(*values, **options))


def _zone() -> str | None:
    person = g.get("person")
    return person.time_zone if person else None
