"""Plain functions that make one of each thing a test needs."""

from tests.make.accounts import (
    Client,
    make_account,
    make_key,
    make_service_token,
    put_on,
    requests_today,
    revoke,
    use_up_minute,
)
from tests.make.apps import second_app
from tests.make.audit import audit_entries, make_boundary_entry, make_entry
from tests.make.browser import Browser, make_person, sign_in, sign_up, signed_in, signed_in_browser
from tests.make.events import event_types, events
from tests.make.geometry import multi_square, point, square
from tests.make.imports import make_import
from tests.make.mails import link_in, mails_to, new_email, text_of
from tests.make.members import (
    Member,
    invitation_token,
    make_invited,
    make_key_of,
    make_member,
    make_operator,
    operator_of,
    set_password,
)
from tests.make.oauth import Application, bearer, grant_tokens, make_application
from tests.make.resources import make_asset, make_former_boundary, make_project
from tests.make.together import together
from tests.make.webhooks import deliveries, make_attempts, make_log, make_replay, make_webhook

__all__ = [
    "Application",
    "Browser",
    "Client",
    "Member",
    "audit_entries",
    "bearer",
    "deliveries",
    "event_types",
    "events",
    "grant_tokens",
    "invitation_token",
    "link_in",
    "mails_to",
    "make_account",
    "make_application",
    "make_asset",
    "make_attempts",
    "make_boundary_entry",
    "make_entry",
    "make_former_boundary",
    "make_import",
    "make_invited",
    "make_key",
    "make_key_of",
    "make_log",
    "make_member",
    "make_operator",
    "make_person",
    "make_project",
    "make_replay",
    "make_service_token",
    "make_webhook",
    "multi_square",
    "new_email",
    "operator_of",
    "point",
    "put_on",
    "requests_today",
    "revoke",
    "second_app",
    "set_password",
    "sign_in",
    "sign_up",
    "signed_in",
    "signed_in_browser",
    "square",
    "text_of",
    "together",
    "use_up_minute",
]
