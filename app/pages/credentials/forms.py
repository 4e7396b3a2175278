"""The form that creates a key or a token."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final, Self

from werkzeug.datastructures import MultiDict

from app.http.errors import ApiError, InvalidField
from app.policy.request_limits import KEY_DAYS
from app.site.forms import Draft, form_texts
from app.values import clock

SCOPES: Final = {"all": "All projects, including future ones", "some": "Only these projects"}
LIVES: Final = {
    "30": "30 days",
    "90": "90 days",
    "365": "1 year",
    "never": "Never",
    "date": "On a date",
}
_DEFAULT: Final = {"scope": "all", "life": str(KEY_DAYS)}
_MISSING: Final[Mapping[str, str]] = {
    "name": "Required.",
    "permissions": "Choose at least one.",
    "project_ids": "Choose at least one project.",
}


class CredentialDraft(Draft):
    """The form of a new key or token."""

    @classmethod
    def sent(cls, form: MultiDict[str, str]) -> Self:
        """Return the form as it was sent. A URL can have some of its fields."""
        names = ("name", "scope", "life", "expires_on", "ip_allowlist")
        return cls(form_texts(form, names, lists=("permissions", "project_ids")))

    @classmethod
    def new(cls, arguments: MultiDict[str, str]) -> Self:
        """Return the form as a URL fills it in."""
        draft = cls.sent(arguments)
        for name, text in _DEFAULT.items():
            draft.texts[name] = draft.texts[name] or text
        return draft

    def arguments(self, *, expires: bool) -> dict[str, Any]:
        """Return the arguments for ``create_credential``. Raises ValidationFailed with their
        names."""
        arguments: dict[str, Any] = {name: self.texts[name] for name in ("name", "permissions")}
        if self.texts["scope"] != "all":
            arguments["project_ids"] = self.texts["project_ids"]
        if expires:
            return arguments | {"expires_at": self._expiry()}
        return arguments | {"ip_allowlist": self.texts["ip_allowlist"].split()}

    def show(self, error: ApiError, names: Mapping[str, str] | None = None) -> None:
        super().show(error, {"expires_at": "life"})
        for name, message in _MISSING.items():
            if name in self.errors and not self.texts[name]:
                self.errors[name] = [message]

    def _expiry(self) -> datetime | None:
        """Return the time of expiry; None for never. Raises ValidationFailed."""
        life = self.texts["life"]
        if life == "never":
            return None
        if life == "date":
            return _end_of_day(self.texts["expires_on"])
        if life not in LIVES:
            raise InvalidField("expires_at", "Not a valid choice.", "not_one_of")
        return clock.now() + timedelta(days=int(life))


def _end_of_day(text: str) -> datetime:
    try:
        day = datetime.strptime(text.strip(), "%Y-%m-%d")
        return day.replace(tzinfo=UTC) + timedelta(days=1)
    except (ValueError, OverflowError):
        raise InvalidField("expires_at", "Choose a date, such as 2027-01-31.", "invalid") from None
