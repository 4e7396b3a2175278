"""What is deleted with an account, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

# Singular and plural.
_WORDS: Final = {
    "projects": ("project", "projects"),
    "assets": ("asset", "assets"),
    "members": ("member", "members"),
    "invitations": ("invitation", "invitations"),
    "api_keys": ("API key", "API keys"),
    "service_tokens": ("service token", "service tokens"),
    "applications": ("application", "applications"),
    "webhooks": ("webhook", "webhooks"),
}


def counted(numbers: Mapping[str, int]) -> str:
    """Counts as a list for people, such as ``30 projects, 1 asset and 2 members``; zeros are left
    out."""
    parts = [
        f"{number:,} {_WORDS[name][number != 1]}" for name, number in numbers.items() if number
    ]
    return f"{', '.join(parts[:-1])} and {parts[-1]}" if len(parts) > 1 else "".join(parts)
