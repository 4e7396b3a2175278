"""The principal of a request: the account, the credential, and what it may do."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final

SESSIONS: Final = "session"  # in place of an id, for requests of people who are signed in


@dataclass(frozen=True, slots=True)
class Principal:
    """A credential that was accepted for this request."""

    # api_key, service_token, oauth, session (of a browser), import, or operator (for a command)
    kind: str
    credential_id: str
    account_id: str
    account_name: str
    plan: str
    permissions: frozenset[str]  # with all that they include
    user_id: str  # the member who made the credential, or whom an application acts for
    user_email: str
    expires_at: datetime | None = None
    last_used_at: datetime | None = None  # as noted down, up to a minute old
    scopes: frozenset[str] | None = None  # of an OAuth token, whatever the person's role is
    project_ids: tuple[str, ...] | None = None  # the only projects that it sees; None: all
    application_id: str = ""  # that an OAuth token was issued to
    unused_token: str = ""  # the hash of an OAuth token whose use is not noted down yet
    name: str = ""  # of a key or token
    token_end: str = ""  # its last characters, which tell it apart in lists

    @property
    def counted_as(self) -> str:
        """The id by which its requests are counted besides the account's: that of the key or token,
        or of the application; one for all browsers."""
        return SESSIONS if self.kind == "session" else self.application_id or self.credential_id

    def may(self, permission: str) -> bool:
        return permission in self.permissions

    def sees(self, project_id: str | None) -> bool:
        """Return whether it may see a project, or is limited to others."""
        return self.project_ids is None or project_id in self.project_ids
