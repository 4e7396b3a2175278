"""Validation of a new account."""

from __future__ import annotations

from collections.abc import Iterator

from app.http.errors import Detail, InvalidField, ValidationFailed
from app.limits.plan_file import plans
from app.policy.request_limits import ACCOUNT_TYPES
from app.security.passwords import password_problem
from app.values.email import email_problem
from app.values.text import name_problem


def check_account(name: str, email: str, password: str | None, type: str) -> None:
    """Raise ValidationFailed with every invalid field. Does not access the database."""
    if details := list(_account_problems(name, email, password, type)):
        raise ValidationFailed(details=details)


def check_name(name: str) -> None:
    """Raise ValidationFailed for a name that an account cannot have."""
    if problem := name_problem(name):
        raise InvalidField("name", problem, "invalid")


def check_plan(plan: str) -> None:
    """Raise ValidationFailed if there is no such plan."""
    if plan not in plans():
        names = ", ".join(plans())
        raise InvalidField("plan", f"Must be one of {names}.", "not_one_of")


def _account_problems(name: str, email: str, password: str | None, type: str) -> Iterator[Detail]:
    if problem := name_problem(name):
        yield Detail("name", problem, "invalid")
    if problem := email_problem(email):
        yield Detail("owner_email", problem, "wrong_format")
    if password is not None and (problem := password_problem(password)):
        yield Detail("owner_password", problem, "invalid")
    if type not in ACCOUNT_TYPES:
        yield Detail("type", f"Must be one of {', '.join(ACCOUNT_TYPES)}.", "not_one_of")
