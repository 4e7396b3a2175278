"""The links to the pages of an account."""

from __future__ import annotations

from typing import Final, NamedTuple


class AccountPage(NamedTuple):
    """A page with its label, its icon, and the permission to see it."""

    path: str
    words: str
    icon: str
    permission: str  # empty: all roles


ACCOUNT_PAGES: Final = (
    AccountPage("/members", "Members", "users", "members:read"),
    AccountPage("/usage", "Usage", "gauge", "billing:read"),
    AccountPage("/api-keys", "API keys", "key-round", "admin"),
    AccountPage("/service-tokens", "Service tokens", "bot", "admin"),
    AccountPage("/applications", "Applications", "app-window", ""),
    AccountPage("/webhooks", "Webhooks", "webhook", "admin"),
    AccountPage("/audit-log", "Audit log", "history", "admin"),
    AccountPage("/settings", "Settings", "settings", "admin"),
)
