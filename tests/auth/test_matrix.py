"""Who opens which operation: every cell of roles, credentials and operations.

The table is written out here, and not taken from the policy that is tested.
"""

from __future__ import annotations

from typing import Final

import pytest

from tests.api.operations import (
    EVERYTHING,
    Operation,
    absent_ids,
    body,
    fill,
    operations,
    prepare,
)
from tests.make import Browser, Client, signed_in_browser
from tests.make.members import Member, make_key_of, make_member
from tests.make.oauth import bearer, grant_tokens, make_application

ROLES: Final = ("viewer", "editor", "admin", "owner")
EVERYBODY, EDITORS, ADMINS, NOBODY = ROLES, ROLES[1:], ROLES[2:], ()
# What an application can ask for; none of them is about members' changes, usage or webhooks.
SCOPES: Final = (
    *("profile", "projects:read", "projects:write", "assets:read", "assets:write"),
    *("members:read", "offline_access"),
)
# The operations of each kind, the roles that open them with an API key or a service token, and
# those that open them with the token of an application that was granted every scope.
TABLE: Final[tuple[tuple[str, tuple[str, ...], tuple[str, ...]], ...]] = (
    (  # any credential; an application has the scope ``profile``
        """
        GET /v1/account
        GET /v1/auth/verify
        GET /v1/event-types
        GET /v1/me
        """,
        EVERYBODY,
        EVERYBODY,
    ),
    (
        """
        GET /v1/projects
        GET /v1/projects/<project_id>
        GET /v1/projects/<project_id>/boundaries
        GET /v1/projects/<project_id>/boundaries/<boundary_id>
        GET /v1/projects/<project_id>/overlaps
        GET /v1/projects/map
        POST /v1/geometry/validate
        GET /v1/assets
        GET /v1/projects/<project_id>/assets
        GET /v1/projects/<project_id>/assets/<asset_id>
        GET /v1/exports/projects
        GET /v1/eudr
        GET /v1/exports/assets
        GET /v1/account/members
        GET /v1/account/members/<member_id>
        """,
        EVERYBODY,
        EVERYBODY,
    ),
    (
        """
        POST /v1/projects
        PUT /v1/projects/<project_id>
        POST /v1/projects/<project_id>/archive
        POST /v1/projects/<project_id>/restore
        POST /v1/projects/<project_id>/boundaries/<boundary_id>/restore
        POST /v1/projects/<project_id>/assets
        PUT /v1/projects/<project_id>/assets/<asset_id>
        DELETE /v1/projects/<project_id>/assets/<asset_id>
        GET /v1/imports
        POST /v1/imports
        GET /v1/imports/<import_id>
        PUT /v1/imports/<import_id>
        GET /v1/imports/<import_id>/features
        POST /v1/imports/<import_id>/apply
        POST /v1/imports/<import_id>/cancel
        POST /v1/imports/<import_id>/undo
        """,
        EDITORS,
        EDITORS,
    ),
    ("DELETE /v1/projects/<project_id>", EDITORS, ADMINS),
    (
        """
        POST /v1/account/members/invite
        PUT /v1/account/members/<member_id>
        DELETE /v1/account/members/<member_id>
        GET /v1/account/usage
        GET /v1/account/usage/requests
        PUT /v1/account
        GET /v1/account/export
        GET /v1/audit-log
        GET /v1/audit-log/<entry_id>
        GET /v1/audit-log/checkpoints
        GET /v1/audit-log/keys
        GET /v1/events
        GET /v1/events/<event_id>
        GET /v1/webhooks
        POST /v1/webhooks
        GET /v1/webhooks/<webhook_id>
        PUT /v1/webhooks/<webhook_id>
        DELETE /v1/webhooks/<webhook_id>
        GET /v1/webhooks/<webhook_id>/logs
        GET /v1/webhooks/<webhook_id>/logs/<log_id>
        POST /v1/webhooks/<webhook_id>/logs/<log_id>/redeliver
        POST /v1/webhooks/<webhook_id>/replay
        GET /v1/webhooks/<webhook_id>/replays/<replay_id>
        POST /v1/webhooks/<webhook_id>/rotate-secret
        POST /v1/webhooks/<webhook_id>/test
        """,
        ADMINS,
        NOBODY,
    ),
)


def _may_open(kind: str) -> dict[str, tuple[str, ...]]:
    """The roles that open each operation with a credential of this kind. PATCH is PUT."""
    may_open = {
        line.strip(): by_application if kind == "OAuth" else by_key
        for lines, by_key, by_application in TABLE
        for line in lines.strip().splitlines()
    }
    puts = [name for name in may_open if name.startswith("PUT ")]
    return may_open | {name.replace("PUT", "PATCH", 1): may_open[name] for name in puts}


def caller(owner: Client, person: Member, role: str, kind: str) -> Client:
    """A member of this role, through such a credential with all that it can be given."""
    if kind == "key":
        return person.client
    if kind == "token":
        return make_key_of(owner, person.id, role, kind="service_token")
    application = make_application(owner)
    answer = grant_tokens(owner.app, application, person.id, owner.account_id, SCOPES)
    return bearer(owner, answer["access_token"])


def test_the_table_has_every_operation() -> None:
    assert set(_may_open("key")) == {operation.name for operation in operations()}


@pytest.mark.parametrize(
    ("kind", "role"),
    [
        *(("key", role) for role in ("viewer", "editor", "admin")),
        ("token", "admin"),
        *(("OAuth", role) for role in ("viewer", "editor", "owner")),
    ],
)
def test_what_a_role_opens(client: Client, role: str, kind: str, subtests: pytest.Subtests) -> None:
    """The client is an owner of the account, and makes what the operations are about."""
    who = caller(client, make_member(client, role), role, kind)
    things, may_open = fill(client, EVERYTHING), _may_open(kind)
    for operation in operations():
        is_open = role in may_open.get(operation.name, ())
        ids = _fresh(client, operation) if is_open and operation.method != "GET" else things
        answer = who.send(operation.method, operation.path(ids), **body(operation))
        with subtests.test(operation.name):
            assert answer.status_code in ((200, 201, 202, 204, 409) if is_open else (403,))


def _fresh(owner: Client, operation: Operation) -> dict[str, str]:
    """What an operation is about, for it alone: it may end it."""
    ids = fill(owner, operation)
    prepare(owner, operation, ids)
    return ids


def test_what_the_session_of_a_browser_opens(client: Client) -> None:
    """The chat, and nothing of /v1."""
    browser = signed_in_browser(client.app, client.owner_id, client.account_id).client
    for operation in operations():
        path = operation.path(absent_ids(operation))
        elsewhere = {"REMOTE_ADDR": Browser.address()}  # 60 requests a minute are answered to one
        answer = browser.open(path, method=operation.method, environ_overrides=elsewhere)
        assert answer.status_code == 401, operation.name
    assert browser.post("/api/chat", json={}).status_code == 422
