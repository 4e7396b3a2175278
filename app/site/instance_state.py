"""The state of the instance: who can sign up, whether it sends anything out, the message on all
pages, and the backgrounds of maps.

They are in one row. Decisions read the row; pages show what their process has read within the last
seconds, which costs no query.
"""

from __future__ import annotations

import threading
import time
from datetime import datetime
from typing import Final, NamedTuple

from flask import Flask, current_app, g
from sqlalchemy import select
from sqlalchemy.exc import SQLAlchemyError

from app.db.engines import insert_into
from app.db.extensions import db
from app.db.queries import CompiledQuery
from app.models import InstanceState
from app.outbound.switch import is_off_by_setting
from app.policy.backgrounds import PRESETS
from app.policy.instance import STATE_SECONDS
from app.settings.current import current_settings
from app.values import clock

ROW: Final = 1  # the id
OPEN: Final = "open"  # a value of SIGN_UP
CLOSED: Final = "closed"
_EXTENSION: Final = "canopy_instance_state"
_STATEMENT: Final = select(
    InstanceState.sign_up_closed_at,
    InstanceState.outbound_off_at,
    InstanceState.message,
    InstanceState.message_kind,
    InstanceState.message_until,
    InstanceState.backgrounds,
).where(InstanceState.id == ROW)
_ROW: Final = CompiledQuery(_STATEMENT)


class InstanceMessage(NamedTuple):
    """The message at the top of every page, as plain text.

    Attributes:
        kind: one of ``app.policy.instance.MESSAGE_KINDS``.
        until: when it ends; None: when it is removed.
    """

    text: str
    kind: str
    until: datetime | None

    @property
    def has_ended(self) -> bool:
        return self.until is not None and clock.now() >= self.until


class State(NamedTuple):
    """The row of the instance."""

    sign_up_closed_at: datetime | None = None
    outbound_off_at: datetime | None = None
    message: InstanceMessage | None = None
    backgrounds: tuple[str, ...] = ()  # names of presets


class _RecentState:
    """The state that a process has read within the last ``STATE_SECONDS``.

    While one thread reads it, the others use the former one, and so do error pages, as the database
    may be down. If it cannot be read, it is empty.
    """

    def __init__(self) -> None:
        self._state = State()
        self._read_at: float | None = None
        self._lock = threading.Lock()

    def get(self) -> State:
        is_old = self._read_at is None or time.monotonic() - self._read_at >= STATE_SECONDS
        if is_old and not g.get("is_failure") and self._lock.acquire(blocking=False):
            try:
                self._read_at = time.monotonic()
                self._state = read_state()
            except SQLAlchemyError:
                self._state = State()
            finally:
                self._lock.release()
        return self._state

    def forget(self) -> None:
        self._read_at = None


def init_app(app: Flask) -> None:
    """Give ``app`` the recent state of the instance."""
    app.extensions[_EXTENSION] = _RecentState()


def read_state(*, in_change: bool = False) -> State:
    """Read the row.

    Args:
        in_change: read it in the open transaction. A thread that waits for a second connection
            could wait for itself.
    """
    row = db.session.execute(_STATEMENT).first() if in_change else _ROW.first()
    if row is None:
        return State()
    message = None
    if row.message is not None:
        message = InstanceMessage(row.message, row.message_kind, row.message_until)
    names = background_names(row.backgrounds)
    return State(row.sign_up_closed_at, row.outbound_off_at, message, names)


def background_names(stored: str | None) -> tuple[str, ...]:
    """Return the presets that a row names; one of a later version is left out."""
    return tuple(name for name in (stored or "").split(",") if name in PRESETS)


def locked_state() -> InstanceState:
    """Lock the row for a change. It is created if there is none."""
    row = insert_into(InstanceState).values(id=ROW).on_conflict_do_nothing()
    db.session.execute(row)
    return db.session.get_one(InstanceState, ROW, with_for_update=True)


def forget_state() -> None:
    """Have this process read the row again. Other processes do so within ``STATE_SECONDS``."""
    _recent_state().forget()


def sign_up(*, in_change: bool = False) -> str:
    """Return who can sign up now: ``open``, ``invited`` or ``closed``, which is SIGN_UP unless an
    operator has closed sign-up.

    Args:
        in_change: as in ``read_state``.
    """
    return _sign_up_in(read_state(in_change=in_change))


def shown_sign_up() -> str:
    """Return the same for pages, up to ``STATE_SECONDS`` old."""
    return _sign_up_in(_recent_state().get())


def shown_outbound_off() -> bool:
    """Return True if nothing is sent out, up to ``STATE_SECONDS`` late."""
    if is_off_by_setting(current_settings()):
        return True
    return _recent_state().get().outbound_off_at is not None


def shown_message() -> InstanceMessage | None:
    """Return the message that pages show, or None."""
    message = _recent_state().get().message
    return None if message is None or message.has_ended else message


def shown_backgrounds() -> tuple[str, ...]:
    """Return the presets that operators have turned on, up to ``STATE_SECONDS`` old."""
    return _recent_state().get().backgrounds


def _sign_up_in(state: State) -> str:
    return CLOSED if state.sign_up_closed_at else current_settings().sign_up


def _recent_state() -> _RecentState:
    recent: _RecentState = current_app.extensions[_EXTENSION]
    return recent
