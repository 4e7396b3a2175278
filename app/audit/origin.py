"""The origin of an action: the actor and the way, in a request, a command or a job."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

from flask import g, has_request_context, request
from sqlalchemy import bindparam

from app.auth.guard import current_principal
from app.auth.principal import Principal
from app.auth.tenant import columns_of
from app.db.queries import CompiledQuery
from app.http.middleware import REQUEST_ID
from app.models import OAuthApplication, OAuthConsent
from app.security import tokens
from app.security.masking import without_secrets

_AGENT_LENGTH: Final = 300
_APPLICATION: Final = CompiledQuery(
    columns_of(OAuthConsent, OAuthApplication.name)
    .select_from(OAuthConsent)
    .join(OAuthApplication, OAuthApplication.id == OAuthConsent.application_id)
    .where(OAuthConsent.application_id == bindparam("application_id"))
)


class Actor(NamedTuple):
    """An actor; ``type`` is one of ``app.policy.audit.ACTORS``."""

    type: str
    id: str | None
    label: str  # the current email address of a person or name of a key

    @classmethod
    def person(cls, user_id: str | None, email: str) -> Actor:
        return cls("person", user_id, email)


class Via(NamedTuple):
    """The way in which something is done. What does not apply is None."""

    credential: str | None = None  # the beginning and the end of a key or token
    application: dict[str, str] | None = None  # the one that acts for the person: its id and label
    request_id: str | None = None
    ip: str | None = None
    user_agent: str | None = None  # for a command, its name
    import_id: str | None = None


class Origin(NamedTuple):
    """The actor, and the way."""

    actor: Actor
    via: Via


SYSTEM: Final = Actor("system", None, "Canopy")
OPERATOR: Final = Actor("operator", None, "Operator")


@contextmanager
def acting_as(actor: Actor, via: Via) -> Iterator[None]:
    """Set the origin of actions in the block, for commands and for jobs that somebody started."""
    before = g.get("audit_origin")
    g.audit_origin = Origin(actor, via)
    try:
        yield
    finally:
        g.audit_origin = before


def is_command() -> bool:
    """Return True in a command, or a job that somebody started."""
    return g.get("audit_origin") is not None


def current_origin(principal: Principal | None = None) -> Origin:
    """The origin of an action now.

    Args:
        principal: the principal who acts, if not the one of the request.
    """
    if (origin := g.get("audit_origin")) is not None:
        return origin  # type: ignore[no-any-return]
    principal = principal or current_principal()
    if principal is not None:
        return Origin(_actor_of(principal), _via_of(principal))
    signed_in: Any = g.get("person")
    if signed_in is not None:
        return Origin(Actor.person(signed_in.user_id, signed_in.email), _request_via())
    return Origin(SYSTEM, _request_via())


def application_name(account_id: str, application_id: str) -> str:
    """The name of an application that somebody in the account has allowed to act for them."""
    row = _APPLICATION.first(account_id=account_id, application_id=application_id)
    return "" if row is None else str(row.name)


def _actor_of(principal: Principal) -> Actor:
    if principal.kind in tokens.CREDENTIAL_PREFIXES:
        return Actor(principal.kind, principal.credential_id, principal.name)
    if principal.kind == "operator":
        return OPERATOR
    return Actor.person(principal.user_id, principal.user_email)


def _via_of(principal: Principal) -> Via:
    if prefix := tokens.CREDENTIAL_PREFIXES.get(principal.kind):
        return _request_via(credential=f"{prefix}…{principal.token_end}")
    if principal.application_id:
        name = application_name(principal.account_id, principal.application_id)
        return _request_via(application={"id": principal.application_id, "label": name})
    return _request_via()


def _request_via(**fields: Any) -> Via:
    if not has_request_context():
        return Via(**fields)
    environ = request.environ
    agent = environ.get("HTTP_USER_AGENT")
    return Via(
        request_id=environ.get(REQUEST_ID),
        ip=environ.get("REMOTE_ADDR"),
        user_agent=None if agent is None else without_secrets(agent[:_AGENT_LENGTH]),
        **fields,
    )
