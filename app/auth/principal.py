"""The principal of a request: the account, the credential and its permissions."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final

SESSIONS: Final = "session"  # in place of an id, for requests of people who are signed in


@dataclass(frozen=True, slots=True)
class Principal:
    """A credential that was accepted for a request."""

    # api_key, service_token, oauth, session (of a browser), import, or operator (for a command)
    kind: str
    credential_id: str
    account_id: str
    account_name: str
    plan: str
    permissions: frozenset[str]  # with those that they include
    user_id: str  # the member who created the credential, or for whom an application acts
    user_email: str
    expires_at: datetime | None = None
    last_used_at: datetime | None = None  # as saved, up to a minute late
    scopes: frozenset[str] | None = None  # the scopes of an OAuth token; None for others
    project_ids: tuple[str, ...] | None = None  # the only projects that it sees; None: all
    application_id: str = ""  # the application of an OAuth token
    role: str = ""  # of the person that an OAuth token acts for
    unused_token: str = ""  # the hash of an OAuth token whose first use is not saved yet
    name: str = ""  # the name of a key or token
    token_end: str = ""  # its last characters, for lists

    @property
    def counted_as(self) -> str:
        """The id that its requests are counted under, besides the account: the key or token, the
        application, or ``SESSIONS`` for browsers."""
        return SESSIONS if self.kind == "session" else self.application_id or self.credential_id

    def may(self, permission: str) -> bool:
        return permission in self.permissions

    def sees(self, project_id: str | None) -> bool:
        """Return False if it is limited to other projects."""
        return self.project_ids is None or project_id in self.project_ids
