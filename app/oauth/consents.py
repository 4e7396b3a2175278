"""Consents: the scopes that people have granted to applications."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from sqlalchemy import bindparam, delete, func, select
from sqlalchemy.orm import aliased

from app.audit.entries import Changes, changes_of_new, write_entry
from app.audit.origin import Actor, Via, acting_as, application_name
from app.audit.targets import Target
from app.auth.tenant import columns_of, own_columns_of, rows_of
from app.db.engines import insert_into
from app.db.extensions import db
from app.db.queries import CompiledQuery
from app.http.errors import Forbidden
from app.models import Account, Membership, OAuthApplication, OAuthAuthorization, OAuthConsent
from app.oauth.redirect_uris import is_registered
from app.policy.permissions import SCOPES
from app.values import clock
from app.values.ids import is_id

_CONSENT = CompiledQuery(
    columns_of(OAuthConsent, OAuthConsent.scopes, OAuthConsent.redirect_uris).where(
        OAuthConsent.user_id == bindparam("user_id"),
        OAuthConsent.application_id == bindparam("application_id"),
    )
)
_OF_ACCOUNT = CompiledQuery(
    columns_of(
        OAuthConsent,
        OAuthConsent.application_id,
        OAuthConsent.user_id,
        OAuthConsent.scopes,
        OAuthConsent.created_at,
        OAuthConsent.updated_at,
    )
    .add_columns(OAuthApplication.name.label("application_name"))
    .join(OAuthApplication, OAuthApplication.id == OAuthConsent.application_id)
    .order_by(OAuthConsent.created_at, OAuthConsent.application_id, OAuthConsent.user_id)
)
_OWNER = aliased(Account)
_LAST_USE = (
    own_columns_of(OAuthAuthorization)
    .add_columns(func.max(OAuthAuthorization.last_used_at))
    .where(
        OAuthAuthorization.account_id == OAuthConsent.account_id,
        OAuthAuthorization.application_id == OAuthConsent.application_id,
    )
    .scalar_subquery()
)
_OF_PERSON = CompiledQuery(
    own_columns_of(
        OAuthConsent,
        OAuthConsent.account_id,
        OAuthConsent.application_id,
        OAuthConsent.scopes,
        OAuthConsent.created_at,
    )
    .add_columns(
        Account.name.label("account_name"),
        OAuthApplication.name.label("application_name"),
        _OWNER.name.label("owner_name"),
        _LAST_USE.label("last_used_at"),
    )
    .join(Account, Account.id == OAuthConsent.account_id)
    .join(OAuthApplication, OAuthApplication.id == OAuthConsent.application_id)
    .join(_OWNER, _OWNER.id == OAuthApplication.account_id)
    .order_by(OAuthApplication.name, Account.name, OAuthConsent.application_id)
)


def lock_application(account_id: str, client_id: str) -> OAuthApplication | None:
    """Lock an application against changes until the end of this transaction. Returns None if it has
    been deleted."""
    own = rows_of(account_id, OAuthApplication).where(OAuthApplication.id == client_id)
    return db.session.scalars(own.with_for_update(read=True, key_share=True)).one_or_none()


def has_consent(
    account_id: str, user_id: str, application_id: str, scopes: Collection[str], redirect_uri: str
) -> bool:
    """True if a person has granted an application all of these scopes in an account, and was
    asked about this redirect URI: one that is added later gets no codes by an earlier consent."""
    row = _CONSENT.first(account_id=account_id, user_id=user_id, application_id=application_id)
    if row is None or not set(scopes) <= set(row.scopes):
        return False
    return is_registered(redirect_uri, row.redirect_uris)


def save_consent(
    account_id: str,
    user_id: str,
    application_id: str,
    scopes: Collection[str],
    *,
    name: str,
    confirmed_uris: Collection[str] = (),
) -> None:
    """Add scopes to a person's consent, or create the consent.

    It has an entry even if the consent has all scopes already, as the application gets access
    again.

    Args:
        name: the name of the application.
        confirmed_uris: the redirect URIs that the person has just been asked about.

    Raises:
        Forbidden: the person does not belong to the account.
    """
    _lock_membership(account_id, user_id)
    now = clock.now()
    key = {"account_id": account_id, "user_id": user_id, "application_id": application_id}
    row = insert_into(OAuthConsent).values(
        **key,
        scopes=list(scopes),
        redirect_uris=list(confirmed_uris),
        created_at=now,
        updated_at=now,
    )
    unknown = row.on_conflict_do_nothing().returning(OAuthConsent.application_id)
    is_new = db.session.scalar(unknown) is not None
    consent = db.session.scalars(
        rows_of(account_id, OAuthConsent)
        .where(OAuthConsent.user_id == user_id, OAuthConsent.application_id == application_id)
        .with_for_update()
    ).one()
    former = [] if is_new else consent.scopes
    granted = [scope for scope in SCOPES if scope in {*consent.scopes, *scopes}]
    if granted != consent.scopes:
        consent.scopes, consent.updated_at = granted, now
    consent.redirect_uris = list(dict.fromkeys([*consent.redirect_uris, *confirmed_uris]))
    action = "application.allowed"
    changes: Changes = {"scopes": {"from": former, "to": granted}}
    if granted == former:
        action, changes = "application.allowed_again", changes_of_new({"scopes": list(scopes)})
    target = Target("application", application_id, name)
    write_entry(action, target, account_id=account_id, changes=changes)


def list_consents(user_id: str) -> list[dict[str, Any]]:
    """List a person's consents in all their accounts, by application name.

    Each has ``account_id``, ``account_name``, ``application_id``, ``application_name``,
    ``owner_name`` (the account that registered it), ``scopes``, ``created_at`` and
    ``last_used_at``, which is None before the first use.
    """
    return [
        row._asdict() | {"last_used_at": clock.format_optional_time(row.last_used_at)}
        for row in _OF_PERSON.all(own_user_id=user_id)
    ]


def consents_of_account(account_id: str) -> list[dict[str, Any]]:
    """List the consents of an account's members, oldest first, to applications of any account."""
    return [
        {
            "client_id": row.application_id,
            "name": row.application_name,
            "member_id": row.user_id,
            "scopes": row.scopes,
            "created_at": row.created_at,
            "updated_at": row.updated_at,
        }
        for row in _OF_ACCOUNT.all(account_id=account_id)
    ]


def revoke_consent(user_id: str, account_id: str, application_id: str) -> bool:
    """Revoke a person's consent to an application in an account, with all its tokens. Returns False
    if there was none."""
    if not (is_id("account", account_id) and is_id("application", application_id)):
        return False
    name = application_name(account_id, application_id)
    deleted: Any = db.session.execute(
        delete(OAuthConsent).where(
            OAuthConsent.account_id == account_id,
            OAuthConsent.user_id == user_id,
            OAuthConsent.application_id == application_id,
        )
    )
    if not deleted.rowcount:
        return False
    target = Target("application", application_id, name)
    write_entry("application.revoked", target, account_id=account_id)
    return True


def revoke_consents_to(application: OAuthApplication, scopes: Collection[str]) -> int:
    """Revoke the consents to an application, in all accounts, that include one of these scopes.
    Returns their number."""
    if not scopes:
        return 0
    revoked = 0
    for account_id, user_id, granted in _consents_to(application):
        if set(granted) & set(scopes):
            with _acting_in(account_id, application):
                revoked += revoke_consent(user_id, account_id, application.id)
    return revoked


def write_end_of_access(application: OAuthApplication) -> None:
    """Write entries in other accounts about the end of an application's access there. It must be
    locked, and is about to be deleted."""
    accounts = {account_id for account_id, _, _ in _consents_to(application)}
    for account_id in sorted(accounts - {application.account_id}):
        with _acting_in(account_id, application):
            write_entry("application.revoked", application, account_id=account_id)


def _consents_to(application: OAuthApplication) -> Sequence[Any]:
    consents = select(OAuthConsent.account_id, OAuthConsent.user_id, OAuthConsent.scopes)
    return db.session.execute(consents.where(OAuthConsent.application_id == application.id)).all()


def _acting_in(account_id: str, application: OAuthApplication) -> AbstractContextManager[None]:
    """Set the actor who ends the access of an application. In other accounts, it is the application
    itself: their members need not know who manages it."""
    if account_id == application.account_id:
        return nullcontext()
    return acting_as(Actor("application", application.id, application.name), Via())


def _lock_membership(account_id: str, user_id: str) -> None:
    """Lock a membership, so that changes of it wait. Raises Forbidden if there is none."""
    membership = db.session.scalars(
        rows_of(account_id, Membership)
        .where(Membership.user_id == user_id, Membership.joined_at.is_not(None))
        .with_for_update(read=True)
    ).one_or_none()
    if membership is None:
        raise Forbidden("role", "You do not belong to this account.")
