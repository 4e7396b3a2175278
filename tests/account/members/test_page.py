"""The requests in docs/members.md get the documented responses."""

from __future__ import annotations

from typing import Final

import pytest

from app.values.strict_json import loads
from tests.architecture.documents import documents
from tests.docs.pages import blocks, commands
from tests.docs.test_examples import demo as demo  # a fixture
from tests.docs.test_examples import differences, send
from tests.make import Client

PAGE: Final = documents()["docs/members.md"]


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
