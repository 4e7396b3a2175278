"""Authentication by the bearer token of the Authorization header.

One statement for each request finds the credential and its account, so that a revoked key is
rejected at once in every process.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from datetime import datetime
from functools import lru_cache
from typing import Any, Final

import orjson
from sqlalchemy import Text, and_, bindparam, or_, select
from sqlalchemy import cast as sql_cast

from app.auth import access_tokens
from app.auth.principal import Principal
from app.db.queries import CompiledQuery
from app.http.errors import Unauthorized
from app.models import Account, Credential, User
from app.policy.permissions import expand_permissions
from app.security import tokens
from app.security.callers import note_account
from app.values import clock

Network = ipaddress.IPv4Network | ipaddress.IPv6Network

_OF_TOKEN_ENDPOINT: Final = {
    tokens.REFRESH_TOKEN: "a refresh token",
    tokens.AUTHORIZATION_CODE: "an authorization code",
    tokens.CLIENT_SECRET: "the secret of an application",
}
_BY_HASH = CompiledQuery(
    select(
        Credential.id,
        Credential.kind,
        Credential.name,
        Credential.token_end,
        Credential.account_id,
        sql_cast(Credential.permissions, Text).label("permissions"),
        sql_cast(Credential.ip_allowlist, Text).label("ip_allowlist"),
        sql_cast(Credential.project_ids, Text).label("project_ids"),
        Credential.created_by,
        Credential.expires_at,
        Credential.last_used_at,
        Credential.revoked_at,
        Account.name.label("account_name"),
        Account.plan,
        User.email,
    )
    .join(Account, Account.id == Credential.account_id)
    .join(User, User.id == Credential.created_by)
    .where(Credential.token_hash == bindparam("token_hash"))
)


# Select the credentials that are valid at the time ``now``.
IS_VALID: Final = and_(
    Credential.revoked_at.is_(None),
    or_(Credential.expires_at.is_(None), Credential.expires_at > bindparam("now")),
)


def authenticate_header(header: str | None, address: str) -> Principal:
    """The principal of an Authorization header.

    Args:
        header: the value of the header, or None.
        address: the client's address, for credentials with an allowlist.

    Raises:
        Unauthorized: the token is missing, malformed, unknown, revoked, expired, or used from
            outside its allowlist. Unknown and revoked tokens get the same response.
    """
    token = _bearer_token(header)
    if token.startswith(tokens.ACCESS_TOKEN):
        return access_tokens.authenticate_access_token(token)
    if not any(tokens.is_well_formed(token, p) for p in (tokens.API_KEY, tokens.SERVICE_TOKEN)):
        raise Unauthorized(_misuse_message(token), challenge="invalid_token")
    token_hash = tokens.hash_token(token)
    row = _BY_HASH.first(token_hash=token_hash)
    if row is None or row.revoked_at is not None or _is_past(row.expires_at):
        raise Unauthorized("The token is invalid, expired or revoked.", challenge="invalid_token")
    if not _is_allowed(address, row.ip_allowlist):
        raise Unauthorized(
            "This token cannot be used from your IP address.", challenge="invalid_token"
        )
    note_account(token_hash, row.account_id)
    return Principal(
        kind=row.kind,
        credential_id=row.id,
        account_id=row.account_id,
        account_name=row.account_name,
        plan=row.plan,
        permissions=_credential_permissions(row.permissions),
        user_id=row.created_by,
        user_email=row.email,
        expires_at=row.expires_at,
        last_used_at=row.last_used_at,
        project_ids=None if row.project_ids is None else _project_ids(row.project_ids),
        name=row.name,
        token_end=row.token_end,
    )


def _misuse_message(token: str) -> str:
    """The message for a token that is not a credential of requests."""
    for prefix, kind in _OF_TOKEN_ENDPOINT.items():
        if tokens.is_well_formed(token, prefix):
            return f"This is {kind}, which only /oauth/token takes. Send an access token."
    if not token.startswith("canopy_"):
        return "This is not a token: those of Canopy begin with canopy_. Send an API key."
    return "The token is malformed. Check that it was copied in full."


def _is_past(moment: datetime | None) -> bool:
    return moment is not None and clock.now() >= moment


def _bearer_token(header: str | None) -> str:
    if header is None:
        raise Unauthorized
    scheme, _, token = header.strip().partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        raise Unauthorized(
            "Send the Authorization header as 'Bearer <token>'.", challenge="invalid_request"
        )
    return token.strip()


# The JSON of rows is parsed once for each text, not for each request.
@lru_cache(maxsize=1024)
def _credential_permissions(text: str) -> frozenset[str]:
    """The permissions of a credential with all that they include."""
    return expand_permissions(orjson.loads(text))


@lru_cache(maxsize=1024)
def _project_ids(text: str) -> tuple[str, ...]:
    """The projects that a credential is limited to."""
    return tuple(orjson.loads(text))


@lru_cache(maxsize=1024)
def _allowed_networks(allowlist: str) -> tuple[Network, ...] | None:
    """The networks of an allowlist; None without one, for any address."""
    entries = orjson.loads(allowlist)
    return None if entries is None else tuple(ipaddress.ip_network(entry) for entry in entries)


def _is_allowed(address: str, allowlist: str | None) -> bool:
    """True if a client's address is in an allowlist of addresses and networks."""
    networks = None if allowlist is None else _allowed_networks(allowlist)
    if networks is None:
        return True
    try:
        client = ipaddress.ip_address(address)
    except ValueError:
        return False
    if isinstance(client, ipaddress.IPv6Address) and client.ipv4_mapped:
        client = client.ipv4_mapped
    return any(client in network for network in networks)


def has_ended(record: Mapping[str, Any]) -> bool:
    """True if the key or token of a record was revoked or has expired."""
    expires_at: str | None = record["expires_at"]
    is_past = expires_at is not None and expires_at <= clock.format_time(clock.now())
    return is_past or record["revoked_at"] is not None
