"""Queued and sent mails."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Index, Integer, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from app.db.column_types import Base, Key, Timestamp


class Mail(Base):
    """One mail to one person, for one cause.

    ``sealed`` holds its values, encrypted because they include secret links. It is wiped when the
    mail is sent or given up.
    """

    __tablename__ = "mails"
    __table_args__ = (
        Index(None, "due_at"),
        Index(None, "created_at"),
        Index(None, "cause", unique=True),
        Index(None, "turn_of", "leased_at"),
    )

    id: Mapped[str] = mapped_column(Key, primary_key=True)
    kind: Mapped[str] = mapped_column(String(40))
    recipient: Mapped[str] = mapped_column(String(254))
    cause: Mapped[str] = mapped_column(String(200))  # why it is sent
    # The account that it comes from, for fair turns; empty if it comes from none.
    turn_of: Mapped[str] = mapped_column(Key, default="")
    sealed: Mapped[str | None] = mapped_column(Text)
    attempts: Mapped[int] = mapped_column(Integer)
    # The next attempt, or the end of the lease; None when it is sent or given up.
    due_at: Mapped[datetime | None] = mapped_column(Timestamp)
    leased_at: Mapped[datetime | None] = mapped_column(Timestamp)  # the last time
    sent_at: Mapped[datetime | None] = mapped_column(Timestamp)
    error: Mapped[str | None] = mapped_column(String(200))  # why the last attempt failed
    created_at: Mapped[datetime] = mapped_column(Timestamp)
