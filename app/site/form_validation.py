"""Validation of email addresses and slugs before a form is sent.

Nothing is looked up, so that neither the response nor its timing reveals if a value is taken.
"""

from __future__ import annotations

from flask import Blueprint, Response

from app.api.web_routes import json_response, read_body
from app.policy.request_limits import NAME_LENGTH
from app.values.schemas import Email, InputSchema, Text
from app.values.text import unreserved_slug

bp = Blueprint("forms", __name__)


class EmailSchema(InputSchema):
    """An email address."""

    email = Email(required=True)


class SlugSchema(InputSchema):
    """A slug, or a name to derive one from."""

    slug = Text(shortest=1, longest=NAME_LENGTH, required=True)


@bp.post("/api/auth/check-email")
@bp.post("/api/onboarding/validate-email")
def check_email() -> Response:
    """Validate an email address: 200, or 422 with the problem."""
    read_body(EmailSchema)
    return json_response({"valid": True})


@bp.post("/api/onboarding/validate-slug")
@bp.post("/api/projects/validate-slug")
def validate_slug() -> Response:
    """Return whether a slug is valid and not reserved, and the slug derived from it."""
    text: str = read_body(SlugSchema)["slug"]
    slug = unreserved_slug(text)
    return json_response({"valid": slug == text, "slug": slug})
