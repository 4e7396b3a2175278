"""OAuth clients: looking them up and authenticating them."""

from __future__ import annotations

import base64
import binascii
import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from urllib.parse import unquote_plus

from authlib.oauth2.rfc6749 import ClientMixin, InvalidClientError, InvalidRequestError
from sqlalchemy import bindparam, select

from app.db.queries import CompiledQuery
from app.models import Account, OAuthApplication
from app.oauth.redirect_uris import is_registered
from app.policy.oauth_errors import Description
from app.policy.permissions import SCOPES
from app.security import tokens
from app.values import clock
from app.values.ids import is_id

BASIC: Final = "client_secret_basic"
POST: Final = "client_secret_post"
NONE: Final = "none"

_BY_ID = CompiledQuery(
    select(
        OAuthApplication.id,
        OAuthApplication.account_id,
        OAuthApplication.name,
        OAuthApplication.redirect_uris,
        OAuthApplication.scopes,
        OAuthApplication.secret_hash,
        OAuthApplication.former_secret_hash,
        OAuthApplication.former_secret_until,
        Account.name.label("account_name"),
    )
    .join(Account, Account.id == OAuthApplication.account_id)
    .where(OAuthApplication.id == bindparam("client_id"))
)


@dataclass(frozen=True, slots=True)
class Client(ClientMixin):  # type: ignore[misc]
    """A registered application, with the account that owns it."""

    id: str
    account_id: str
    name: str
    redirect_uris: list[str]
    scopes: list[str]
    secret_hash: str | None
    former_secret_hash: str | None
    former_secret_until: datetime | None
    account_name: str

    @property
    def is_public(self) -> bool:
        return self.secret_hash is None

    def has_secret(self, secret: str | None) -> bool:
        """True if this is its secret, or a former one that still works. A public application
        must not send one."""
        if self.secret_hash is None or secret is None:
            return self.secret_hash is None and secret is None
        sent = tokens.hash_token(secret)
        accepted = [self.secret_hash]
        former, until = self.former_secret_hash, self.former_secret_until
        if former is not None and until is not None and clock.now() < until:
            accepted.append(former)
        matches = [hmac.compare_digest(sent, secret_hash) for secret_hash in accepted]
        return True in matches

    # The interface that Authlib requires.

    def get_allowed_scope(self, scope: str | None) -> str | None:
        """The requested scopes in the order of the policy, or None if one is not allowed."""
        requested = set((scope or "").split(" ")) - {""}
        if not requested or not requested <= set(self.scopes):
            return None
        return " ".join(name for name in SCOPES if name in requested)

    def check_redirect_uri(self, redirect_uri: str) -> bool:
        return is_registered(redirect_uri, self.redirect_uris)

    def check_response_type(self, response_type: str) -> bool:
        return response_type == "code"

    def check_grant_type(self, grant_type: str) -> bool:
        return True


def find_client(client_id: str) -> Client | None:
    """Find the application with this id, in any account."""
    row = _BY_ID.first(client_id=client_id) if is_id("application", client_id) else None
    return None if row is None else Client(**row._asdict())


def authenticate_client(values: Mapping[str, str], header: str | None) -> tuple[Client, str]:
    """Authenticate the application that sent a form. Returns it and its authentication method.

    Args:
        values: the fields of the form.
        header: the Authorization header.

    Raises:
        InvalidRequestError: header and form differ. Some clients send the same in both.
        InvalidClientError: it is unknown, or its secret is missing or wrong, which the message does
            not tell apart.
    """
    client_id, secret = values.get("client_id", ""), values.get("client_secret")
    method = NONE if secret is None else POST
    if header is not None:
        credentials = _basic_credentials(header)
        if secret not in (None, credentials[1]) or client_id not in ("", credentials[0]):
            raise InvalidRequestError(Description.CREDENTIALS_DIFFER)
        (client_id, secret), method = credentials, BASIC
    client = find_client(client_id)
    if client is None or not client.has_secret(secret):
        raise _authentication_error()
    return client, method


def _authentication_error() -> InvalidClientError:
    return InvalidClientError(Description.CLIENT, status_code=401)


def _basic_credentials(header: str) -> tuple[str, str]:
    """The id and secret from HTTP Basic, each urlencoded (RFC 6749, section 2.3.1)."""
    scheme, _, encoded = header.strip().partition(" ")
    try:
        text = base64.b64decode(encoded.strip(), validate=True).decode()
    except (binascii.Error, ValueError):
        text = ""
    client_id, colon, secret = text.partition(":")
    if scheme.lower() != "basic" or not colon:
        raise _authentication_error()
    return unquote_plus(client_id), unquote_plus(secret)
