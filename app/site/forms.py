"""Forms of pages: a draft with texts and errors, which a schema loads and a page shows; counting of
posts; the precondition that a record is unchanged."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import marshmallow as ma
from flask import Response, request
from werkzeug.datastructures import MultiDict

from app.http.errors import (
    ApiError,
    Conflict,
    Forbidden,
    PreconditionFailed,
    RateLimited,
    ValidationFailed,
)
from app.http.etags import IfMatch
from app.limits.counting import count_form_post
from app.policy.rate_limits import FORMS
from app.security.tokens import hash_token
from app.site.cookies import ATTEMPT, read_cookie
from app.site.pages import page
from app.site.second_step import pending_sign_in
from app.site.signed_in import current_person
from app.values.email import EMAIL_LENGTH
from app.values.folding import fold_text
from app.values.strict_json import loads
from app.values.text import with_line_feeds


class Draft:
    """The texts of a form, and its errors.

    Attributes:
        texts: texts by field, or lists where several can be chosen.
        loaded: the values that the schema loaded, even if there are other errors.
        errors: messages by field.
        rejection: an error that concerns no single field.
    """

    def __init__(self, texts: Mapping[str, Any] | None = None) -> None:
        self.texts: dict[str, Any] = dict(texts or {})
        self.loaded: dict[str, Any] = {}
        self.errors: dict[str, list[str]] = {}
        self.rejection: ApiError | None = None
        self._status_of_errors = 422

    @property
    def status(self) -> int:
        """The status of the page with the form."""
        if self.rejection is not None:
            return self.rejection.status
        return self._status_of_errors if self.errors else 200

    @property
    def has_problem(self) -> bool:
        """True if the form has an error or was rejected."""
        return bool(self.errors or self.rejection)

    @property
    def values(self) -> dict[str, Any]:
        """The loaded values; empty before the form is sent, and if it has a problem."""
        return {} if self.has_problem else self.loaded

    def load(self, schema: ma.Schema, values: Mapping[str, Any]) -> None:
        """Load values, unless the form was posted too often."""
        try:
            count_post()
            self.loaded = schema.load(values)
        except RateLimited as error:
            self.rejection = error
        except ma.ValidationError as error:
            self.errors |= errors_by_field(error)

    def show(self, error: ApiError, names: Mapping[str, str] | None = None) -> None:
        """Add the error of a service, beside its fields or else as the rejection.

        Args:
            names: names of fields in this form, by their names in the service.
        """
        for detail in error.details:
            name = (names or {}).get(detail.field, detail.field)
            if name in self.texts:
                self.errors.setdefault(name, []).append(detail.message)
        if not self.errors:
            self.rejection = error
        elif isinstance(error, Conflict):
            self._status_of_errors = error.status

    @contextmanager
    def refusals(self, names: Mapping[str, str] | None = None) -> Iterator[None]:
        """Catch the errors of a service in the block, and ``show`` them."""
        try:
            yield
        except (
            Conflict, Forbidden, PreconditionFailed, RateLimited, ValidationFailed
        ) as error:  # fmt: skip
            self.show(error, names)


def sent_draft(schema: ma.Schema) -> Draft:
    """Return the form of the current request, which the schema has loaded if it was sent.

    Blank texts count as missing.
    """
    draft = Draft(form_texts(request.form, schema.load_fields))
    if request.method == "POST":
        draft.load(schema, {name: text for name, text in draft.texts.items() if text.strip()})
    return draft


def form_texts(
    form: MultiDict[str, str], names: Iterable[str], lists: Iterable[str] = ()
) -> dict[str, Any]:
    """Return texts by field, with line feeds as line breaks.

    Args:
        lists: names of fields with several values.
    """
    texts = {name: with_line_feeds(form.get(name, "")) for name in names}
    return texts | {name: form.getlist(name) for name in lists}


def errors_by_field(error: ma.ValidationError) -> dict[str, list[str]]:
    """Return the messages of a schema by field."""
    return {name: _flat_messages(messages) for name, messages in dict(error.messages_dict).items()}


def _flat_messages(messages: Any) -> list[str]:
    if isinstance(messages, dict):
        return [text for value in messages.values() for text in _flat_messages(value)]
    return list(messages) if isinstance(messages, list) else [str(messages)]


class Unchanged(IfMatch):
    """The precondition that some fields of a record are as the page showed them. Others may have
    changed, such as the last activity of a member."""

    def __init__(self, **fields: Any) -> None:
        super().__init__(None)
        self._fields = fields

    def check(self, data: bytes) -> None:
        """Raise PreconditionFailed if one of the fields differs."""
        record = loads(data)
        if any(record[name] != value for name, value in self._fields.items()):
            raise PreconditionFailed


def form_page(template: str, draft: Draft, status: int | None = None, **values: Any) -> Response:
    """Render a page with a form.

    Args:
        status: by default, the draft's.
    """
    response = page(template, status or draft.status, draft=draft, **values)
    if draft.rejection is not None:
        response.headers.update(draft.rejection.headers)
    return response


def count_post() -> None:
    """Count the current post, if ``app.policy.rate_limits.FORMS`` has its form. Raises
    RateLimited."""
    route = request.url_rule.rule if request.url_rule else ""
    if kind := FORMS.get(route):
        count_form_post(_limit_subject(kind))


def _limit_subject(kind: str) -> str:
    """Return the subject that the current post is counted for."""
    if kind == "token":
        return str((request.view_args or {}).get("token"))
    if kind == "sign-in":
        return str(getattr(pending_sign_in(), "token_hash", ""))
    if kind == "attempt":  # the view has found it, or anybody could make one up
        return hash_token(read_cookie(ATTEMPT))
    person = current_person()
    if kind == "person" and person is not None:
        return person.user_id
    return fold_text(request.form.get("email", "").strip()[:EMAIL_LENGTH])
