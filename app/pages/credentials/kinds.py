"""The two kinds of credentials, whose pages differ in their texts and in one field."""

from __future__ import annotations

from typing import Final, NamedTuple


class CredentialKind(NamedTuple):
    """A kind of credentials.

    Attributes:
        kind: the kind in the database.
        path: the path of its pages.
        title: its name within a sentence; ``article`` goes before it.
        purpose: the text on a page without credentials.
        example: an example of a name.
    """

    kind: str
    path: str
    title: str
    article: str
    purpose: str
    example: str

    @property
    def heading(self) -> str:
        """The heading of the page, such as ``API keys``."""
        return f"{self.title[0].upper()}{self.title[1:]}s"

    @property
    def expires(self) -> bool:
        """True if it can expire; the other kind can have an allowlist."""
        return self.kind == "api_key"


API_KEYS: Final = CredentialKind(
    "api_key",
    "/api-keys",
    "API key",
    "an",
    "A key lets a script, QGIS or another server read and change this account’s data. Give each "
    "program a key of its own, so that you can revoke one without the others.",
    "Ana’s QGIS",
)
SERVICE_TOKENS: Final = CredentialKind(
    "service_token",
    "/service-tokens",
    "service token",
    "a",
    "A service token is for work that runs by itself, such as a nightly job or a CI pipeline. It "
    "never expires, and can be restricted to the addresses where that work runs.",
    "Nightly export",
)
