"""The filters of the audit log, which are in the address of the page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import ClassVar, Final

from app.audit.log.actors import LoggedActor, find_actors, list_actors
from app.audit.log.files import FORMATS
from app.audit.log.filters import EntryQuery
from app.audit.log.schemas import AuditLogQuerySchema
from app.http.errors import BadRequest
from app.pages.audit_log.sentences import OF_ACCOUNT, action_groups
from app.pages.filters import NO_CHOICE, LogFilters, refuse_problems

ACCOUNT_LOG: Final = "/audit-log"  # the page of an account's log
MOST_OFFERED: Final = 200  # actors in the menu of the form
_MOST_COMPARED: Final = 20_000  # actors, with a name that was typed
_ACTOR_KINDS: Final = {
    "person": "People",
    "api_key": "API keys",
    "service_token": "Service tokens",
    "application": "Applications",
}


class EntryFilters(LogFilters):
    """The filters of entries.

    Attributes:
        account_id: whose log it is.
        actions: the actions that the menu offers, in groups.
        typed_name: the name of an actor that was typed; empty if one was chosen.
        namesakes: the actors with this name, in groups, if there are several.
    """

    schema = AuditLogQuerySchema()
    labels: ClassVar = {
        "action": "What was done",
        "actor_id": "Who",
        "target_id": "About",
        "since": "From",
        "until": "To",
    }
    kind = "audit_entry"

    def __init__(
        self,
        account_id: str,
        arguments: Mapping[str, str],
        path: str = ACCOUNT_LOG,
        prefixes: Mapping[str, tuple[str, ...]] = OF_ACCOUNT,
    ) -> None:
        """
        Args:
            prefixes: the prefixes of actions, by the name of their group.
        """
        typed_name = arguments.get("who", "").strip()
        actors = find_actors(account_id, typed_name, _MOST_COMPARED) if typed_name else []
        if typed_name:
            actor_id = actors[0].id if len(actors) == 1 else ""
            arguments = {**arguments, "actor_id": actor_id}
        super().__init__(path, arguments)
        self.account_id = account_id
        self.actions = action_groups(prefixes)
        self.typed_name = "" if "actor_id" in self.chosen else typed_name
        self.namesakes = _grouped_actors(actors) if self.typed_name else {}
        if self.typed_name:
            self.problems.append(_name_problem(typed_name, len(actors)))
        action = self.chosen.get("action")
        if action and not any(action in group for group in self.actions.values()):
            self.problems.append(f"“What was done”{NO_CHOICE}")
            del self.chosen["action"], self.values["action"]

    def query(self, per_page: int = 1) -> EntryQuery:
        """Return the query for the entries that pass these filters."""
        return EntryQuery(**self.values | {"per_page": per_page})

    def actor_choices(self) -> dict[str, dict[str, str]] | None:
        """Return the actors in the menu of the form, in groups; None if there are too many, so that
        people type a name."""
        groups = self.namesakes or _all_actors(self.account_id)
        chosen = self.chosen.get("actor_id")
        if groups is not None and chosen and not any(chosen in ids for ids in groups.values()):
            groups["Others"] = groups.get("Others", {}) | {chosen: chosen}  # they have no entries
        return groups


def read_export(filters: EntryFilters, form: Mapping[str, str]) -> tuple[str, EntryQuery]:
    """Return (format, query) of an export. Raises BadRequest if either is invalid."""
    refuse_problems(filters.problems)
    format_name = form.get("format", "")
    if format_name not in FORMATS:
        raise BadRequest("Choose CSV or NDJSON.")
    return format_name, filters.query()


def _name_problem(name: str, number: int) -> str:
    """Return the problem with a name that ``number`` actors have."""
    if number:
        return f"“Who”: {number:,} have the name “{name}”. Choose one of them."
    return (
        f"“Who”: nobody in this log has the name “{name}”. Type an email address, or the name of a "
        "key, as entries have it."
    )


def _all_actors(account_id: str) -> dict[str, dict[str, str]] | None:
    """Return the actors of all entries; None if they are too many to choose from."""
    actors = list_actors(account_id, MOST_OFFERED + 1)
    return None if len(actors) > MOST_OFFERED else _grouped_actors(actors)


def _grouped_actors(actors: Iterable[LoggedActor]) -> dict[str, dict[str, str]]:
    """Return the labels of actors by id, in groups by kind, sorted by name. Where several have one
    name, it is shown with the id."""
    actors = sorted(actors, key=lambda actor: (actor.label.casefold(), actor.id))
    namesakes = Counter((actor.type, actor.label) for actor in actors)
    groups: dict[str, dict[str, str]] = {name: {} for name in (*_ACTOR_KINDS.values(), "Others")}
    for actor in actors:
        is_unique = namesakes[actor.type, actor.label] == 1
        label = actor.label if is_unique else f"{actor.label} ({actor.id})"
        groups[_ACTOR_KINDS.get(actor.type, "Others")][actor.id] = label
    return {name: labels for name, labels in groups.items() if labels}
