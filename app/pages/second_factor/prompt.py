"""Asking for a second factor, on two pages: the second step of signing in, and the confirmation of
what could hand over the account."""

from __future__ import annotations

from typing import Any, Final

from flask import request

from app.http.errors import RateLimited
from app.people.second_factor.authenticators import authenticator_since
from app.people.second_factor.challenges import Purpose
from app.people.second_factor.checking import CODE, PASSKEY, RECOVERY_CODE, Factor
from app.people.second_factor.passkeys import sign_in_options
from app.people.second_factor.recovery_codes import recovery_codes_left
from app.site.forms import Draft

# Fields, none of which another form has.
FIELDS: Final = {
    CODE: "second_factor_code",
    RECOVERY_CODE: "second_factor_recovery_code",
    PASSKEY: "second_factor_passkey",
}
_PROBLEMS: Final = {
    CODE: "This code is wrong or was already used. Wait for the next one, and check the clock "
    "of your phone.",
    RECOVERY_CODE: "This is not one of your recovery codes, or it was already used.",
    PASSKEY: "This passkey was not accepted. Try again, or use another way.",
}
_BLANK: Final = {
    CODE: "Enter the six-digit code.",
    RECOVERY_CODE: "Enter a recovery code.",
    PASSKEY: _PROBLEMS[PASSKEY],
}


def submitted_factor() -> Factor | None:
    """Return the second factor in the current form, with an empty value if its field is blank; None
    if the form has no field for it."""
    factors = [
        Factor(kind, request.form[field].strip())
        for kind, field in FIELDS.items()
        if field in request.form
    ]
    return next((factor for factor in factors if factor.value), next(iter(factors), None))


def factor_draft(wrong: Factor | None = None, rejection: RateLimited | None = None) -> Draft:
    """Return the form for a second factor.

    Args:
        wrong: the submitted factor, if it is wrong or blank.
        rejection: the reason why it was not checked.
    """
    draft = Draft()
    draft.rejection = rejection
    if wrong is not None:
        draft.errors[FIELDS[wrong.kind]] = [(_PROBLEMS if wrong.value else _BLANK)[wrong.kind]]
    return draft


def ways_of(purpose: Purpose) -> dict[str, Any]:
    """Return the variables of templates about the ways to give a second factor."""
    return {
        "fields": FIELDS,
        "has_app": authenticator_since(purpose.user_id) is not None,
        "options": sign_in_options(purpose),
        "codes_left": recovery_codes_left(purpose.user_id),
    }
