"""Forms on a person's own pages."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Final

import marshmallow as ma
from flask import request
from marshmallow import fields, validate

from app.site.form_fields import FormSchema, NewPassword
from app.values.formats import AREA_UNITS, find_locale, format_in, locale_names
from app.values.local_times import zones_by_region

_AUTOMATIC: Final = {"": "Browser default"}
_EXAMPLE: Final = datetime(2026, 1, 31, 14, 5)
_UNKNOWN: Final = "Not a valid choice."


def time_zones() -> dict[str, str | dict[str, str]]:
    """Return the zones by region, with the name of the place as a label."""
    zones: dict[str, str | dict[str, str]] = {**_AUTOMATIC}
    for region, names in zones_by_region().items():
        zones[region] = {name: name.removeprefix(f"{region}/").replace("_", " ") for name in names}
    return zones


def locales() -> dict[str, str]:
    """Return the locales by name, each with an example."""
    names = {"": f"Browser default ({find_locale(request.accept_languages.values())})"}
    shown = names | locale_names()
    return {tag: f"{name}: {_example(tag)}" for tag, name in shown.items()}


def _example(tag: str) -> str:
    form = format_in(tag or find_locale(request.accept_languages.values()))
    return f"{form.number(1234.56, 2)} · {form.moment(_EXAMPLE)}"


def _check_zone(name: str) -> None:
    if all(name not in names for names in zones_by_region().values()):
        raise ma.ValidationError(_UNKNOWN)


class PasswordSchema(FormSchema):
    password = fields.String(required=True)
    new_password = NewPassword()


def _one_of(names: Iterable[str]) -> fields.String:
    return fields.String(load_default=None, validate=validate.OneOf(names, error=_UNKNOWN))


class FormatsSchema(FormSchema):
    locale = _one_of(locale_names())
    area_unit = _one_of(AREA_UNITS)
    time_zone = fields.String(load_default=None, validate=_check_zone)
