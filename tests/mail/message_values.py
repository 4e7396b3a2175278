"""A message of each kind: its values, and what its text says with them."""

from __future__ import annotations

from typing import Any

LINK = "https://canopy.example/x/canopy_lnk_0123456789?a=1&b=2"
OTHER_LINK = "https://canopy.example/forgot-password"

_WEBHOOK = {
    "name": "Jo",
    "account_name": "Green Woods",
    "url": "https://hooks.example.org/a?b=1",
    "webhook_id": "wh_01k9zqf0v7c3s6m1e8y2r5t9wd",
    "since": "2026-01-02T03:04:05.678Z",
    "life": "5 days",
}
_DELETION = {
    "name": "Jo",
    "account_name": "Green Woods",
    "deletes_at": "2026-01-02T03:04:05.678Z",
}
VALUES: dict[str, dict[str, Any]] = {
    "confirm_sign_up": {"link": LINK},
    "sign_up_known": {"name": "Jo", "sign_in_link": LINK, "reset_link": OTHER_LINK},
    "reset_password": {"name": "Jo", "link": LINK},
    "verify_email": {"name": "Jo", "link": LINK},
    "invitation": {
        "account_name": "Green Woods",
        "inviter_name": "Ann Forester",
        "inviter_email": "ann@green-woods.example",
        "role": "editor",
        "link": LINK,
        "days": 7,
    },
    "backup_failed": {
        "name": "Jo",
        "when": "2026-01-02T03:04:05.678Z",
        "reason": "the folder /backups cannot be written",
        "page": LINK,
    },
    "password_changed": {
        "name": "Jo",
        "when": "2026-01-02T03:04:05.678Z",
        "address": "2001:db8::7",
        "reset_link": LINK,
        "applications_link": OTHER_LINK,
    },
    "link_sign_in": {"name": "Jo", "provider": "Oak IT", "link": LINK},
    "sign_in_linked": {
        "name": "Jo",
        "provider": "Oak IT",
        "email": "jo@oak.example",
        "when": "2026-01-02T03:04:05.678Z",
        "profile_link": LINK,
    },
    "key_expiring": {
        "name": "Jo",
        "account_name": "Green Woods",
        "key_name": "Nightly",
        "ends_with": "x7Qz",
        "expires_at": "2026-01-09T03:04:05.678Z",
        "last_used_at": "2026-01-02T03:04:05.678Z",
    },
    "second_factor_changed": {
        "change": "passkey",
        "title": "A passkey was added",
        "name": "Jo",
        "when": "2026-01-02T03:04:05.678Z",
        "address": "2001:db8::7",
        "passkey_name": "Blue key",
        "by_name": "",
        "left": 0,
        "factor_link": OTHER_LINK,
        "reset_link": LINK,
    },
    "second_factor_guessed": {
        "name": "Jo",
        "when": "2026-01-02T03:04:05.678Z",
        "address": "2001:db8::7",
        "reset_link": LINK,
    },
    "account_deletion_scheduled": _DELETION | {"by_email": "ann@example.org", "link": LINK},
    "account_deletion_canceled": _DELETION | {"by_email": "ann@example.org"},
    "account_deleted": _DELETION,
    "person_deleted": {"name": "Jo"},
    "webhook_failing": _WEBHOOK
    | {"path": "/v1/webhooks/wh_01k9zqf0v7c3s6m1e8y2r5t9wd"}
    | {"disabled_at": "2026-01-07T03:04:05.678Z"},
    "webhook_disabled": _WEBHOOK
    | {"path": "/v1/webhooks/wh_01k9zqf0v7c3s6m1e8y2r5t9wd", "reason": "failing"},
    "test": {},
}
WORDS = {
    "confirm_sign_up": ["within 24 hours", "If you did not sign up, ignore this"],
    "sign_up_known": ["You already have an account", OTHER_LINK, "ignore this email"],
    "reset_password": ["within 1 hour.", "If you did not ask for this, ignore this email"],
    "verify_email": ["within 7 days", "ignore this email"],
    "invitation": ["Ann Forester (ann@green-woods.example)", "role editor", "within 7 days"],
    "second_factor_changed": ["Blue key", "2 January 2026, 03:04 UTC", "2001:db8::7"],
    "second_factor_guessed": ["wrong codes", "2 January 2026, 03:04 UTC", "2001:db8::7"],
    "link_sign_in": [
        "signed in with Oak IT",
        "in the same browser",
        "within 1 hour.",
        "ignore this",
    ],
    "sign_in_linked": ["2 January 2026, 03:04 UTC", "as jo@oak.example there", "If it was not"],
    "backup_failed": ["2 January 2026, 03:04 UTC", "/backups cannot be written", "every hour"],
    "password_changed": ["2 January 2026, 03:04 UTC", "IP address 2001:db8::7", "If it was not"],
    "key_expiring": ["Nightly", "expires on 9 January 2026", "ends with x7Qz", "/api-keys"],
    "account_deletion_scheduled": ["ann@example.org", "2 January 2026, 03:04 UTC", "cancel"],
    "account_deletion_canceled": ["ann@example.org canceled the deletion", "Green Woods"],
    "account_deleted": ["is being deleted now", "2 January 2026, 03:04 UTC"],
    "person_deleted": ["you can no longer sign in", "If this was not you"],
    "webhook_failing": ["https://hooks.example.org/a?b=1", "disabled on 7 January 2026, 03:04 UTC"],
    "webhook_disabled": ["https://hooks.example.org/a?b=1", "nothing since 2 January 2026"],
    "test": ["test email"],
}
