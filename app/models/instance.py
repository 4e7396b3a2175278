"""The operators' settings of the instance."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import CheckConstraint, SmallInteger, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from app.db.column_types import Base, Timestamp


class InstanceState(Base):
    """The one row, whose id is 1. Without it, nothing is set."""

    __tablename__ = "instance_state"
    __table_args__ = (
        CheckConstraint("id = 1", name="one_row"),
        CheckConstraint("message_kind IN ('information', 'warning')", name="message_kind"),
    )

    id: Mapped[int] = mapped_column(SmallInteger, primary_key=True, autoincrement=False)
    # The time since which nobody can sign up, whatever SIGN_UP is.
    sign_up_closed_at: Mapped[datetime | None] = mapped_column(Timestamp)
    # The time since which nothing is sent out, whatever OUTBOUND is.
    outbound_off_at: Mapped[datetime | None] = mapped_column(Timestamp)
    # At the top of every page: plain text.
    message: Mapped[str | None] = mapped_column(String(500))
    message_kind: Mapped[str | None] = mapped_column(String(20))
    message_until: Mapped[datetime | None] = mapped_column(Timestamp)  # None: until it is removed
    # Names in app.policy.backgrounds.PRESETS, separated by commas; the first is shown first.
    backgrounds: Mapped[str | None] = mapped_column(Text)
