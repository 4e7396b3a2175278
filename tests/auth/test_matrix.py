"""Who opens which operation: every cell of roles, credentials and operations.

The table is written out here, and not taken from the policy that is tested.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import pytest

from app.auth.guard import ANY_CREDENTIAL
from app.policy.permissions import PROFILE
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
# What each operation needs, the roles that open it with an API key or a service token, and those
# that open it with the token of an application that was granted every scope. PATCH is PUT.
TABLE: Final[tuple[tuple[str, tuple[str, ...], tuple[str, ...], str], ...]] = (
    (
        ANY_CREDENTIAL,
        EVERYBODY,
        EVERYBODY,  # with the scope ``profile``
        """
        GET /v1/auth/verify
        GET /v1/event-types
        GET /v1/me
        """,
    ),
    (PROFILE, EVERYBODY, EVERYBODY, "GET /v1/account"),
    (
        "projects:read",
        EVERYBODY,
        EVERYBODY,
        """
        GET /v1/projects
        GET /v1/projects/<project_id>
        GET /v1/projects/<project_id>/boundaries
        GET /v1/projects/<project_id>/boundaries/<boundary_id>
        GET /v1/projects/<project_id>/overlaps
        GET /v1/projects/map
        POST /v1/geometry/validate
        GET /v1/exports/projects
        GET /v1/eudr
        """,
    ),
    (
        "assets:read",
        EVERYBODY,
        EVERYBODY,
        """
        GET /v1/assets
        GET /v1/projects/<project_id>/assets
        GET /v1/projects/<project_id>/assets/<asset_id>
        GET /v1/exports/assets
        """,
    ),
    (
        "members:read",
        EVERYBODY,
        EVERYBODY,
        """
        GET /v1/account/members
        GET /v1/account/members/<member_id>
        """,
    ),
    (
        "projects:write",
        EDITORS,
        EDITORS,
        """
        POST /v1/projects
        PUT /v1/projects/<project_id>
        POST /v1/projects/<project_id>/archive
        POST /v1/projects/<project_id>/restore
        POST /v1/projects/<project_id>/boundaries/<boundary_id>/restore
        """,
    ),
    ("projects:write", EDITORS, ADMINS, "DELETE /v1/projects/<project_id>"),
    (
        "assets:write",
        EDITORS,
        EDITORS,
        """
        POST /v1/projects/<project_id>/assets
        PUT /v1/projects/<project_id>/assets/<asset_id>
        DELETE /v1/projects/<project_id>/assets/<asset_id>
        """,
    ),
    (
        "projects:write or assets:write",
        EDITORS,
        EDITORS,
        """
        GET /v1/imports
        POST /v1/imports
        GET /v1/imports/<import_id>
        PUT /v1/imports/<import_id>
        GET /v1/imports/<import_id>/features
        POST /v1/imports/<import_id>/apply
        POST /v1/imports/<import_id>/cancel
        POST /v1/imports/<import_id>/undo
        """,
    ),
    (
        "members:write",
        ADMINS,
        NOBODY,
        """
        POST /v1/account/members/invite
        PUT /v1/account/members/<member_id>
        DELETE /v1/account/members/<member_id>
        """,
    ),
    (
        "billing:read",
        ADMINS,
        NOBODY,
        """
        GET /v1/account/usage
        GET /v1/account/usage/requests
        """,
    ),
    (
        "admin",
        ADMINS,
        NOBODY,
        """
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
    ),
)


class Row(NamedTuple):
    """What the table says of an operation."""

    needs: str
    by_key: tuple[str, ...]
    by_application: tuple[str, ...]


def _rows() -> dict[str, Row]:
    found = {
        line.strip(): Row(*row) for *row, lines in TABLE for line in lines.strip().splitlines()
    }
    puts = [name for name in found if name.startswith("PUT ")]
    return found | {name.replace("PUT", "PATCH", 1): found[name] for name in puts}


ROWS: Final = _rows()


def caller(owner: Client, person: Member, role: str, kind: str) -> Client:
    """A member of this role, through such a credential with all that it can be given."""
    if kind == "key":
        return person.client
    if kind == "token":
        return make_key_of(owner, person.id, role, kind="service_token")
    application = make_application(owner)
    answer = grant_tokens(owner.app, application, person.id, owner.account_id, SCOPES)
    return bearer(owner, answer["access_token"])


def test_operations_need_these_permissions() -> None:
    """All that there are, so that a new one is judged here too."""
    needs = {name: row.needs for name, row in ROWS.items()}
    assert needs == {operation.name: operation.needs for operation in operations()}


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
    things = fill(client, EVERYTHING)
    for operation in operations():
        row = ROWS[operation.name]
        is_open = role in (row.by_application if kind == "OAuth" else row.by_key)
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
