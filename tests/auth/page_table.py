"""Who may open which page, and what each form enters into the audit log: written out by hand, and
not taken from the code.

A new page fails ``test_page_matrix.test_the_table_has_every_page``: add its line to the people who
may open it. That of a form ends with the action that it enters, or with one of these:

- ``nothing``: it changes nothing in the account;
- ``own test``: it belongs to a flow, whose test looks at the entries: one of ``test_people.py`` in
  ``tests/audit``, ``test_audit.py`` in ``tests/people``, or those in ``tests/account/deletion``.
"""

from __future__ import annotations

from typing import Final, NamedTuple

ROLES: Final = ("viewer", "editor", "admin", "owner")
EVERYBODY, EDITORS, ADMINS, OWNERS = ROLES, ROLES[1:], ROLES[2:], ROLES[3:]
ANYBODY: Final = (*ROLES, "no account", "operator", "stranger")
SIGNED_IN: Final = (*ROLES, "no account", "operator")
OPERATORS: Final = ("operator",)  # of the instance, who belongs to no account
TABLE: Final[tuple[tuple[str, tuple[str, ...]], ...]] = (
    (
        """
        GET /
        GET /forgot-password
        POST /forgot-password: own test
        GET /invitations/<token>
        POST /invitations/<token>: own test
        GET /login
        POST /login: own test
        GET /login/second-factor
        POST /login/second-factor: own test
        POST /logout: own test
        GET /login/single-sign-on
        GET /login/single-sign-on/callback
        GET /login/single-sign-on/link
        POST /login/single-sign-on/link: own test
        GET /login/single-sign-on/link/<token>
        POST /login/single-sign-on/link/<token>: own test
        POST /login/single-sign-on/mail: own test
        GET /login/single-sign-on/new
        POST /login/single-sign-on/new: own test
        GET /register
        POST /register: own test
        GET /register/confirm/<token>
        POST /register/confirm/<token>: own test
        GET /sign-up
        GET /signup
        GET /reset-password/<token>
        POST /reset-password/<token>: own test
        GET /verify-email/<token>
        POST /verify-email/<token>: own test
        GET /oauth/authorize
        POST /oauth/authorize: own test
        """,
        ANYBODY,
    ),
    (
        """
        GET /accounts
        POST /accounts: own test
        POST /accounts/leave: own test
        POST /accounts/switch: nothing
        GET /accounts/<slug>/deletion
        POST /accounts/<slug>/deletion: own test
        GET /applications
        POST /applications/end: own test
        GET /invitations
        GET /map/basemap.pmtiles
        POST /invitations: own test
        POST /invitations/decline: own test
        GET /profile
        GET /profile/deletion
        POST /profile/deletion: own test
        GET /profile/sign-ins/link
        POST /profile/sign-ins/<identity_id>/unlink: own test
        POST /profile/name: person.updated
        POST /profile/password: own test
        GET /profile/second-factor
        POST /profile/second-factor/authenticator: own test
        POST /profile/second-factor/authenticator/confirm: own test
        POST /profile/second-factor/authenticator/remove: own test
        POST /profile/second-factor/off: own test
        POST /profile/second-factor/passkeys: own test
        POST /profile/second-factor/passkeys/<passkey_id>/remove: own test
        POST /profile/second-factor/passkeys/new: own test
        POST /profile/second-factor/recovery-codes: own test
        POST /profile/sessions/<session_id>/end: own test
        POST /profile/sessions/end-others: person.sessions_ended
        POST /profile/times: person.updated
        POST /profile/verify-email: own test
        """,
        SIGNED_IN,
    ),
    (
        """
        GET /assets
        GET /assets/<project_id>/<asset_id>
        GET /assets/export
        POST /assets/export: asset.exported
        GET /assets/map
        GET /assets/projects
        GET /eudr
        POST /eudr: nothing
        GET /eudr/download
        GET /members
        GET /projects
        GET /projects/<project_id>
        GET /projects/<project_id>/boundaries/<boundary_id>
        GET /projects/<project_id>/boundary
        GET /projects/<project_id>/overlaps
        POST /projects/check: nothing
        GET /projects/export
        POST /projects/export: project.exported
        GET /map/places
        GET /projects/<project_id>/where
        GET /projects/legend
        GET /projects/map
        GET /welcome
        """,
        EVERYBODY,
    ),
    (
        """
        GET /assets/<project_id>/<asset_id>/edit
        POST /assets/<project_id>/<asset_id>/edit: asset.updated
        POST /assets/<project_id>/<asset_id>/status: asset.updated
        GET /assets/new
        POST /assets/new: asset.created
        POST /eudr/fill: project.updated
        GET /imports
        GET /imports/<import_id>
        POST /imports/<import_id>/apply: import.applied
        POST /imports/<import_id>/cancel: import.canceled
        POST /imports/<import_id>/change: import.updated
        POST /imports/<import_id>/leave-out: import.updated
        GET /imports/<import_id>/shapes
        POST /imports/<import_id>/undo: import.undone
        GET /imports/new
        POST /imports/new: import.created
        POST /projects/<project_id>/archive: project.archived
        POST /projects/<project_id>/boundaries/<boundary_id>/restore: project.boundary.updated
        GET /projects/<project_id>/edit
        POST /projects/<project_id>/edit: project.boundary.updated
        POST /projects/<project_id>/restore: project.restored
        POST /projects/archive: project.archived
        GET /projects/new
        POST /projects/new: project.created
        POST /projects/restore: project.restored
        """,
        EDITORS,
    ),
    (
        """
        GET /api-keys
        POST /api-keys/<credential_id>/revoke: api_key.revoked
        GET /api-keys/new
        POST /api-keys/new: api_key.created
        GET /api-keys/projects
        GET /applications/<app_id>
        POST /applications/<app_id>: application.updated
        POST /applications/<app_id>/delete: application.deleted
        POST /applications/<app_id>/former-secret/end: application.former_secret_ended
        POST /applications/<app_id>/secret: application.secret_rotated
        GET /applications/new
        POST /applications/new: application.created
        POST /assets/<project_id>/<asset_id>/delete: asset.deleted
        GET /audit-log
        GET /audit-log/<audit_id>/boundary.svg
        GET /audit-log/checkpoints.json
        POST /audit-log/export: audit_log.exported
        GET /members/<member_id>
        POST /members/<member_id>/invite: member.invited
        POST /members/<member_id>/remove: member.removed
        POST /members/<member_id>/role: member.updated
        POST /members/invite: member.invited
        POST /projects/<project_id>/delete: project.deleted
        GET /service-tokens
        POST /service-tokens/<credential_id>/revoke: service_token.revoked
        GET /service-tokens/new
        POST /service-tokens/new: service_token.created
        GET /service-tokens/projects
        GET /settings
        POST /settings: account.updated
        POST /settings/export: account.exported
        GET /usage
        GET /usage/requests.csv
        GET /webhooks
        GET /webhooks/<webhook_id>
        GET /webhooks/<webhook_id>/charts
        POST /webhooks/<webhook_id>/delete: webhook.deleted
        POST /webhooks/<webhook_id>/disable: webhook.updated
        GET /webhooks/<webhook_id>/edit
        POST /webhooks/<webhook_id>/edit: webhook.updated
        POST /webhooks/<webhook_id>/enable: webhook.updated
        GET /webhooks/<webhook_id>/health
        GET /webhooks/<webhook_id>/log
        GET /webhooks/<webhook_id>/logs/<log_id>
        POST /webhooks/<webhook_id>/logs/<log_id>/redeliver: webhook.redelivered
        POST /webhooks/<webhook_id>/retry: webhook.retried
        GET /webhooks/<webhook_id>/replay
        POST /webhooks/<webhook_id>/replay: webhook.replayed
        POST /webhooks/<webhook_id>/rotate: webhook.secret_rotated
        POST /webhooks/<webhook_id>/test: webhook.tested
        GET /webhooks/new
        POST /webhooks/new: webhook.created
        POST /welcome/key: api_key.created
        """,
        ADMINS,
    ),
    (
        """
        POST /members/<member_id>/second-factor/reset: own test
        GET /settings/deletion
        POST /settings/deletion: own test
        POST /settings/deletion/cancel: own test
        POST /settings/second-factor: own test
        """,
        OWNERS,
    ),
    (
        """
        GET /operator
        GET /operator/accounts
        GET /operator/accounts/<account_id>
        POST /operator/accounts/<account_id>/plan: account.updated
        GET /operator/doctor
        POST /operator/doctor: nothing
        GET /operator/log
        POST /operator/log/export: audit_log.exported
        POST /operator/message: instance.message_shown
        POST /operator/message/remove: instance.message_removed
        GET /operator/mails
        GET /operator/map
        POST /operator/map: instance.backgrounds_changed
        GET /operator/people
        POST /operator/sign-up: instance.sign_up_closed
        """,
        OPERATORS,
    ),
)


class PageRow(NamedTuple):
    """A line of the table."""

    who: tuple[str, ...]
    entry: str  # of a form

    @property
    def actions(self) -> list[str]:
        """The actions that a form without a test of its own enters."""
        return [] if self.entry == "nothing" else [self.entry]


def _rows() -> dict[str, PageRow]:
    """By method and rule."""
    found = {}
    for lines, who in TABLE:
        for line in lines.strip().splitlines():
            name, _, entry = line.strip().partition(": ")
            found[name] = PageRow(who, entry)
    return found


PAGES: Final = _rows()


def forms_with_entries() -> list[str]:
    """The rules of the forms whose entries tests of all forms look at."""
    posts = {name: row for name, row in PAGES.items() if name.startswith("POST ")}
    return [name.removeprefix("POST ") for name, row in posts.items() if row.entry != "own test"]
