"""The forms of an application that the account registers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Self

from marshmallow import fields
from werkzeug.datastructures import MultiDict

from app.http.errors import ApiError
from app.policy.deliveries import OVERLAP_HOURS_MAX
from app.site.form_fields import FormSchema, WholeNumber
from app.site.forms import Draft, form_texts

KINDS: Final = {
    "secret": "Yes: it runs on a server of yours. It gets a client secret.",
    "public": "No: it runs on phones or computers, or in browsers, where anybody could read a "
    "secret. It gets none, and must use PKCE.",
}


class ApplicationDraft(Draft):
    """A new application, or changes of one. The service validates it."""

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> Self:
        """Return the form of a saved application."""
        uris = "\n".join(record["redirect_uris"])
        return cls({"name": record["name"], "redirect_uris": uris, "scopes": record["scopes"]})

    @classmethod
    def sent(cls, form: MultiDict[str, str]) -> Self:
        """Return the form as it was sent."""
        names = ("name", "redirect_uris", "kind", "end_access")
        return cls(form_texts(form, names, lists=("scopes",)))

    def arguments(self) -> dict[str, Any]:
        """Return the arguments for ``create_application`` and ``update_application``."""
        lines = (line.strip() for line in self.texts["redirect_uris"].splitlines())
        uris = [line for line in lines if line]
        return {"name": self.texts["name"], "redirect_uris": uris, "scopes": self.texts["scopes"]}

    def show(self, error: ApiError, names: Mapping[str, str] | None = None) -> None:
        super().show(error, names)
        if self.errors and not self.texts["scopes"]:
            self.errors["scopes"] = ["Choose at least one."]


class RotateSchema(FormSchema):
    overlap_hours = WholeNumber(
        0, OVERLAP_HOURS_MAX, f"Must be a whole number of hours from 0 to {OVERLAP_HOURS_MAX}."
    )
    mark = fields.String(load_default="")  # mark of the secret when the page was loaded
