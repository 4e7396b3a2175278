"""Events, written in the transaction of the change."""

from __future__ import annotations

from sqlalchemy import Index, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from app.db.column_types import Base, Key, foreign_key


class Event(Base):
    """One event. ``body`` is the whole envelope, byte for byte as every receiver gets it. Its time
    is that of the id, which sorts lists and tells old events."""

    __tablename__ = "events"
    __table_args__ = (
        Index(None, "account_id", "id"),
        Index(None, "account_id", "type", "id"),
        Index(None, "subject_id", "id"),
    )

    id: Mapped[str] = mapped_column(Key, primary_key=True)
    account_id: Mapped[str] = foreign_key("accounts.id")
    type: Mapped[str] = mapped_column(String(40))
    subject_id: Mapped[str] = mapped_column(Key)
    body: Mapped[str] = mapped_column(Text)
