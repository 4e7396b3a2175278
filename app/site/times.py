"""Times on pages, in the time zone and date format that the signed-in person has chosen."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any, Final

from flask import g
from markupsafe import Markup

from app.policy.dates import DATE_FORMATS
from app.values.clock import format_optional_time, parse_time
from app.values.local_times import format_local_time, local_time
from app.values.timestamps import TimestampInvalid, read_timestamp

_FIELD: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?")  # as browsers send times


def time_element(value: datetime | str) -> Markup:
    """Return the ``<time>`` element for a timestamp.

    Without a title, js/times.js rewrites it in the browser's time zone and date format, for people
    who have chosen none.
    """
    timestamp, person = str(format_optional_time(value)), g.get("person")
    text = format_moment(value)
    if person is None or not (person.time_zone and person.date_format):
        return Markup('<time datetime="{}">{}</time>').format(timestamp, text)
    local = local_time(parse_time(timestamp), person.time_zone)
    title = f"{local:%A}, {text} {person.time_zone} (UTC{local.isoformat()[-6:]})"
    return Markup('<time datetime="{}" title="{}">{}</time>').format(timestamp, title, text)


def format_moment(value: datetime | str) -> str:
    """Format a timestamp as ``2026-01-31, 14:05 UTC``, or without ``UTC`` in the zone that the
    signed-in person has chosen."""
    moment, person = parse_time(str(format_optional_time(value))), g.get("person")
    zone, form = (person.time_zone, person.date_format) if person else (None, None)
    return format_local_time(local_time(moment, zone), form) + ("" if zone else " UTC")


def document_attributes() -> dict[str, Any]:
    """Return the attributes of the root element that js/times.js reads: time zone and date
    format."""
    person = g.get("person")
    if person is None:
        return {}
    attributes = {
        "data-time-zone": person.time_zone,
        "data-dates": DATE_FORMATS.get(person.date_format or ""),
    }
    return {name: value for name, value in attributes.items() if value}


def field_timestamp(text: str) -> str:
    """Return the text of a field for a time as an RFC 3339 timestamp, and any other text unchanged.

    js/times.js sends times in UTC. Without scripts, people type them in UTC.
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
