"""Single sign-on: the identities of people at the provider, and pending sign-ins."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Index, String, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from app.db.column_types import Base, Hash, Key, Timestamp, foreign_key


class SignInIdentity(Base):
    """The identity of a person at an OpenID Connect provider, whose subjects never change."""

    __tablename__ = "sign_in_identities"
    __table_args__ = (UniqueConstraint("issuer", "subject"), Index(None, "user_id"))

    id: Mapped[str] = mapped_column(Key, primary_key=True)
    user_id: Mapped[str] = foreign_key("users.id")
    issuer: Mapped[str] = mapped_column(String(500))
    subject: Mapped[str] = mapped_column(String(255))  # OpenID Connect Core 1.0, section 2
    email: Mapped[str] = mapped_column(String(254))  # at the provider, when it was linked
    created_at: Mapped[datetime] = mapped_column(Timestamp)
    last_used_at: Mapped[datetime] = mapped_column(Timestamp)


class SignInAttempt(Base):
    """A sign-in of one browser. The cookie holds the token, the row its hash.

    After the return from the provider, the row of an unknown identity waits for the person's
    consent: to be linked to ``user_id``, or to become a new person.
    """

    __tablename__ = "sign_in_attempts"
    __table_args__ = (
        Index(None, "user_id"),
        Index(None, "expires_at"),
        Index(None, "link_hash", unique=True),
    )

    token_hash: Mapped[str] = mapped_column(Hash, primary_key=True)
    target: Mapped[str] = mapped_column(Text)  # the path of the page to show afterwards
    # The person to link the identity to: the signed-in one, or the one with its address.
    user_id: Mapped[str | None] = foreign_key("users.id")
    returned_at: Mapped[datetime | None] = mapped_column(Timestamp)  # from the provider
    issuer: Mapped[str | None] = mapped_column(String(500))
    subject: Mapped[str | None] = mapped_column(String(255))
    email: Mapped[str | None] = mapped_column(String(254))
    name: Mapped[str | None] = mapped_column(String(200))
    link_hash: Mapped[str | None] = mapped_column(Hash)  # hash of the link mailed to ``user_id``
    created_at: Mapped[datetime] = mapped_column(Timestamp)
    expires_at: Mapped[datetime] = mapped_column(Timestamp)
