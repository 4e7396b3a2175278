"""Forms on a person's own pages."""

from __future__ import annotations

from datetime import datetime
from typing import Final

import marshmallow as ma
from marshmallow import fields, validate

from app.policy.dates import DATE_FORMATS
from app.site.form_fields import FormSchema, NewPassword, Slug
from app.values.local_times import format_local_time, zones_by_region
from app.values.schemas import Name

_AUTOMATIC: Final = {"": "Browser default"}
_EXAMPLE: Final = datetime(2026, 1, 31, 14, 5)
_UNKNOWN: Final = "Not a valid choice."


def time_zones() -> dict[str, str | dict[str, str]]:
    """Return the zones by region, with the name of the place as a label."""
    zones: dict[str, str | dict[str, str]] = {**_AUTOMATIC}
    for region, names in zones_by_region().items():
        zones[region] = {name: name.removeprefix(f"{region}/").replace("_", " ") for name in names}
    return zones


def date_formats() -> dict[str, str]:
    """Return the date formats, each with an example."""
    return _AUTOMATIC | {name: format_local_time(_EXAMPLE, name) for name in DATE_FORMATS}


def _check_zone(name: str) -> None:
    if all(name not in names for names in zones_by_region().values()):
        raise ma.ValidationError(_UNKNOWN)


class PasswordSchema(FormSchema):
    password = fields.String(required=True)
    new_password = NewPassword()


class TimesSchema(FormSchema):
    time_zone = fields.String(load_default=None, validate=_check_zone)
    date_format = fields.String(
        load_default=None, validate=validate.OneOf(DATE_FORMATS, error=_UNKNOWN)
    )


class AccountSchema(FormSchema):
    account_name = Name(required=True)
    account_slug = Slug()
