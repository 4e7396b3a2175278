"""The types that the provider and sign-ins exchange, and the errors of a sign-in."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

EXTENSION: Final = "canopy_single_sign_on"  # the OpenIDProvider of the Flask application


class ProviderIdentity(NamedTuple):
    """A person at the provider, from a token that it signed and its userinfo endpoint."""

    subject: str
    claims: dict[str, Any]  # other claims; not checked

    def text(self, claim: str) -> str:
        """A claim that is text, also as the only one of a list, or an empty string."""
        value = self.claims.get(claim)
        if isinstance(value, list) and len(value) == 1:  # as Azure AD B2C sends ``emails``
            value = value[0]
        return value.strip() if isinstance(value, str) else ""


class RequestSecrets(NamedTuple):
    """Secrets that tie a browser's return from the provider to its request there."""

    state: str
    nonce: str
    verifier: str  # RFC 7636


class ProviderFailed(Exception):
    """The provider did not identify somebody. The message is a reason for the operator."""


class SignInRefused(Exception):
    """An identity may not sign in. ``reason`` selects the text of the page ``refused.html``;
    ``user_id`` is the person with the address, if that is known, and ``fault`` says which claim
    cannot be used."""

    def __init__(
        self, reason: str, email: str = "", user_id: str | None = None, fault: str = ""
    ) -> None:
        super().__init__(reason)
        self.reason, self.email, self.user_id, self.fault = reason, email, user_id, fault
