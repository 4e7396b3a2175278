"""The people who use an application: how many in all accounts, and who in one account."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, NamedTuple

from sqlalchemy import Text, and_, bindparam, cast, func

from app.auth.tenant import columns_of
from app.db.queries import CompiledQuery
from app.models import OAuthApplication, OAuthAuthorization, OAuthConsent, User
from app.policy.oauth import PEOPLE_SHOWN
from app.values import clock
from app.values.strict_json import loads

_NUMBERS = CompiledQuery(
    columns_of(OAuthApplication, OAuthApplication.id)
    .add_columns(
        func.count(OAuthConsent.user_id.distinct()).label("people"),
        func.max(OAuthAuthorization.last_used_at).label("last_used_at"),
    )
    .outerjoin(OAuthConsent, OAuthConsent.application_id == OAuthApplication.id)
    .outerjoin(
        OAuthAuthorization,
        and_(
            OAuthAuthorization.account_id == OAuthConsent.account_id,
            OAuthAuthorization.user_id == OAuthConsent.user_id,
            OAuthAuthorization.application_id == OAuthConsent.application_id,
        ),
    )
    .group_by(OAuthApplication.id)
)
_GRANTED = CompiledQuery(
    columns_of(OAuthApplication)
    .select_from(OAuthApplication)
    .add_columns(OAuthConsent.user_id, cast(OAuthConsent.scopes, Text).label("scopes"))
    .join(OAuthConsent, OAuthConsent.application_id == OAuthApplication.id)
    .where(OAuthApplication.id == bindparam("client_id"))
)
_OWN = CompiledQuery(
    columns_of(OAuthConsent, OAuthConsent.created_at)
    .add_columns(User.name, User.email, func.count().over().label("total"))
    .join(User, User.id == OAuthConsent.user_id)
    .where(OAuthConsent.application_id == bindparam("client_id"))
    .order_by(OAuthConsent.created_at.desc(), User.id)
    .limit(bindparam("most"))
)


class ApplicationUse(NamedTuple):
    """The number of people who have granted an application access, and its last use, or None."""

    people: int
    last_used_at: str | None


def use_of_applications(account_id: str) -> dict[str, ApplicationUse]:
    """The use, in all accounts, of each application that the account has registered, by its id."""
    return {
        row.id: ApplicationUse(row.people, clock.format_optional_time(row.last_used_at))
        for row in _NUMBERS.all(account_id=account_id)
    }


class GrantedScopes:
    """The scopes that people have granted to an application that the account has registered."""

    def __init__(self, account_id: str, client_id: str) -> None:
        self._people: dict[str, set[str]] = {}  # by the scopes that they have granted, as JSON
        for row in _GRANTED.all(account_id=account_id, client_id=client_id):
            self._people.setdefault(row.scopes, set()).add(row.user_id)

    def people(self, scopes: Collection[str]) -> int:
        """Count the people who have granted one of these scopes in any account."""
        scope_set = set(scopes)
        groups = (
            user_ids
            for text, user_ids in self._people.items()
            if scope_set & set(loads(text.encode()))
        )
        return len(set[str]().union(*groups))


def people_of_account(account_id: str, client_id: str) -> tuple[list[dict[str, Any]], int]:
    """List the people who have granted an application access to this account, and count them all.

    At most PEOPLE_SHOWN are listed, latest first, with ``name``, ``email`` and ``created_at``.
    """
    rows = _OWN.all(account_id=account_id, client_id=client_id, most=PEOPLE_SHOWN)
    names = ("name", "email", "created_at")
    people = [{name: getattr(row, name) for name in names} for row in rows]
    return people, rows[0].total if rows else 0
