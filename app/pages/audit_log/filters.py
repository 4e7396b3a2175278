"""The filters of the audit log, which are in the address of the page."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Final, NamedTuple

from app.audit.log.actors import LoggedActor, find_actors, list_actors
from app.audit.log.files import FORMATS
from app.audit.log.filters import EntryQuery
from app.http.errors import BadRequest
from app.pages.audit_log.sentences import OF_ACCOUNT, ActionGroup, action_groups, is_action
from app.pages.filters import list_address, refuse_problems
from app.site.times import field_timestamp, time_field_text
from app.values.ids import is_id
from app.values.timestamps import TimestampInvalid, read_timestamp

ACCOUNT_LOG: Final = "/audit-log"  # the page of an account's log
_MOMENTS: Final = {"since": "From", "until": "To"}
MOST_OFFERED: Final = 200  # actors in the menu of the form
_MOST_COMPARED: Final = 20_000  # actors, with a name that was typed
_ID: Final = re.compile(r"[a-z0-9_]{1,40}")
_ACTOR_KINDS: Final = {
    "person": "People",
    "api_key": "API keys",
    "service_token": "Service tokens",
    "application": "Applications",
}


class ActorGroup(NamedTuple):
    """Actors of one kind: the id and the label of each."""

    name: str
    actors: list[tuple[str, str]]


class LogFilters(NamedTuple):
    """The filters of one request, and their problems.

    Attributes:
        account_id: whose log it is.
        path: the path of the page.
        action_groups: the actions that the menu offers.
        chosen: the filters as the address has them.
        before: the id of an entry; the page shows older ones. Empty: the newest.
        typed_name: the name of an actor that was typed; empty if one was chosen.
        namesakes: the actors with this name, if there are several.
    """

    account_id: str
    path: str
    action_groups: list[ActionGroup]
    chosen: dict[str, str]
    since: datetime | None
    until: datetime | None
    problems: list[str]
    before: str
    typed_name: str
    namesakes: list[ActorGroup]

    def query(self, **page: int) -> EntryQuery:
        """Return the query for the entries that pass these filters, with its paging."""
        return EntryQuery(
            **page,
            action=self.chosen.get("action"),
            actor_id=self.chosen.get("actor_id"),
            target_id=self.chosen.get("target_id"),
            since=self.since,
            until=self.until,
        )

    def address(self, **others: Any) -> str:
        """Return the address of the newest entries with these filters, except for ``others``."""
        return list_address(self.path, {**self.chosen, **others}, {})

    def actor_choices(self) -> list[ActorGroup] | None:
        """Return the actors in the menu of the form; None if there are too many, so that people
        type a name."""
        groups = self.namesakes or _all_actors(self.account_id)
        chosen = self.chosen.get("actor_id")
        ids = {actor_id for group in groups or () for actor_id, _ in group.actors}
        if groups is not None and chosen and chosen not in ids:  # they have no entries
            groups.append(ActorGroup("Others", [(chosen, chosen)]))
        return groups

    def moment(self, name: str) -> str:
        """Return ``since`` or ``until`` as the text of its field."""
        return time_field_text(self.since if name == "since" else self.until)


def read_filters(
    account_id: str,
    arguments: Mapping[str, str],
    path: str = ACCOUNT_LOG,
    prefixes: Mapping[str, tuple[str, ...]] = OF_ACCOUNT,
) -> LogFilters:
    """Read the filters of an address. Invalid ones are left out and reported in ``problems``.

    Args:
        account_id: whose log it is.
        path: the path of the page.
        prefixes: the prefixes of actions, by the name of their group.
    """
    fields = ("action", "actor_id", "target_id", *_MOMENTS)
    chosen = {name: arguments[name].strip() for name in fields if arguments.get(name, "").strip()}
    problems: list[str] = []
    if "action" in chosen and not is_action(chosen["action"], prefixes):
        problems.append("“What was done”: choose an action from the list.")
        del chosen["action"]
    for name in ("actor_id", "target_id"):
        if name in chosen and not _ID.fullmatch(chosen[name]):
            problems.append(f"“{name}” must be an id, such as those that entries have.")
            del chosen[name]
    typed_name, namesakes = arguments.get("who", "").strip(), list[ActorGroup]()
    if typed_name:
        namesakes = _choose_actor(account_id, typed_name, chosen, problems)
    moments = {name: _parse_moment(name, chosen, problems) for name in _MOMENTS}
    since, until = moments.values()
    if since and until and since > until:
        problems.append("“From” must be before “To”.")
        del chosen["since"], chosen["until"]
        since = until = None
    before = arguments.get("before", "")
    return LogFilters(
        account_id,
        path,
        action_groups(prefixes),
        chosen,
        since,
        until,
        problems,
        before if is_id("audit_entry", before) else "",
        "" if "actor_id" in chosen else typed_name,
        namesakes,
    )


def read_export(filters: LogFilters, form: Mapping[str, str]) -> tuple[str, EntryQuery]:
    """Return (format, query) of an export. Raises BadRequest if either is invalid."""
    refuse_problems(filters.problems)
    format_name = form.get("format", "")
    if format_name not in FORMATS:
        raise BadRequest("Choose CSV or NDJSON.")
    return format_name, filters.query()


def _choose_actor(
    account_id: str, name: str, chosen: dict[str, str], problems: list[str]
) -> list[ActorGroup]:
    """Choose the actor with a name, or return the actors with this name if there are several."""
    chosen.pop("actor_id", None)
    actors = find_actors(account_id, name, _MOST_COMPARED)
    if len(actors) == 1:
        chosen["actor_id"] = actors[0].id
        return []
    if actors:
        problems.append(f"“Who”: {len(actors):,} have the name “{name}”. Choose one of them.")
    else:
        problems.append(
            f"“Who”: nobody in this log has the name “{name}”. Type an email address, or the name "
            "of a key, as entries have it."
        )
    return _grouped_actors(actors)


def _all_actors(account_id: str) -> list[ActorGroup] | None:
    """Return the actors of all entries; None if they are too many to choose from."""
    actors = list_actors(account_id, MOST_OFFERED + 1)
    return None if len(actors) > MOST_OFFERED else _grouped_actors(actors)


def _grouped_actors(actors: Iterable[LoggedActor]) -> list[ActorGroup]:
    """Group actors by kind, sorted by name. Where several have one name, it is shown with the
    id."""
    actors = sorted(actors, key=lambda actor: (actor.label.casefold(), actor.id))
    namesakes = Counter((actor.type, actor.label) for actor in actors)
    groups = {kind: ActorGroup(name, []) for kind, name in _ACTOR_KINDS.items()}
    others = ActorGroup("Others", [])
    for actor in actors:
        is_unique = namesakes[actor.type, actor.label] == 1
        label = actor.label if is_unique else f"{actor.label} ({actor.id})"
        groups.get(actor.type, others).actors.append((actor.id, label))
    return [group for group in (*groups.values(), others) if group.actors]


def _parse_moment(name: str, chosen: dict[str, str], problems: list[str]) -> datetime | None:
    if name not in chosen:
        return None
    chosen[name] = field_timestamp(chosen[name])
    try:
        return read_timestamp(chosen[name])
    except TimestampInvalid:
        problems.append(f"“{_MOMENTS[name]}” is not a date with a time.")
        del chosen[name]
        return None
