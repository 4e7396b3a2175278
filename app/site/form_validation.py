"""What a form asks before it is sent: whether an address or a slug has the right form.

Nothing is looked up, so that neither an answer nor its time tells whether somebody has it already.
"""

from __future__ import annotations

import marshmallow as ma
from flask import Blueprint, Response

from app.api.web_routes import answer, read_body
from app.policy.bounds import NAME_LENGTH, RESERVED_SLUGS
from app.values.email import EMAIL_LENGTH, email_problem
from app.values.fields import InputSchema, Text
from app.values.text import slugify

bp = Blueprint("forms", __name__)


class EmailSchema(InputSchema):
    """An e-mail address."""

    email = Text(longest=EMAIL_LENGTH, required=True)

    @ma.validates("email")
    def check_email(self, value: str, data_key: str) -> None:
        if (fault := email_problem(value)) is not None:
            raise ma.ValidationError(fault)


class SlugSchema(InputSchema):
    """A slug, or a name that one is made of."""

    slug = Text(shortest=1, longest=NAME_LENGTH, required=True)


@bp.post("/api/auth/check-email")
@bp.post("/api/onboarding/validate-email")
def check_email() -> Response:
    """Whether this is an e-mail address: 200, or 422 that says what is wrong with it."""
    read_body(EmailSchema)
    return answer({"valid": True})


@bp.post("/api/onboarding/validate-slug")
@bp.post("/api/projects/validate-slug")
def validate_slug() -> Response:
    """Whether this has the form of a slug and is no reserved word, and the slug made of it."""
    given: str = read_body(SlugSchema)["slug"]
    slug = slugify(given)
    return answer({"valid": slug == given and slug not in RESERVED_SLUGS, "slug": slug})
