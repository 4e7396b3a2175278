"""The switch for what this instance sends out: webhooks, emails, and questions to the model.

It is off if the setting ``OUTBOUND`` or an operator says so. Then deliveries and emails are held:
they stay in their queues, and nothing is attempted. ``tests/outbound/test_switch.py`` has every way
out.
"""

from __future__ import annotations

from typing import Final

from sqlalchemy import Connection, text
from sqlalchemy.orm import Session

from app.db.queries import CompiledQuery
from app.settings.current import current_settings
from app.values.command_name import canopy_command
from config import Settings

NOTHING_SENT: Final = (
    "This instance sends nothing out: no webhooks and no emails. Its operator can change that."
)
_STATEMENT: Final = text("SELECT 1 FROM instance_state WHERE outbound_off_at IS NOT NULL")
_IS_OFF: Final = CompiledQuery(_STATEMENT)


def is_off_by_setting(settings: Settings) -> bool:
    """True if ``OUTBOUND`` is off, so that an operator cannot switch it on."""
    return settings.outbound == "off"


def is_off_for(settings: Settings, source: Connection | Session) -> bool:
    """True if the settings or the database say off."""
    return is_off_by_setting(settings) or source.execute(_STATEMENT).first() is not None


def is_outbound_off() -> bool:
    """True if nothing may be sent now."""
    return is_off_by_setting(current_settings()) or bool(_IS_OFF.tuples())


def how_to_send(settings: Settings) -> str:
    """Return a sentence with what an operator does to have all sent again."""
    if is_off_by_setting(settings):
        return "To send, remove OUTBOUND=off from the settings, and restart the service."
    command = canopy_command("outbound on")
    return f"To send what is held, run {command}; to drop it, {command} --discard."
