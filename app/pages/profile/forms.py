"""Forms on a person's own pages."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from wtforms import SelectField

from app.policy.dates import DATE_FORMATS
from app.site.fields import (
    account_name_field,
    name_field,
    new_password_field,
    password_field,
    slug_field,
)
from app.site.forms import PageForm
from app.values.local_times import written, zones_by_region

_AUTOMATIC: Final = "Browser default"
_EXAMPLE: Final = datetime(2026, 1, 31, 14, 5)


def _zones() -> dict[str, str | dict[str, str]]:
    """The zones by region, each called after its place."""
    found: dict[str, str | dict[str, str]] = {"": _AUTOMATIC}
    for region, names in zones_by_region().items():
        found[region] = {name: name.removeprefix(f"{region}/").replace("_", " ") for name in names}
    return found


def _dates() -> dict[str, str]:
    return {"": _AUTOMATIC} | {name: written(_EXAMPLE, name) for name in DATE_FORMATS}


class NameForm(PageForm):
    name = name_field("Your name", autocomplete="name")


class PasswordForm(PageForm):
    password = password_field("Current password")
    new_password = new_password_field("New password")


class TimesForm(PageForm):
    time_zone = SelectField("Time zone", choices=_zones, default="")
    date_format = SelectField("Dates", choices=_dates, default="")


class AccountForm(PageForm):
    account_name = account_name_field()
    account_slug = slug_field("Short name")
