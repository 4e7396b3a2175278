"""The requests in docs/members.md get the documented responses; its table matches the policy."""

from __future__ import annotations

import re
from typing import Final

import pytest

from app.policy.permissions import ROLES
from app.values.strict_json import loads
from tests.architecture.documents import documents
from tests.docs.pages import blocks, commands
from tests.docs.test_examples import demo as demo  # a fixture
from tests.docs.test_examples import differences, send
from tests.make import Client

PAGE: Final = documents()["docs/members.md"]
# The permission behind each line of the table; None is for owners only.
LINES: Final = {
    "see projects, assets and members": {"projects:read", "assets:read", "members:read"},
    "create, change and delete projects and assets": {"projects:write", "assets:write"},
    "manage API keys, service tokens, applications and webhooks": {"admin"},
    "see usage and limits, change the account's settings": {"billing:read", "admin"},
    "invite, change and remove viewers, editors and admins": {"members:write"},
}


@pytest.mark.slow
def test_requests_are_answered_as_shown(demo: Client) -> None:
    responses, member = [], ""
    for block in blocks(PAGE):
        if block.language == "json":
            assert list(differences(loads(block.text.encode()), responses[-1].json)) == []
        for words in commands(f"```sh\n{block.text}\n```") if block.language == "sh" else ():
            if words[0] == "curl":
                responses.append(
                    send(demo, [word.replace("$MEMBER", member) for word in words[1:]])
                )
                if responses[-1].status_code == 201:
                    member = responses[-1].json["data"]["id"]
    assert [response.status_code for response in responses] == [200, 201, 200, 204]
    again = demo.delete(f"/v1/account/members/{member}")
    assert again.status_code == 404


def test_the_table_of_roles_is_that_of_the_policy() -> None:
    rows = re.findall(r"^\| ([a-z].*?) \|(.*)\|$", PAGE.partition("## Who")[0], re.MULTILINE)
    shown = {what: [cell.strip() == "yes" for cell in cells.split("|")] for what, cells in rows}
    assert shown.pop("appoint, change and remove owners") == [False, False, False, True]
    assert set(shown) == set(LINES)
    for what, permissions in LINES.items():
        assert shown[what] == [permissions <= held for held in ROLES.values()]
