"""Texts about members: what each role may do, and what a change ends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from app.account.members.invitation_status import InvitationStatus
from app.account.members.removal_preview import LostAccess
from app.policy.permissions import ROLES
from app.site.formats import number, pluralize

ROLE_WORDS: Final = {
    "viewer": "Sees projects, assets and members. Changes nothing.",
    "editor": "Creates and changes projects and assets, and archives projects.",
    "admin": "Manages members, keys, webhooks and settings as well, and sees usage.",
    "owner": "Like an admin, and decides who is an owner.",
}
_MAY: Final = {
    "See projects, assets and members": {"projects:read", "assets:read", "members:read"},
    "Create, change and archive projects, create and change assets": {
        "projects:write",
        "assets:write",
    },
    "Delete a project or an asset on its page; delete a project through an application": {"admin"},
    "See usage and limits, change the account's settings": {"billing:read", "admin"},
    "Manage API keys, service tokens, applications and webhooks": {"admin"},
    "Invite, change and remove viewers, editors and admins": {"members:write"},
}
# {action: [True if each of ROLES may do it]}
ROLE_TABLE: Final = {
    **{
        action: [permissions <= role for role in ROLES.values()]
        for action, permissions in _MAY.items()
    },
    "Appoint, change and remove owners": [role == "owner" for role in ROLES],
}
_KINDS: Final = {"api_key": "API key", "service_token": "service token"}
_MOST_NAMES: Final = 20


def lost_access_words(lost: LostAccess) -> list[str]:
    """Return sentences about the access that a change ends; empty if it ends none."""
    sentences = []
    if lost.sessions:
        sentences.append(f"Signs them out here, in {pluralize(lost.sessions, 'browser')}.")
    if lost.applications:
        number = pluralize(len(lost.applications), "application")
        sentences.append(f"Ends the access of {number}: {_listed_names(lost.applications)}.")
    for effect, credentials in (
        ("Reduces {} to what the role may do", lost.reduced),
        ("Revokes {}", lost.revoked),
    ):
        if credentials:
            number = pluralize(len(credentials), "key or token", "keys and tokens")
            names = _listed_names([_credential_text(row) for row in credentials])
            sentences.append(f"{effect.format(number)}: {names}.")
    return sentences


def conflict_words(
    member: Mapping[str, Any], change: Mapping[str, Any] | None, had_joined: bool
) -> str:
    """Return the message about a change that somebody else has saved.

    Args:
        member: the saved record.
        change: the last change, if known.
        had_joined: True if they had joined when the page was loaded.
    """
    if member["joined_at"] and not had_joined:
        event = f"{member['name']} has joined"
    else:
        event = f"{change['who'] if change else 'Somebody'} has changed this role"
    return (
        f"{event} since you opened the page. The role is {member['role']} now. Nothing of yours is "
        "saved: look below, and try again."
    )


def mail_words(invited: InvitationStatus | None, *, is_held: bool = False) -> tuple[str, str]:
    """Return (text, CSS class) of the tag for the delivery of an invitation's email; both empty if
    unknown.

    Args:
        is_held: the instance sends no emails now.
    """
    if invited is None:
        return "", ""
    reason = f": {invited.error}" if invited.error else ""
    return {
        "sent": ("Email sent", "good"),
        "queued": ("Email held" if is_held else "Email is being sent", ""),
        "delayed": (f"Email not sent yet{reason}. It is tried again.", "draft"),
        "failed": (f"Email could not be sent{reason}", "bad"),
        "dropped": ("Email not sent: this address got too many within an hour", "bad"),
    }.get(invited.mail, ("", ""))


def _credential_text(row: Any) -> str:
    return f"{_KINDS[row.kind]} {row.name} (ends in {row.token_end})"


def _listed_names(names: Sequence[str]) -> str:
    """Join names; after ``_MOST_NAMES`` follows the number of the others."""
    left = len(names) - _MOST_NAMES
    return ", ".join(names[:_MOST_NAMES]) + (f" and {number(left)} more" if left > 0 else "")
