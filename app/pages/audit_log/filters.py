"""The filters of the audit log, which are in the address of the page."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final, NamedTuple

from app.audit.log.actors import find_actors
from app.audit.log.filters import EntryQuery
from app.pages.audit_log.sentences import OF_ACCOUNT, Group, action_groups, is_action
from app.pages.audit_log.who import ActorGroup, grouped, offered_actors
from app.pages.filters import filtered
from app.site.moments import field_value, in_utc
from app.values.ids import is_id
from app.values.timestamps import TimestampInvalid, read_timestamp

ACCOUNT_LOG: Final = "/audit-log"  # the page of an account's log
_MOMENTS: Final = {"since": "From", "until": "To"}
_MOST_COMPARED: Final = 20_000  # with a name that was typed
_ID: Final = re.compile(r"[a-z0-9_]{1,40}")


class LogFilters(NamedTuple):
    """The filters of one request, and what is wrong with them."""

    account_id: str  # whose log it is
    path: str  # of the page
    groups: list[Group]  # of the actions that its log can have
    chosen: dict[str, str]  # as the address has them
    since: datetime | None
    until: datetime | None
    problems: list[str]
    before: str  # the id of the entry that all that are shown are older than; empty: the newest
    typed: str  # the name of whom the entries are by; empty: they were chosen
    called: list[ActorGroup]  # those who have this name, if there are several

    def query(self, **page: int) -> EntryQuery:
        """The query for the entries that pass these filters; ``page``: its paging."""
        return EntryQuery(
            **page,
            action=self.chosen.get("action"),
            actor_id=self.chosen.get("actor_id"),
            target_id=self.chosen.get("target_id"),
            since=self.since,
            until=self.until,
        )

    def address(self, **others: Any) -> str:
        """The address with these filters, but for those that are named; the newest entries."""
        return filtered(self.path, {**self.chosen, **others}, {})

    def who(self) -> list[ActorGroup] | None:
        """Whom the form offers to choose from; None if they are so many that a name is typed."""
        offered = self.called or offered_actors(self.account_id)
        chosen = self.chosen.get("actor_id")
        ids = {actor_id for group in offered or () for actor_id, _ in group.actors}
        if offered is not None and chosen and chosen not in ids:  # they have no entries
            offered.append(ActorGroup("Others", [(chosen, chosen)]))
        return offered

    def moment(self, name: str) -> str:
        """``since`` or ``until`` as the field of the form has it, in UTC."""
        return field_value(self.since if name == "since" else self.until)


def read_filters(
    account_id: str,
    arguments: Mapping[str, str],
    path: str = ACCOUNT_LOG,
    names: Mapping[str, tuple[str, ...]] = OF_ACCOUNT,
) -> LogFilters:
    """The filters of an address. Invalid ones are left out and reported in ``problems``.

    Args:
        account_id: whose log it is.
        path: of the page.
        names: the groups of actions that its log can have (``sentences``).
    """
    fields = ("action", "actor_id", "target_id", *_MOMENTS)
    chosen = {name: arguments[name].strip() for name in fields if arguments.get(name, "").strip()}
    problems: list[str] = []
    if "action" in chosen and not is_action(chosen["action"], names):
        problems.append("“What was done”: choose an action from the list.")
        del chosen["action"]
    for name in ("actor_id", "target_id"):
        if name in chosen and not _ID.fullmatch(chosen[name]):
            problems.append(f"“{name}” must be an id, such as those that entries have.")
            del chosen[name]
    typed, called = arguments.get("who", "").strip(), list[ActorGroup]()
    if typed:
        called = _find(account_id, typed, chosen, problems)
    moments = {name: _moment(name, chosen, problems) for name in _MOMENTS}
    since, until = moments.values()
    if since and until and since > until:
        problems.append("“From” must be before “To”.")
        del chosen["since"], chosen["until"]
        since = until = None
    before = arguments.get("before", "")
    return LogFilters(
        account_id,
        path,
        action_groups(names),
        chosen,
        since,
        until,
        problems,
        before if is_id("audit_entry", before) else "",
        "" if "actor_id" in chosen else typed,
        called,
    )


def _find(
    account_id: str, typed: str, chosen: dict[str, str], problems: list[str]
) -> list[ActorGroup]:
    """Choose the one who has a name. Returns those who have it if there are several."""
    chosen.pop("actor_id", None)
    found = find_actors(account_id, typed, _MOST_COMPARED)
    if len(found) == 1:
        chosen["actor_id"] = found[0].id
        return []
    if found:
        problems.append(f"“Who”: {len(found):,} have the name “{typed}”. Choose one of them.")
    else:
        problems.append(
            f"“Who”: nobody in this log has the name “{typed}”. Type an email address, or the name "
            "of a key, as entries have it."
        )
    return grouped(found)


def _moment(name: str, chosen: dict[str, str], problems: list[str]) -> datetime | None:
    if name not in chosen:
        return None
    chosen[name] = in_utc(chosen[name])
    try:
        return read_timestamp(chosen[name])
    except TimestampInvalid:
        problems.append(f"“{_MOMENTS[name]}” is not a date with a time.")
        del chosen[name]
        return None
