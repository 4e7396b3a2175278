"""The keys and tokens that pages list."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from app.account.credentials.service import last_ended, valid_credentials
from app.account.members.service import list_members
from app.pages.credentials.kinds import CredentialKind
from app.pages.project_choice import projects_by_id
from app.policy.request_limits import ENDED_KEYS_SHOWN, PAGE_KEYS, PROJECTS_OF_CREDENTIAL
from app.usage.requests import last_days, read_requests

Record = dict[str, Any]

REQUEST_DAYS: Final = 7


class Credentials(NamedTuple):
    """The keys or tokens of an account.

    Attributes:
        used: those that are valid, the newest first.
        ended: the last ENDED_KEYS_SHOWN that were revoked or have expired.
        ended_total: how many were revoked or have expired.
        projects: the projects to which valid ones are limited, by id.
        makers: the names of members, by id.
        requests: the requests of the last REQUEST_DAYS days, by id.
    """

    used: list[Record]
    ended: list[Record]
    ended_total: int
    projects: dict[str, Record]
    makers: dict[str, str]
    requests: dict[str, int]

    @property
    def is_full(self) -> bool:
        """True if pages make no more."""
        return len(self.used) >= PAGE_KEYS


def credentials_of(account_id: str, kind: CredentialKind) -> Credentials:
    """Return the keys or tokens of an account."""
    used = valid_credentials(account_id, kind.kind)
    ended, ended_total = last_ended(account_id, kind.kind, ENDED_KEYS_SHOWN)
    ids = list({project_id: None for record in used for project_id in record["project_ids"] or ()})
    projects = dict[str, Record]()
    for start in range(0, len(ids), PROJECTS_OF_CREDENTIAL):
        projects |= projects_by_id(account_id, ids[start : start + PROJECTS_OF_CREDENTIAL])
    return Credentials(
        used,
        ended,
        ended_total,
        projects,
        {member["id"]: member["name"] for member in list_members(account_id)},
        {
            requests.caller.id: requests.total
            for requests in read_requests(account_id, last_days(REQUEST_DAYS)).callers
        },
    )
