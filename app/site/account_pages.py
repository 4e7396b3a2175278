"""The pages of an account, as the links beside them have it."""

from __future__ import annotations

from typing import Final, NamedTuple


class AccountPage(NamedTuple):
    """A page, its icon, and the permission that a role needs to see it; empty: none."""

    path: str
    words: str
    icon: str
    permission: str


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
