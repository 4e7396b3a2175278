"""The interface of a provider to sign-ins, and the errors of a sign-in."""

from __future__ import annotations

from typing import Any, Final, NamedTuple, Protocol

EXTENSION: Final = "canopy_single_sign_on"  # of the application: its Provider


class ProviderIdentity(NamedTuple):
    """A person at the provider, from a token that it signed."""

    subject: str
    claims: dict[str, Any]  # other claims; not checked

    def text(self, claim: str) -> str:
        """A claim that is text, or an empty string."""
        value = self.claims.get(claim)
        return value.strip() if isinstance(value, str) else ""


class RequestSecrets(NamedTuple):
    """Secrets that tie a browser's return from the provider to its request there."""

    state: str
    nonce: str
    verifier: str  # RFC 7636


class Provider(Protocol):
    """An OpenID Connect provider."""

    def authorization_url(self, sent: RequestSecrets) -> str:
        """The URL to redirect a browser to. Raises ProviderFailed."""

    def identify(self, code: str, issuer: str | None, sent: RequestSecrets) -> ProviderIdentity:
        """Exchange the code of a browser that came back for the identity of its person.

        Args:
            issuer: the provider that the redirect names as its sender (RFC 9207).
            sent: the secrets of the request to which the code is the response.

        Raises:
            ProviderFailed: the provider cannot be reached, or its response is invalid.
        """


class ProviderFailed(Exception):
    """The provider did not identify somebody. The message is a reason for the operator."""


class SignInRefused(Exception):
    """An identity may not sign in. ``reason`` selects the text of the page ``refused.html``;
    ``user_id`` is the person with the address, if that is known."""

    def __init__(self, reason: str, email: str = "", user_id: str | None = None) -> None:
        super().__init__(reason)
        self.reason, self.email, self.user_id = reason, email, user_id
