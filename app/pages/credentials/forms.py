"""The form that creates a key or a token."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from wtforms import RadioField, SelectMultipleField, StringField, TextAreaField
from wtforms.fields.choices import SelectChoice

from app.http.errors import Detail, ValidationFailed
from app.policy.bounds import NAME_LENGTH
from app.site.forms import PageForm
from app.values import clock

_LIVES: Final = [
    SelectChoice("30", "30 days"),
    SelectChoice("90", "90 days"),
    SelectChoice("365", "1 year"),
    SelectChoice("never", "Never"),
    SelectChoice("date", "On a date"),
]


class CredentialForm(PageForm):
    """What a new key or token is for, what it may do, and for how long."""

    name = StringField(
        "Name",
        render_kw={"autocomplete": "off", "maxlength": NAME_LENGTH},
    )
    permissions = SelectMultipleField("Permissions", validate_choice=False)
    scope = RadioField(
        "Projects",
        choices=[
            SelectChoice("all", "All projects, including future ones"),
            SelectChoice("some", "Only these projects"),
        ],
        default="all",
    )
    project_ids = SelectMultipleField("Projects", validate_choice=False)
    life = RadioField("Expires", choices=_LIVES, default="365")
    expires_on = StringField("Date")
    ip_allowlist = TextAreaField(
        "From which addresses? (optional)",
        description="One IP address or network per line, such as 203.0.113.7 or 10.0.0.0/8. Leave "
        "it empty to allow all.",
        render_kw={"rows": 3, "spellcheck": "false"},
    )

    @property
    def is_limited(self) -> bool:
        """Whether it is for some projects only."""
        return bool(self.scope.data == "some")

    def values(self, *, expires: bool) -> dict[str, Any]:
        """What ``create_credential`` takes. Raises ValidationFailed, by the fields of that."""
        limits = {"project_ids": self.project_ids.data or []} if self.is_limited else {}
        given = {"name": self.name.data or "", "permissions": self.permissions.data or [], **limits}
        if expires:
            return given | {"expires_at": self._end()}
        return given | {"ip_allowlist": (self.ip_allowlist.data or "").split()}

    def show(self, error: ValidationFailed) -> None:
        """Show what is wrong at the fields."""
        for detail in error.details:
            field = self[_FIELDS.get(detail.field, detail.field)]
            message = detail.message if field.data else _MISSING.get(field.name, detail.message)
            field.errors = [*field.errors, message]

    def _end(self) -> datetime | None:
        """The end of the day that was chosen, in UTC. Raises ValidationFailed."""
        life = self.life.data
        if life == "never":
            return None
        if life != "date":
            return clock.now() + timedelta(days=int(life))
        try:
            day = datetime.strptime((self.expires_on.data or "").strip(), "%Y-%m-%d")
            return day.replace(tzinfo=UTC) + timedelta(days=1)
        except (ValueError, OverflowError):
            message = "Choose a date, such as 2027-01-31."
            raise ValidationFailed(details=[Detail("expires_at", message)]) from None


_FIELDS: Final[Mapping[str, str]] = {"expires_at": "life"}
_MISSING: Final[Mapping[str, str]] = {
    "name": "Required.",
    "permissions": "Choose at least one.",
    "project_ids": "Choose at least one project.",
}
