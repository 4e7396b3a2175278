"""Who may open which page: written out by hand, and not taken from the decorators.

A new page fails ``test_page_matrix.test_the_table_has_every_page``: add its line to the people who
may open it.
"""

from __future__ import annotations

from typing import Final

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
        POST /forgot-password
        GET /invitations/<token>
        POST /invitations/<token>
        GET /login
        POST /login
        GET /login/second-factor
        POST /login/second-factor
        POST /logout
        GET /login/single-sign-on
        GET /login/single-sign-on/callback
        GET /login/single-sign-on/link
        POST /login/single-sign-on/link
        GET /login/single-sign-on/link/<token>
        POST /login/single-sign-on/link/<token>
        POST /login/single-sign-on/mail
        GET /login/single-sign-on/new
        POST /login/single-sign-on/new
        GET /register
        POST /register
        GET /register/confirm/<token>
        POST /register/confirm/<token>
        GET /sign-up
        GET /signup
        GET /reset-password/<token>
        POST /reset-password/<token>
        GET /verify-email/<token>
        POST /verify-email/<token>
        GET /oauth/authorize
        POST /oauth/authorize
        """,
        ANYBODY,
    ),
    (
        """
        GET /accounts
        POST /accounts
        POST /accounts/leave
        POST /accounts/switch
        GET /accounts/<slug>/deletion
        POST /accounts/<slug>/deletion
        GET /applications
        POST /applications/end
        GET /invitations
        POST /invitations
        POST /invitations/decline
        GET /profile
        GET /profile/deletion
        POST /profile/deletion
        GET /profile/sign-ins/link
        POST /profile/sign-ins/<identity_id>/unlink
        POST /profile/name
        POST /profile/password
        GET /profile/second-factor
        POST /profile/second-factor/authenticator
        POST /profile/second-factor/authenticator/confirm
        POST /profile/second-factor/authenticator/remove
        POST /profile/second-factor/off
        POST /profile/second-factor/passkeys
        POST /profile/second-factor/passkeys/<passkey_id>/remove
        POST /profile/second-factor/passkeys/new
        POST /profile/second-factor/recovery-codes
        POST /profile/sessions/<session_id>/end
        POST /profile/sessions/end-others
        POST /profile/times
        POST /profile/verify-email
        """,
        SIGNED_IN,
    ),
    (
        """
        GET /assets
        GET /assets/<project_id>/<asset_id>
        GET /assets/export
        POST /assets/export
        GET /assets/map
        GET /assets/projects
        GET /eudr
        GET /eudr/download
        GET /members
        GET /projects
        GET /projects/<project_id>
        GET /projects/<project_id>/boundaries/<boundary_id>
        GET /projects/<project_id>/boundary
        GET /projects/<project_id>/overlaps
        POST /projects/check
        GET /projects/export
        POST /projects/export
        GET /projects/map
        GET /welcome
        """,
        EVERYBODY,
    ),
    (
        """
        POST /assets/<project_id>/<asset_id>/delete
        GET /assets/<project_id>/<asset_id>/edit
        POST /assets/<project_id>/<asset_id>/edit
        POST /assets/<project_id>/<asset_id>/status
        GET /assets/new
        POST /assets/new
        POST /eudr/fill
        GET /imports
        GET /imports/<import_id>
        POST /imports/<import_id>/apply
        POST /imports/<import_id>/cancel
        POST /imports/<import_id>/change
        POST /imports/<import_id>/leave-out
        GET /imports/<import_id>/shapes
        POST /imports/<import_id>/undo
        GET /imports/new
        POST /imports/new
        POST /projects/<project_id>/archive
        POST /projects/<project_id>/boundaries/<boundary_id>/restore
        POST /projects/<project_id>/delete
        GET /projects/<project_id>/edit
        POST /projects/<project_id>/edit
        POST /projects/<project_id>/restore
        POST /projects/archive
        GET /projects/new
        POST /projects/new
        POST /projects/restore
        """,
        EDITORS,
    ),
    (
        """
        GET /api-keys
        POST /api-keys/<credential_id>/revoke
        GET /api-keys/new
        POST /api-keys/new
        GET /api-keys/projects
        GET /applications/<app_id>
        POST /applications/<app_id>
        POST /applications/<app_id>/delete
        POST /applications/<app_id>/former-secret/end
        POST /applications/<app_id>/secret
        GET /applications/new
        POST /applications/new
        GET /audit-log
        GET /audit-log/<audit_id>/boundary.svg
        GET /audit-log/checkpoints.json
        POST /audit-log/export
        GET /members/<member_id>
        POST /members/<member_id>/invite
        POST /members/<member_id>/remove
        POST /members/<member_id>/role
        POST /members/invite
        GET /service-tokens
        POST /service-tokens/<credential_id>/revoke
        GET /service-tokens/new
        POST /service-tokens/new
        GET /service-tokens/projects
        GET /settings
        POST /settings
        POST /settings/export
        GET /usage
        GET /usage/requests.csv
        GET /webhooks
        GET /webhooks/<webhook_id>
        GET /webhooks/<webhook_id>/charts
        POST /webhooks/<webhook_id>/delete
        POST /webhooks/<webhook_id>/disable
        GET /webhooks/<webhook_id>/edit
        POST /webhooks/<webhook_id>/edit
        POST /webhooks/<webhook_id>/enable
        GET /webhooks/<webhook_id>/health
        GET /webhooks/<webhook_id>/log
        GET /webhooks/<webhook_id>/logs/<log_id>
        POST /webhooks/<webhook_id>/logs/<log_id>/redeliver
        POST /webhooks/<webhook_id>/retry
        GET /webhooks/<webhook_id>/replay
        POST /webhooks/<webhook_id>/replay
        POST /webhooks/<webhook_id>/rotate
        POST /webhooks/<webhook_id>/test
        GET /webhooks/new
        POST /webhooks/new
        POST /welcome/key
        """,
        ADMINS,
    ),
    (
        """
        POST /members/<member_id>/second-factor/reset
        GET /settings/deletion
        POST /settings/deletion
        POST /settings/deletion/cancel
        POST /settings/second-factor
        """,
        OWNERS,
    ),
    (
        """
        GET /operator
        GET /operator/accounts
        GET /operator/accounts/<account_id>
        POST /operator/accounts/<account_id>/plan
        GET /operator/doctor
        POST /operator/doctor
        GET /operator/log
        POST /operator/log/export
        POST /operator/message
        POST /operator/message/remove
        GET /operator/people
        POST /operator/sign-up
        """,
        OPERATORS,
    ),
)
