"""Checks of an identity that is not linked yet: its email address, and who may have it."""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import bindparam, select

from app.account.members.own_invitations import list_own_invitations
from app.auth.people import EmailTaken, find_person, is_registered
from app.db.queries import CompiledQuery
from app.models import User
from app.people.sign_up import is_open
from app.people.single_sign_on.interface import ProviderIdentity, SignInRefused
from app.policy.request_limits import NAME_LENGTH
from app.site.signed_in import current_person
from app.values.email import email_problem
from app.values.folding import fold_text
from app.values.text import name_problem
from config import Settings

_SHOWN: Final = 100  # characters of a claim
_KINDS: Final[dict[type, str]] = {list: "a list", dict: "an object"}
_BY_EMAIL: Final = CompiledQuery(select(User.id).where(User.email_key == bindparam("email_key")))


def admitted_address(identity: ProviderIdentity, settings: Settings) -> str:
    """Return the email address of an identity. Raises SignInRefused if it may not sign in here."""
    claim = settings.oidc_email_claim
    email = identity.text(claim)
    if identity.claims.get(claim) in (None, ""):
        raise SignInRefused("no_address", fault=f"the claim “{claim}” is missing")
    if email_problem(email):
        raise SignInRefused("unclear", fault=_fault(identity, claim, "an email address"))
    # Other claims have no such flag: by naming one, the operator vouches for it.
    if claim == "email":
        _check_verified(identity, email)
    domain = email.rpartition("@")[2].lower()
    if settings.oidc_domains and domain not in settings.oidc_domains:
        raise SignInRefused("domain", email)
    return email


def _check_verified(identity: ProviderIdentity, email: str) -> None:
    """Raise SignInRefused unless the provider has verified the address. Some write the flag as text
    or as a number."""
    flag = identity.claims.get("email_verified")
    match flag.strip().lower() if isinstance(flag, str) else flag:
        case "true" | True | 1:
            return
        case "false" | False | 0:
            raise SignInRefused("unverified", email)
    fault = _fault(identity, "email_verified", "true or false")
    raise SignInRefused("unclear", email, fault=fault)


def _fault(identity: ProviderIdentity, claim: str, wanted: str) -> str:
    """What is wrong with a claim, for whoever runs the instance."""
    value = identity.claims.get(claim)
    if value is None:
        return f"the claim “{claim}” is missing"
    shown = f"“{value[:_SHOWN]}”" if isinstance(value, str) else _KINDS.get(type(value), f"{value}")
    return f"the claim “{claim}” is {shown} instead of {wanted}"


def registered_person(email: str) -> str | None:
    """The id of the person who has signed up with an address, or None if nobody has.

    Raises:
        SignInRefused: nobody has, sign-up is closed and there is no invitation; or a similar
            address is taken.
    """
    try:
        person = find_person(email)
    except EmailTaken:
        raise SignInRefused("similar", email) from None
    if person is not None and is_registered(person):
        return person.id
    if not is_open() and not (person is not None and list_own_invitations(person.id)):
        raise SignInRefused("no_sign_up", email)
    return None


def would_bypass_second_factor(owner: Any) -> bool:
    """True if linking an identity to this person would get somebody past their second
    factor. They can link it themselves once they are signed in.

    Args:
        owner: the row of ``find_contact``.
    """
    person = current_person()
    return bool(owner.has_second_factor and (person is None or person.user_id != owner.id))


def name_of(identity: ProviderIdentity, email: str) -> str:
    """Suggest a name for a new person."""
    name = identity.text("name")[:NAME_LENGTH].strip()
    return email.partition("@")[0][:NAME_LENGTH] if name_problem(name) else name


def invitations_of(email: str) -> list[Any]:
    """The accounts to which somebody with this address is invited, as ``list_own_invitations``
    returns them."""
    row = _BY_EMAIL.first(email_key=fold_text(email))
    return [] if row is None else list_own_invitations(row.id)
