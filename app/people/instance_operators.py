"""The operators of the instance. Only commands add and remove them."""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import select

from app.audit.entries import write_entry
from app.db.column_types import api_column
from app.db.extensions import db
from app.db.queries import CompiledQuery
from app.models import User
from app.policy.audit import INSTANCE
from app.values import clock

_ALL: Final = CompiledQuery(
    select(
        *map(api_column, (User.id, User.email, User.name, User.operator_since)),
        User.email_verified_at.is_not(None).label("email_verified"),
        User.second_factor_since.is_not(None).label("has_second_factor"),
    )
    .where(User.operator_since.is_not(None))
    .order_by(User.operator_since, User.id)
)


def add_operator(user_id: str) -> bool:
    """Make a person an operator. Returns False if they are one already. The caller commits."""
    person = db.session.get_one(User, user_id, with_for_update=True)
    if person.operator_since is not None:
        return False
    person.operator_since = clock.now()
    write_entry("operator.added", person, account_id=INSTANCE)
    return True


def remove_operator(user_id: str) -> bool:
    """Remove a person from the operators, as of their next request. Returns False if they are not
    one. The caller commits."""
    person = db.session.get_one(User, user_id, with_for_update=True)
    if person.operator_since is None:
        return False
    person.operator_since = None
    write_entry("operator.removed", person, account_id=INSTANCE)
    return True


def list_operators() -> list[dict[str, Any]]:
    """List the operators in the order in which they were added: ``id``, ``email``, ``name``,
    ``operator_since``, ``email_verified`` and ``has_second_factor``."""
    return [
        row._asdict()
        | {name: bool(getattr(row, name)) for name in ("email_verified", "has_second_factor")}
        for row in _ALL.all()
    ]
