"""Creating, listing and revoking API keys and service tokens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import bindparam, func, not_, select

from app.account.credentials.validation import NewCredential, allowed_network
from app.audit.entries import changes_of_new, write_entry
from app.auth.credentials import IS_VALID
from app.auth.principal import Principal
from app.auth.tenant import columns_of, rows_of
from app.db.extensions import db
from app.db.queries import CompiledQuery
from app.http.errors import Conflict, Forbidden, ValidationFailed
from app.models import Account, Credential, Membership, User
from app.policy.permissions import PROFILE, ROLES, expand_permissions
from app.security import tokens
from app.values import clock
from app.values.clock import format_optional_time
from app.values.ids import is_id, new_id

_AUDITED = ("name", "permissions", "project_ids", "ip_allowlist")
# The fields of the record of a key or token, without the secret.
_RECORD = {
    "id": Credential.id,
    "account_id": Credential.account_id,
    "name": Credential.name,
    "permissions": Credential.permissions,
    "project_ids": Credential.project_ids,
    "ip_allowlist": Credential.ip_allowlist,
    "ends_with": Credential.token_end,
    "created_by": Credential.created_by,
    "created_at": Credential.created_at,
    "expires_at": Credential.expires_at,
    "last_used_at": Credential.last_used_at,
    "last_used_address": Credential.last_used_address,
    "revoked_at": Credential.revoked_at,
}
_OF_KIND = columns_of(Credential, *_RECORD.values()).where(Credential.kind == bindparam("kind"))
_ALL = CompiledQuery(_OF_KIND.order_by(Credential.id.desc()))
_VALID = CompiledQuery(_OF_KIND.where(IS_VALID).order_by(Credential.id.desc()))
_LAST_ENDED = CompiledQuery(
    _OF_KIND.where(not_(IS_VALID))
    .order_by(func.coalesce(Credential.revoked_at, Credential.expires_at).desc())
    .limit(bindparam("most"))
)
_ENDED_TOTAL = CompiledQuery(_OF_KIND.where(not_(IS_VALID)).with_only_columns(func.count()))
_ACCOUNT = CompiledQuery(
    select(Account.slug, Account.name).where(Account.id == bindparam("account_id"))
)
_PERSON = CompiledQuery(
    columns_of(Membership, Membership.role, User.name, User.email).where(
        Membership.user_id == bindparam("user_id"), User.id == Membership.user_id
    )
)


def create_credential(
    account_id: str, *, created_by: str | None = None, most: int | None = None, **values: Any
) -> tuple[Credential, str]:
    """Create an API key or service token. Returns it and its secret, of which only the hash is
    stored.

    Args:
        created_by: the id of the creating member; by default the longest-standing owner.
        most: the maximum number of valid credentials of this kind that the account may have.
        values: the fields of ``NewCredential``.

    Raises:
        ValidationFailed: names each invalid argument.
        Conflict: the account has ``most`` already.
        Forbidden: the member has left the account, or has another role since.
    """
    new = NewCredential(**values)
    if details := list(new.problems(account_id)):
        raise ValidationFailed(details=details)
    if most is not None:
        _check_credential_count(account_id, new.kind, most)
    secret = tokens.new_token(tokens.CREDENTIAL_PREFIXES[new.kind])
    credential = Credential(
        id=new_id(new.kind),
        account_id=account_id,
        kind=new.kind,
        name=new.name.strip(),
        permissions=sorted(set(new.permissions)),
        project_ids=None if new.project_ids is None else sorted(set(new.project_ids)),
        ip_allowlist=[allowed_network(entry) for entry in new.ip_allowlist] or None,
        token_hash=tokens.hash_token(secret),
        token_end=secret[-4:],
        created_by=_creating_member_id(account_id, created_by, new.permissions),
        created_at=clock.now(),
        expires_at=new.expires_at,
    )
    db.session.add(credential)
    _audit_creation(credential)
    return credential, secret


def read_caller(principal: Principal) -> dict[str, Any]:
    """Read the account of a credential, and the person that an OAuth token acts for."""
    account = _ACCOUNT.first(account_id=principal.account_id)
    person = dict.fromkeys(("id", "name", "email", "role"))
    if principal.scopes is not None:
        row = _PERSON.first(account_id=principal.account_id, user_id=principal.user_id)
        person |= {"id": principal.user_id, "role": row.role}
        if PROFILE in principal.scopes:
            person |= {"name": row.name, "email": row.email}
    return {
        **person,
        "project_ids": None if principal.project_ids is None else list(principal.project_ids),
        "account": {"id": principal.account_id, "name": account.name, "slug": account.slug},
    }


def list_credentials(account_id: str, kind: str) -> list[dict[str, Any]]:
    """List the account's keys or tokens, revoked ones included, newest first."""
    return [_credential_record(row) for row in _ALL.all(account_id=account_id, kind=kind)]


def valid_credentials(account_id: str, kind: str) -> list[dict[str, Any]]:
    """List the account's valid keys or tokens, newest first."""
    rows = _VALID.all(account_id=account_id, kind=kind, now=clock.now())
    return [_credential_record(row) for row in rows]


def last_ended(account_id: str, kind: str, most: int) -> tuple[list[dict[str, Any]], int]:
    """Return (records of the keys or tokens that ended last, number of ended ones)."""
    values = {"account_id": account_id, "kind": kind, "now": clock.now()}
    rows = _LAST_ENDED.all(**values, most=most)
    return [_credential_record(row) for row in rows], int(_ENDED_TOTAL.scalar(**values))


def revoke_credential(account_id: str, kind: str, credential_id: str) -> bool:
    """Revoke a key or token at once. Returns False if there is none, or it was revoked before."""
    if not is_id(kind, credential_id):
        return False
    statement = rows_of(account_id, Credential).where(
        Credential.id == credential_id, Credential.kind == kind, Credential.revoked_at.is_(None)
    )
    credential = db.session.scalars(statement.with_for_update()).one_or_none()
    if credential is None:
        return False
    credential.revoked_at = clock.now()
    write_entry(f"{credential.kind}.revoked", credential)
    return True


def _audit_creation(credential: Credential) -> None:
    values = {name: getattr(credential, name) for name in _AUDITED}
    values["expires_at"] = format_optional_time(credential.expires_at)
    write_entry(f"{credential.kind}.created", credential, changes=changes_of_new(values))


def _credential_record(row: Any) -> dict[str, Any]:
    return {name: getattr(row, column.key) for name, column in _RECORD.items()}


def _check_credential_count(account_id: str, kind: str, most: int) -> None:
    # Locked so that others that create one wait; changes of other tables' rows do not.
    db.session.get_one(Account, account_id, with_for_update={"key_share": True})
    own = rows_of(account_id, Credential).where(Credential.kind == kind, IS_VALID)
    counted = own.with_only_columns(func.count())
    current = db.session.scalars(counted, {"now": clock.now()}).one()
    if current >= most:
        words = {"api_key": "API keys", "service_token": "service tokens"}[kind]
        raise Conflict(
            "limit_reached",
            "limit",
            f"The account has {current} {words}, and can have {most}. Revoke one that is not used.",
        )


def _creating_member_id(account_id: str, user_id: str | None, permissions: Sequence[str]) -> str:
    """Return the id of the creating member, by default the longest-standing owner, who must be able
    to grant the permissions.

    The member's row is locked, so that a change of role or a removal waits for this transaction and
    then revokes the credential too.
    """
    joined = rows_of(account_id, Membership).where(Membership.joined_at.is_not(None))
    candidates = joined.where(
        Membership.role == "owner" if user_id is None else Membership.user_id == user_id
    )
    oldest = candidates.order_by(Membership.created_at, Membership.user_id).limit(1)
    membership = db.session.scalars(oldest.with_for_update(read=True)).one_or_none()
    if membership is None or not expand_permissions(permissions) <= ROLES[membership.role]:
        raise Forbidden("role", "Your role in this account has changed. Reload the page.")
    return membership.user_id
