"""Who the entries of a log are by: what its form offers, and a name that was typed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Final, NamedTuple

from app.audit.log.actors import LoggedActor, list_actors

MOST_OFFERED: Final = 200
_KINDS: Final = {
    "person": "People",
    "api_key": "API keys",
    "service_token": "Service tokens",
    "application": "Applications",
}


class ActorGroup(NamedTuple):
    """People, or keys of a kind: the id of each, and what it is called."""

    name: str
    actors: list[tuple[str, str]]


def offered_actors(account_id: str) -> list[ActorGroup] | None:
    """All who did something that the log has; None if they are too many to choose from."""
    actors = list_actors(account_id, MOST_OFFERED + 1)
    return None if len(actors) > MOST_OFFERED else grouped(actors)


def grouped(actors: Iterable[LoggedActor]) -> list[ActorGroup]:
    """By kind, and by name; where several have one name, with their ids."""
    actors = sorted(actors, key=lambda actor: (actor.label.casefold(), actor.id))
    number = Counter((actor.type, actor.label) for actor in actors)
    groups = {kind: ActorGroup(name, []) for kind, name in _KINDS.items()}
    others = ActorGroup("Others", [])
    for actor in actors:
        is_alone = number[actor.type, actor.label] == 1
        words = actor.label if is_alone else f"{actor.label} ({actor.id})"
        groups.get(actor.type, others).actors.append((actor.id, words))
    return [group for group in (*groups.values(), others) if group.actors]
