"""An entry as a sentence, and the names of actions in the filter's menu."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from app.policy.audit import ACTIONS

_TARGET: Final = "{}"
_BEFORE_TARGET: Final = re.compile(r"( of| as| to| from| for| on| in)? \{\}")
_OWN: Final = re.compile(r"\bthe (.{1,60}) of \{\}")
_NAMED: Final = re.compile(r"\bthe ((\w)\w*(?: (?!(?:of|as)\b)\w+)?)(?: of)? \{\}")
_OF_PEOPLE: Final = {
    "Signing in": ("person.sign", "person.sessions_"),
    "Second factor": tuple(
        f"person.{what}_" for what in ("second_factor", "authenticator", "passkey", "recovery")
    ),
    "Profiles": ("person.",),
}
# Groups of actions in the log of an account, with the prefixes of their actions. The first match
# counts.
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
# Those in the log of the instance, about what belongs to no account.
OF_INSTANCE: Final[Mapping[str, tuple[str, ...]]] = {
    "The instance": ("instance.",),
    "Operators": ("operator.",),
    "Accounts": ("account.",),
    **_OF_PEOPLE,
    "The audit log": ("audit_log.",),
}


class Sentence(NamedTuple):
    """The text before and after the name of the target, which only some name."""

    before: str
    after: str
    names_target: bool


def entry_sentence(entry: Mapping[str, Any]) -> Sentence:
    """Return what the body of an entry says after the name of the actor. A later version may have
    other actions."""
    text = ACTIONS.get(entry["action"])
    if text is None:
        return Sentence(f"{entry['action']}: ", "", True)
    if _is_about_themselves(entry):
        return Sentence(_BEFORE_TARGET.sub("", _OWN.sub(r"their \1", text)), "", False)
    before, _, after = text.partition(_TARGET)
    return Sentence(before, after, True)


def without_target(action: str) -> str:
    """Return the words of an action, without its target."""
    return _BEFORE_TARGET.sub("", ACTIONS.get(action, action))


def action_groups(
    prefixes: Mapping[str, tuple[str, ...]] = OF_ACCOUNT,
) -> dict[str, dict[str, str]]:
    """Return the labels of all actions with these prefixes, in their groups."""
    groups: dict[str, dict[str, str]] = {name: {} for name in prefixes}
    for action, text in ACTIONS.items():
        name = next((name for name, begin in prefixes.items() if action.startswith(begin)), None)
        if name is not None:
            groups[name][action] = _action_label(text, is_one=name.startswith("The "))
    return groups


def _action_label(text: str, *, is_one: bool) -> str:
    """Return the label of an action in the menu.

    Args:
        is_one: True if there is only one such target, as the account.
    """
    words = text if is_one else _NAMED.sub(_with_article, text)
    words = _BEFORE_TARGET.sub(lambda match: "" if match[1] or is_one else " somebody", words)
    return words[0].upper() + words[1:]


def _with_article(match: re.Match[str]) -> str:
    return f"{'an' if match[2] in 'aeioA' else 'a'} {match[1]}"


def _is_about_themselves(entry: Mapping[str, Any]) -> bool:
    """True if a person did it to themselves. People who are not registered have no id."""
    actor, target = entry["actor"], entry["target"]
    is_person = actor["type"] == "person" and target["type"] in ("person", "member")
    return is_person and (actor["id"], actor["label"]) == (target["id"], target["label"])
