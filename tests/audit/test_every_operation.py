"""Every operation of /v1 that changes something has exactly one entry, and no other has one.

Made from the URL map: a new operation fails until it is in the table.
"""

from __future__ import annotations

from typing import Final

import pytest

from tests.api.operations import Operation, body, fill, operations, prepare
from tests.make import Client, make_service_token
from tests.make.audit import new_entries

# The action that is entered; None: nothing is changed.
ACTIONS: Final[dict[str, str | None]] = {
    "DELETE /v1/account/members/<member_id>": "member.removed",
    "DELETE /v1/projects/<project_id>": "project.deleted",
    "DELETE /v1/projects/<project_id>/assets/<asset_id>": "asset.deleted",
    "DELETE /v1/webhooks/<webhook_id>": "webhook.deleted",
    "PATCH /v1/account": "account.updated",
    "PATCH /v1/imports/<import_id>": "import.updated",
    "PATCH /v1/account/members/<member_id>": "member.updated",
    "PATCH /v1/projects/<project_id>": "project.updated",
    "PATCH /v1/projects/<project_id>/assets/<asset_id>": "asset.updated",
    "PATCH /v1/webhooks/<webhook_id>": "webhook.updated",
    "POST /v1/geometry/validate": None,
    "POST /v1/imports": "import.created",
    "POST /v1/imports/<import_id>/apply": "import.applied",
    "POST /v1/imports/<import_id>/cancel": "import.canceled",
    "POST /v1/imports/<import_id>/undo": "import.undone",
    "POST /v1/account/members/invite": "member.invited",
    "POST /v1/projects": "project.created",
    "POST /v1/projects/<project_id>/archive": "project.archived",
    "POST /v1/projects/<project_id>/assets": "asset.created",
    "POST /v1/projects/<project_id>/boundaries/<boundary_id>/restore": "project.boundary.updated",
    "POST /v1/projects/<project_id>/restore": "project.restored",
    "POST /v1/webhooks": "webhook.created",
    "POST /v1/webhooks/<webhook_id>/logs/<log_id>/redeliver": "webhook.redelivered",
    "POST /v1/webhooks/<webhook_id>/replay": "webhook.replayed",
    "POST /v1/webhooks/<webhook_id>/rotate-secret": "webhook.secret_rotated",
    "POST /v1/webhooks/<webhook_id>/test": "webhook.tested",
    "PUT /v1/account": "account.updated",
    "PUT /v1/imports/<import_id>": "import.updated",
    "PUT /v1/account/members/<member_id>": "member.updated",
    "PUT /v1/projects/<project_id>": "project.updated",
    "PUT /v1/projects/<project_id>/assets/<asset_id>": "asset.updated",
    "PUT /v1/webhooks/<webhook_id>": "webhook.updated",
}
# In place of the example, which would change nothing by now.
OTHER_BODIES: Final = {"PUT /v1/account": {"json": {"name": "Another name"}}}
EXPORTS: Final = ("/v1/exports/", "/v1/account/export")  # each has an entry
SUCCESS: Final = (200, 201, 202, 204)


def changing() -> list[Operation]:
    return [each for each in operations() if each.method != "GET"]


def test_the_table_has_every_operation() -> None:
    assert sorted(ACTIONS) == sorted(each.name for each in changing())


@pytest.mark.slow
def test_an_operation_that_changes_something_has_one_entry(
    client: Client, subtests: pytest.Subtests
) -> None:
    token = make_service_token(client)
    for operation in changing():
        ids = fill(client, operation)
        prepare(client, operation, ids)
        with subtests.test(operation.name), new_entries(client) as found:
            headers = {"X-Request-Id": "the-request-of-this-cell", "User-Agent": "forester/1"}
            sent = OTHER_BODIES.get(operation.name) or body(operation)
            answer = token.send(operation.method, operation.path(ids), headers=headers, **sent)
            assert answer.status_code in SUCCESS, answer.get_data(as_text=True)
        with subtests.test(f"{operation.name}, its entry"):
            expected = ACTIONS[operation.name]
            assert [each["action"] for each in found] == ([expected] if expected else [])
            for each in found:
                assert each["actor"]["type"] == "service_token"
                assert each["actor"]["id"] == token.credential_id
                assert each["via"]["request_id"] == "the-request-of-this-cell"
                assert each["via"]["user_agent"] == "forester/1"
                assert each["via"]["credential"].startswith("canopy_svc_…")
                assert each["via"]["credential"].endswith(token.token[-4:])
                assert each["outcome"] == "done"


def test_reading_leaves_no_entry(client: Client, subtests: pytest.Subtests) -> None:
    for operation in operations():
        if operation.method == "GET" and not operation.rule.startswith(EXPORTS):
            ids = fill(client, operation)
            with subtests.test(operation.name), new_entries(client) as found:
                assert client.get(operation.path(ids)).status_code == 200
            assert found == [], operation.name


@pytest.mark.slow
def test_a_refused_change_leaves_no_entry(client: Client, subtests: pytest.Subtests) -> None:
    """Each is refused for its body, or because what it needs was not done before."""
    for operation in changing():
        ids = fill(client, operation)
        with subtests.test(operation.name), new_entries(client) as found:
            answer = client.send(operation.method, operation.path(ids), json={"unknown": 1})
            assert answer.status_code in (400, 404, 409, 415, 422), answer.status_code
        assert found == [], operation.name
