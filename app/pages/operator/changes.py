"""Changes of the whole instance by operators: sign-up, the message on pages, backgrounds."""

from __future__ import annotations

from datetime import datetime

from app.audit.entries import changes_between, changes_of_new, write_instance_entry
from app.models import InstanceState
from app.site.instance_state import locked_state, read_state
from app.values import clock
from app.values.clock import format_optional_time
from app.values.records import Record, set_columns


def set_sign_up(*, closed: bool) -> None:
    """Close sign-up, or open it again as far as SIGN_UP allows. The caller commits."""
    state = locked_state()
    if closed != (state.sign_up_closed_at is not None):
        state.sign_up_closed_at = clock.now() if closed else None
        write_instance_entry(f"instance.sign_up_{'closed' if closed else 'opened'}")


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


def remove_message() -> None:
    """Remove the message from all pages, if there is one. The caller commits."""
    state = locked_state()
    before = _message_of(state)
    if before["message"] is not None:
        set_columns(state, dict.fromkeys(("message", "message_kind", "message_until")))
        changes = changes_between(before, _message_of(state))
        write_instance_entry("instance.message_removed", changes)


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
