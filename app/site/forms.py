"""What all forms of pages share: how often they may be posted, how they are shown again, and the
precondition that nobody has changed what they change."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flask import Response, request
from flask_wtf import FlaskForm

from app.http.errors import ApiError, PreconditionFailed, RateLimited
from app.http.etags import IfMatch
from app.limits.counting import count_form_post
from app.policy.limits import FORMS
from app.security.tokens import hash_token
from app.site.cookies import ATTEMPT, read_cookie
from app.site.pages import page
from app.site.second_step import pending_sign_in
from app.site.signed_in import current_person
from app.values.email import EMAIL_LENGTH
from app.values.strict_json import loads
from app.values.text import fold


class PageForm(FlaskForm):  # type: ignore[misc]
    """A form of a page. One that is posted too often is not valid, and is shown again with what was
    typed, but for passwords.

    Attributes:
        rejection: why nothing was done, other than the errors of its fields; None otherwise.
    """

    rejection: ApiError | None = None

    @property
    def has_problem(self) -> bool:
        """Whether it is shown again because something is wrong."""
        return bool(self.errors or self.rejection)

    def validate(self, extra_validators: Mapping[str, Any] | None = None) -> bool:
        """Count the post, then look at the fields."""
        try:
            count_post()
        except RateLimited as error:
            self.rejection = error
            return False
        return bool(super().validate(extra_validators))


class Unchanged(IfMatch):
    """The precondition that some fields of a record are still as a page showed them. Others may
    have changed, such as when a member was last active."""

    def __init__(self, **shown: Any) -> None:
        super().__init__(None)
        self._shown = shown

    def check(self, data: bytes) -> None:
        """Raises PreconditionFailed if one of the fields differs."""
        record = loads(data)
        if any(record[name] != value for name, value in self._shown.items()):
            raise PreconditionFailed


def form_page(template: str, form: PageForm, status: int | None = None, **values: Any) -> Response:
    """Render a page with a form.

    Args:
        status: without it, 200 at first, 422 with errors, or that of the form's rejection.
    """
    if form.rejection is None:
        return page(template, status or (422 if form.errors else 200), form=form, **values)
    response = page(template, form.rejection.status, form=form, **values)
    response.headers.update(form.rejection.headers)
    return response


def count_post() -> None:
    """Count the current post of a form, if ``app.policy.limits.FORMS`` has it.

    Raises:
        RateLimited: it is one too many.
    """
    route = request.url_rule.rule if request.url_rule else ""
    if kind := FORMS.get(route):
        count_form_post(_subject(kind))


def _subject(kind: str) -> str:
    """Whom or what the current post is about."""
    if kind == "token":
        return str((request.view_args or {}).get("token"))
    if kind == "sign-in":
        return str(getattr(pending_sign_in(), "token_hash", ""))
    if kind == "attempt":  # which the view has found, or else anybody could make up one
        return hash_token(read_cookie(ATTEMPT))
    person = current_person()
    if kind == "person" and person is not None:
        return person.user_id
    return fold(request.form.get("email", "").strip()[:EMAIL_LENGTH])
