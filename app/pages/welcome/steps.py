"""The first steps of an account, and which of them are done: as the account's rows say."""

from __future__ import annotations

from typing import NamedTuple

from app.account.credentials.service import valid_credentials
from app.account.members.service import list_members
from app.auth.principal import Principal
from app.usage.counters import project_total, read_counters


class Steps(NamedTuple):
    """What has been done."""

    has_projects: bool
    has_keys: bool
    has_colleagues: bool

    @property
    def number_done(self) -> int:
        return sum(self)


def steps_of(principal: Principal) -> Steps:
    """The steps of the account that somebody works in."""
    account_id = principal.account_id
    return Steps(
        project_total(read_counters(account_id)) > 0,
        bool(valid_credentials(account_id, "api_key")),
        len(list_members(account_id)) > 1,
    )
