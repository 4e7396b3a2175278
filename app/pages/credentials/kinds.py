"""The two kinds of credentials of programs, whose pages differ in their words and in one field."""

from __future__ import annotations

from typing import Final, NamedTuple


class Kind(NamedTuple):
    """One of the kinds.

    Args:
        kind: in the database.
        path: of its pages.
        title: of one, in the middle of a sentence; ``article`` goes before it.
        purpose: what it is for, on an empty page.
        example: the name of one.
    """

    kind: str
    path: str
    title: str
    article: str
    purpose: str
    example: str

    @property
    def heading(self) -> str:
        """Of the page, as ``API keys``."""
        return f"{self.title[0].upper()}{self.title[1:]}s"

    @property
    def expires(self) -> bool:
        """True if it can have an end; the other kind can have an allowlist."""
        return self.kind == "api_key"


API_KEYS: Final = Kind(
    "api_key",
    "/api-keys",
    "API key",
    "an",
    "A key lets a script, QGIS or another server read and change this account’s data. Give each "
    "program a key of its own, so that you can revoke one without the others.",
    "Ana’s QGIS",
)
SERVICE_TOKENS: Final = Kind(
    "service_token",
    "/service-tokens",
    "service token",
    "a",
    "A service token is for work that runs by itself, such as a nightly job or a CI pipeline. It "
    "never expires, and can be restricted to the addresses where that work runs.",
    "Nightly export",
)
