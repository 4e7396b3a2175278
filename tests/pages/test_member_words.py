"""What the pages of members say."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from app.account.members.invitation_status import InvitationStatus
from app.account.members.removal_preview import LostAccess
from app.pages.members.words import (
    ROLE_TABLE,
    ROLE_WORDS,
    conflict_words,
    lost_access_words,
    mail_words,
)
from app.policy.permissions import ROLES
from tests.architecture.documents import documents


class Credential(NamedTuple):
    kind: str
    name: str
    token_end: str


def lost(**changed: Any) -> LostAccess:
    return LostAccess(0, (), (), ())._replace(**changed)


def test_nothing_ends() -> None:
    assert lost_access_words(lost()) == []


def test_one_of_each() -> None:
    found = lost(
        sessions=1,
        applications=("Map",),
        reduced=(Credential("api_key", "Field app", "aaaa"),),
        revoked=(Credential("service_token", "Export", "bbbb"),),
    )
    assert lost_access_words(found) == [
        "Signs them out here, in 1 browser.",
        "Ends the access of 1 application: Map.",
        "Reduces 1 key or token to what the role may do: API key Field app (ends in aaaa).",
        "Revokes 1 key or token: service token Export (ends in bbbb).",
    ]


def test_very_many() -> None:
    keys = tuple(Credential("api_key", f"Key {number}", "aaaa") for number in range(1_020))
    (sentence,) = lost_access_words(lost(revoked=keys))
    assert sentence.startswith("Revokes 1,020 keys and tokens: API key Key 0 (ends in aaaa), ")
    assert sentence.endswith("API key Key 19 (ends in aaaa) and 1,000 more.")
    (sentence,) = lost_access_words(lost(sessions=2_000))
    assert sentence == "Signs them out here, in 2,000 browsers."


def test_mail_that_is_not_known_is_not_mentioned() -> None:
    assert mail_words(None) == ("", "")
    assert mail_words(InvitationStatus(None, None, False, "unknown", None)) == ("", "")


def test_who_changed_is_named_if_known() -> None:
    member = {"joined_at": "2026-01-31T14:05:00.000Z", "name": "Kim", "role": "editor"}
    assert conflict_words(member, {"who": "jo@example.org"}, True).startswith("jo@example.org has")
    assert conflict_words(member, None, True).startswith("Somebody has changed this role")
    assert conflict_words(member, None, False).startswith("Kim has joined")


def test_every_role_is_explained() -> None:
    assert set(ROLE_WORDS) == set(ROLES)


def test_the_table_is_that_of_the_documentation() -> None:
    text = documents()["docs/members.md"].partition("## Who")[0]
    rows = re.findall(r"^\| ([a-z].*?) \|(.*)\|$", text, re.MULTILINE)
    shown = {what: [cell.strip() == "yes" for cell in cells.split("|")] for what, cells in rows}
    assert {what[0].lower() + what[1:]: who for what, who in ROLE_TABLE.items()} == shown
