"""Times on pages, in the time zone and date format that the signed-in person has chosen."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from flask import g
from markupsafe import Markup

from app.policy.dates import DATE_FORMATS
from app.values.clock import format_optional_time, parse_time
from app.values.local_times import format_local_time, local_time


def time_element(value: datetime | str) -> Markup:
    """A timestamp for people. Without a title it is rewritten by js/times.js, in the browser's time
    zone and date format where the person has chosen none."""
    text, person = str(format_optional_time(value)), g.get("person")
    shown = format_moment(value)
    if person is None or not (person.time_zone and person.date_format):
        return Markup('<time datetime="{}">{}</time>').format(text, shown)
    local = local_time(parse_time(text), person.time_zone)
    full = f"{local:%A}, {shown} {person.time_zone} (UTC{local.isoformat()[-6:]})"
    return Markup('<time datetime="{}" title="{}">{}</time>').format(text, full, shown)


def format_moment(value: datetime | str) -> str:
    """A timestamp for people: ``2026-01-31, 14:05 UTC``; without ``UTC`` where the signed-in person
    has chosen a zone."""
    moment, person = parse_time(str(format_optional_time(value))), g.get("person")
    zone, form = (person.time_zone, person.date_format) if person else (None, None)
    return format_local_time(local_time(moment, zone), form) + ("" if zone else " UTC")


def document_attributes() -> dict[str, Any]:
    """The attributes of the root element that js/times.js reads: time zone and date format."""
    person = g.get("person")
    if person is None:
        return {}
    found = {
        "data-time-zone": person.time_zone,
        "data-dates": DATE_FORMATS.get(person.date_format or ""),
    }
    return {name: value for name, value in found.items() if value}
