"""What the pages show of keys and tokens."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from app.account.credentials.service import last_ended, valid_credentials
from app.account.members.service import list_members
from app.pages.credentials.kinds import Kind
from app.pages.project_choice import projects_by_id
from app.policy.request_limits import ENDED_KEYS_SHOWN, PAGE_KEYS, PROJECTS_OF_CREDENTIAL
from app.usage.requests import last_days, read_requests

Record = dict[str, Any]

REQUEST_DAYS: Final = 7


class Credentials(NamedTuple):
    """The keys or tokens of an account: those in use, the newest first, and of those that have
    ended the ENDED_KEYS_SHOWN that ended last.

    ``ended_total`` says how many have ended, ``projects`` has those that any in use is limited to,
    by their ids, ``makers`` the names of members, and ``requests`` how many each made in the last
    REQUEST_DAYS days.
    """

    used: list[Record]
    ended: list[Record]
    ended_total: int
    projects: dict[str, Record]
    makers: dict[str, str]
    requests: dict[str, int]

    @property
    def is_full(self) -> bool:
        """True if there are as many as pages make."""
        return len(self.used) >= PAGE_KEYS


def credentials_of(account_id: str, kind: Kind) -> Credentials:
    """All keys or tokens of an account."""
    used = valid_credentials(account_id, kind.kind)
    ended, ended_total = last_ended(account_id, kind.kind, ENDED_KEYS_SHOWN)
    ids = dict.fromkeys(each for record in used for each in record["project_ids"] or ())
    wanted, projects = list(ids), dict[str, Record]()
    for start in range(0, len(wanted), PROJECTS_OF_CREDENTIAL):
        projects |= projects_by_id(account_id, wanted[start : start + PROJECTS_OF_CREDENTIAL])
    return Credentials(
        used,
        ended,
        ended_total,
        projects,
        {member["id"]: member["name"] for member in list_members(account_id)},
        {
            each.caller.id: each.total
            for each in read_requests(account_id, last_days(REQUEST_DAYS)).callers
        },
    )
