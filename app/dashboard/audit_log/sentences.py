"""What an entry says in one line, and how the actions are called in the choice of them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from app.policy.audit import ACTIONS

_TARGET: Final = "{}"
_BEFORE_TARGET: Final = re.compile(r"( of| as| to| from| for| on)? \{\}")
_OWN: Final = re.compile(r"\bthe (.*) of \{\}")
# The groups of actions that the log of an account can have, by the first part of an action.
OF_ACCOUNT: Final = {
    "project": "Projects",
    "asset": "Assets",
    "import": "Imports",
    "person": "Signing in and profiles",
    "member": "Members",
    "api_key": "API keys",
    "service_token": "Service tokens",
    "application": "Applications",
    "webhook": "Webhooks",
    "account": "The account",
    "audit_log": "The audit log",
}
# Likewise of the log of the instance, which has what concerns no account.
OF_INSTANCE: Final = {
    "instance": "The instance",
    "operator": "Operators",
    "account": "Accounts",
    "person": "People without an account",
    "audit_log": "The audit log",
}


class Sentence(NamedTuple):
    """What was done, around what it was done to; ``names_target`` says whether that is named."""

    before: str
    after: str
    names_target: bool


class Group(NamedTuple):
    """Actions on the same kind of thing: their names, and each with its words."""

    name: str
    actions: list[tuple[str, str]]


def sentence(entry: Mapping[str, Any]) -> Sentence:
    """What an entry says after the name of whoever did it.

    Args:
        entry: its body. Its action may be one of a later version.
    """
    text = ACTIONS.get(entry["action"])
    if text is None:
        return Sentence(f"{entry['action']}: ", "", True)
    if _is_about_themselves(entry):
        return Sentence(_without_target(_OWN.sub(r"their \1", text)), "", False)
    before, _, after = text.partition(_TARGET)
    return Sentence(before, after, True)


def action_groups(names: Mapping[str, str] = OF_ACCOUNT) -> list[Group]:
    """All actions of some groups."""
    groups = {key: Group(name, []) for key, name in names.items()}
    for action, text in ACTIONS.items():
        if group := groups.get(action.partition(".")[0]):
            words = _without_target(text)
            group.actions.append((action, words[0].upper() + words[1:]))
    return list(groups.values())


def is_action(action: str, names: Mapping[str, str]) -> bool:
    """Whether an action is one of some groups."""
    return action in ACTIONS and action.partition(".")[0] in names


def _is_about_themselves(entry: Mapping[str, Any]) -> bool:
    """Whether a person did it to themselves. Who is not registered has no id."""
    actor, target = entry["actor"], entry["target"]
    is_person = actor["type"] == "person" and target["type"] in ("person", "member")
    return is_person and (actor["id"], actor["label"]) == (target["id"], target["label"])


def _without_target(text: str) -> str:
    return _BEFORE_TARGET.sub("", text)
