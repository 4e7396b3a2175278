"""An entry as a sentence, and the names of actions in the filter's menu."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from app.policy.audit import ACTIONS

_TARGET: Final = "{}"
_BEFORE_TARGET: Final = re.compile(r"( of| as| to| from| for| on| in)? \{\}")
_OWN: Final = re.compile(r"\bthe (.*) of \{\}")
_NAMED: Final = re.compile(r"\bthe ((\w)\w*(?: (?!(?:of|as)\b)\w+)?)(?: of)? \{\}")
_OF_PEOPLE: Final = {
    "Signing in": ("person.sign", "person.sessions_"),
    "Second factor": tuple(
        f"person.{what}_" for what in ("second_factor", "authenticator", "passkey", "recovery")
    ),
    "Profiles": ("person.",),
}
# The groups of actions that the log of an account can have, with how those begin; an action is in
# the first of which that is true.
OF_ACCOUNT: Final[Mapping[str, tuple[str, ...]]] = {
    "Projects": ("project.",),
    "Assets": ("asset.",),
    "Imports": ("import.",),
    "Members": ("member.",),
    **_OF_PEOPLE,
    "API keys": ("api_key.",),
    "Service tokens": ("service_token.",),
    "Applications": ("application.",),
    "Webhooks": ("webhook.",),
    "The account": ("account.",),
    "The audit log": ("audit_log.",),
}
# Likewise of the log of the instance, which has what concerns no account.
OF_INSTANCE: Final[Mapping[str, tuple[str, ...]]] = {
    "The instance": ("instance.",),
    "Operators": ("operator.",),
    "Accounts": ("account.",),
    **_OF_PEOPLE,
    "The audit log": ("audit_log.",),
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
        return Sentence(_BEFORE_TARGET.sub("", _OWN.sub(r"their \1", text)), "", False)
    before, _, after = text.partition(_TARGET)
    return Sentence(before, after, True)


def without_target(action: str) -> str:
    """Return what was done, without naming what it was done to."""
    return _BEFORE_TARGET.sub("", ACTIONS.get(action, action))


def action_groups(names: Mapping[str, tuple[str, ...]] = OF_ACCOUNT) -> list[Group]:
    """All actions of some groups."""
    groups = {name: Group(name, []) for name in names}
    for action, text in ACTIONS.items():
        if name := _group(action, names):
            groups[name].actions.append((action, _choice(text, is_one=name.startswith("The "))))
    return list(groups.values())


def is_action(action: str, names: Mapping[str, tuple[str, ...]]) -> bool:
    """Return whether an action is one of some groups."""
    return action in ACTIONS and _group(action, names) is not None


def _group(action: str, names: Mapping[str, tuple[str, ...]]) -> str | None:
    return next((name for name, starts in names.items() if action.startswith(starts)), None)


def _choice(text: str, *, is_one: bool) -> str:
    """What an action is called, whatever its target.

    Args:
        is_one: whether there is but one such target.
    """
    words = text if is_one else _NAMED.sub(_any, text)
    words = _BEFORE_TARGET.sub(lambda found: "" if found[1] or is_one else " somebody", words)
    return words[0].upper() + words[1:]


def _any(found: re.Match[str]) -> str:
    return f"{'an' if found[2] in 'aeioA' else 'a'} {found[1]}"


def _is_about_themselves(entry: Mapping[str, Any]) -> bool:
    """Return whether a person did it to themselves. Who is not registered has no id."""
    actor, target = entry["actor"], entry["target"]
    is_person = actor["type"] == "person" and target["type"] in ("person", "member")
    return is_person and (actor["id"], actor["label"]) == (target["id"], target["label"])
