"""Changes of the whole instance by operators: sign-up, the message on pages, backgrounds."""

from __future__ import annotations

from datetime import datetime

from app.audit.entries import changes_between, changes_of_new, write_instance_entry
from app.models import InstanceState
from app.site.instance_state import locked_state, read_state
from app.values import clock
from app.values.clock import format_optional_time
from app.values.records import Record, set_columns


def close_sign_up() -> bool:
    """Close sign-up. Returns False if it was closed. The caller commits."""
    state = locked_state()
    if state.sign_up_closed_at is not None:
        return False
    state.sign_up_closed_at = clock.now()
    write_instance_entry("instance.sign_up_closed")
    return True


def open_sign_up() -> bool:
    """Open sign-up again, as far as SIGN_UP allows. Returns False if it was open. The caller
    commits."""
    state = locked_state()
    if state.sign_up_closed_at is None:
        return False
    state.sign_up_closed_at = None
    write_instance_entry("instance.sign_up_opened")
    return True


def show_message(text: str, kind: str, until: datetime | None) -> None:
    """Show a message on all pages, in place of the former one. The caller commits.

    Args:
        kind: one of ``app.policy.instance.MESSAGE_KINDS``.
        until: when it ends; None: once it is removed.
    """
    state = locked_state()
    before = _message_of(state)
    set_columns(state, {"message": text, "message_kind": kind, "message_until": until})
    now = _message_of(state)
    changes = changes_of_new(now) if before["message"] is None else changes_between(before, now)
    write_instance_entry("instance.message_shown", changes)


def remove_message() -> bool:
    """Remove the message from all pages. Returns False if there was none. The caller commits."""
    state = locked_state()
    before = _message_of(state)
    if before["message"] is None:
        return False
    set_columns(state, dict.fromkeys(("message", "message_kind", "message_until")))
    write_instance_entry("instance.message_removed", changes_between(before, _message_of(state)))
    return True


def set_background(name: str, place: str) -> None:
    """Turn a background of maps on or off. The caller commits.

    Args:
        place: ``first`` or ``last`` of those that are on, or ``off``.
    """
    state = locked_state()
    before = read_state(in_change=True).backgrounds
    others = [each for each in before if each != name]
    now = {"first": [name, *others], "last": [*others, name], "off": others}[place]
    state.backgrounds = ",".join(now)
    changes = changes_between({"backgrounds": list(before)}, {"backgrounds": now})
    write_instance_entry("instance.backgrounds_changed", changes)


def _message_of(state: InstanceState) -> Record:
    return {
        "message": state.message,
        "kind": state.message_kind,
        "until": format_optional_time(state.message_until),
    }
