"""Single sign-on: from an identity at the provider to a person who is signed in.

A known identity signs in. Any other is linked to a person, or becomes a new one, only after that
person has consented and, if the address is known here, has proved that it is theirs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from flask import current_app

from app.account.service import open_account
from app.audit.entries import changes_of_new
from app.audit.origin import Actor
from app.auth.sessions import SignedIn, end_sessions
from app.db.extensions import db
from app.http.errors import NotFound
from app.models import User
from app.people.auditing import write_person_entry
from app.people.service import find_contact, verify_address
from app.people.sign_up import create_person
from app.people.single_sign_on import attempts, identities, mails
from app.people.single_sign_on.admission import admitted_address, name_of, registered_person
from app.people.single_sign_on.interface import EXTENSION, ProviderIdentity, SignInRefused
from app.settings.current import current_settings
from app.values.email import same_address

if TYPE_CHECKING:  # instances without single sign-on do not load it: it takes 2 MB
    from app.people.single_sign_on.provider import OpenIDProvider

_IDENTITY: Final = ("issuer", "subject", "email")


class SignInOutcome(NamedTuple):
    """The next step for an identity.

    Attributes:
        user_id: the person to sign in; None if consent is needed first.
        is_linking: consent links the identity to a person instead of creating one.
        was_linked: the person asked to link an identity that was linked to them already.
    """

    user_id: str | None
    is_linking: bool = False
    was_linked: bool = False


def identity_provider() -> OpenIDProvider:
    """The identity provider of this instance.

    Raises:
        NotFound: the instance has no single sign-on.
    """
    openid_provider: OpenIDProvider | None = current_app.extensions.get(EXTENSION)
    if openid_provider is None:
        raise NotFound
    return openid_provider


def resolve_identity(token: str, attempt: Any, identity: ProviderIdentity) -> SignInOutcome:
    """Sign in a known identity, or let another wait for consent, in the current transaction.

    Args:
        attempt: the row of ``attempts.claim_return``.

    Raises:
        SignInRefused: the identity may not sign in.
    """
    issuer = current_settings().oidc_issuer or ""
    user_id = identities.person_of(issuer, identity.subject)
    if user_id is not None:
        if attempt.user_id not in (None, user_id):
            raise SignInRefused("linked_elsewhere")
        identities.save_last_use(issuer, identity.subject)
        attempts.end_attempt(token)
        return SignInOutcome(user_id, was_linked=attempt.user_id is not None)
    email = admitted_address(identity, current_settings())
    owner = attempt.user_id or registered_person(email)
    if owner and owner != attempt.user_id and find_contact(owner).has_second_factor:
        raise SignInRefused("second_factor", email, owner)
    attempts.await_consent(
        token,
        user_id=owner,
        issuer=issuer,
        subject=identity.subject,
        email=email,
        name=name_of(identity, email),
    )
    return SignInOutcome(None, is_linking=owner is not None)


def mail_link(token: str, person: Any) -> None:
    """Mail a person the link with which they consent, in this browser, to be linked.

    Args:
        person: has ``id``, ``name`` and ``email``.
    """
    mails.mail_link(person, attempts.add_link(token))


def link_identity(token: str, attempt: Any, owner: Any) -> bool:
    """Link the identity of an attempt to its person, who has proved who they are.

    Returns False if the attempt has just ended, or if the person has just turned on a second
    factor, which they were not asked for.

    Args:
        owner: the person as they were when they proved it; has ``has_second_factor``.

    Raises:
        sqlalchemy.exc.IntegrityError: the identity is linked already.
    """
    if not attempts.end_attempt(token):
        return False
    person = db.session.get_one(User, attempt.user_id, with_for_update={"key_share": True})
    if person.second_factor_since is not None and not owner.has_second_factor:
        return False
    _add_identity(attempt, person)
    if same_address(person.email, attempt.email):
        verify_address(person.id, is_audited=True)
    mails.mail_linked(person, attempt.email, attempt.subject)
    return True


def sign_up(
    token: str, attempt: Any, name: str, account: tuple[str, str | None] | None
) -> tuple[str, str | None] | None:
    """Create the person of an attempt, or complete one who was only invited.

    Args:
        account: the name and slug of an account to open for them; None if they were invited.

    Returns:
        The ids of the person and of their account; None if the attempt has just ended, or the
        address has just been taken.

    Raises:
        sqlalchemy.exc.IntegrityError: the identity, the address or the slug has just been taken.
    """
    person = create_person(attempt.email, name) if attempts.end_attempt(token) else None
    if person is None:
        return None
    opened = None
    if account is not None:
        actor = Actor.person(person.id, person.email)
        opened = open_account(account[0], person, slug=account[1], actor=actor).id
    db.session.flush()
    write_person_entry("person.created", person, by_themselves=True)
    _add_identity(attempt, person)
    return person.id, opened


def unlink_identity(person: SignedIn, identity_id: str, *, has_password: bool) -> bool:
    """Unlink an identity of a signed-in person, and end their other sessions. Returns False if they
    have none with this id.

    Args:
        has_password: they have a password.

    Raises:
        LookupError: they could not sign in anymore.
    """
    issuer = current_settings().oidc_issuer or ""
    needs_other = not (has_password and current_settings().password_sign_in)
    removed = identities.remove_identity(
        person.user_id, identity_id, issuer=issuer, needs_other=needs_other
    )
    if removed is None:
        return False
    end_sessions(person.user_id, but=person.session_id)
    was = {name: {"from": getattr(removed, name), "to": None} for name in _IDENTITY}
    write_person_entry("person.sign_in_unlinked", db.session.get_one(User, person.user_id), was)
    return True


def _add_identity(attempt: Any, person: User) -> None:
    identity = {name: getattr(attempt, name) for name in _IDENTITY}
    identities.add_identity(person.id, **identity)
    write_person_entry(
        "person.sign_in_linked", person, changes_of_new(identity), by_themselves=True
    )
