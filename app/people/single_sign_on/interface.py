"""What a provider does for a sign-in, and how the sign-in can fail."""

from __future__ import annotations

from typing import Any, Final, NamedTuple, Protocol

EXTENSION: Final = "canopy_single_sign_on"  # of the application: its Provider


class ProviderIdentity(NamedTuple):
    """Who somebody is at the provider, by a token that it signed."""

    subject: str
    claims: dict[str, Any]  # what else it says of them; not checked

    def text(self, claim: str) -> str:
        """A claim that is text, or an empty string."""
        value = self.claims.get(claim)
        return value.strip() if isinstance(value, str) else ""


class RequestSecrets(NamedTuple):
    """What ties a browser's return from the provider to its request there."""

    state: str
    nonce: str
    verifier: str  # RFC 7636


class Provider(Protocol):
    """An OpenID Connect provider."""

    def authorization_url(self, sent: RequestSecrets) -> str:
        """Where to send a browser. Raises ProviderFailed."""

    def identify(self, code: str, issuer: str | None, sent: RequestSecrets) -> ProviderIdentity:
        """Who came back with a code.

        Args:
            issuer: which provider the redirect names as its sender (RFC 9207).
            sent: what went with the request that the code answers.

        Raises:
            ProviderFailed: the provider cannot be reached, or what it says is not right.
        """


class ProviderFailed(Exception):
    """The provider did not say who somebody is. The message is a reason for the operator."""


class SignInRefused(Exception):
    """Nobody is signed in. ``reason`` chooses the text of the page ``refused.html``; ``user_id`` is
    whose the address is here, if that is known."""

    def __init__(self, reason: str, email: str = "", user_id: str | None = None) -> None:
        super().__init__(reason)
        self.reason, self.email, self.user_id = reason, email, user_id
