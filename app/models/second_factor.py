"""The second factor of people, and pending sign-ins."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import BigInteger, ForeignKey, Index, LargeBinary, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from app.db.column_types import Base, Hash, Key, Timestamp, foreign_key


class Authenticator(Base):
    """A person's authenticator app, with the secret of its codes."""

    __tablename__ = "authenticators"

    user_id: Mapped[str] = foreign_key("users.id", primary_key=True)
    sealed_secret: Mapped[str] = mapped_column(Text)
    last_step: Mapped[int] = mapped_column(BigInteger)  # time step of the last accepted code
    created_at: Mapped[datetime] = mapped_column(Timestamp)


class RecoveryCode(Base):
    """A code for a lost second factor. A used one stays until there are new ones."""

    __tablename__ = "recovery_codes"
    __table_args__ = (Index(None, "user_id"),)

    code_hash: Mapped[str] = mapped_column(Hash, primary_key=True)
    user_id: Mapped[str] = foreign_key("users.id")
    created_at: Mapped[datetime] = mapped_column(Timestamp)
    used_at: Mapped[datetime | None] = mapped_column(Timestamp)


class Passkey(Base):
    """A person's passkey, with its public key."""

    __tablename__ = "passkeys"
    __table_args__ = (Index(None, "user_id"),)

    id: Mapped[str] = mapped_column(Key, primary_key=True)
    user_id: Mapped[str] = foreign_key("users.id")
    name: Mapped[str] = mapped_column(String(64))
    credential_id: Mapped[str] = mapped_column(Text, unique=True)  # base64url
    public_key: Mapped[bytes] = mapped_column(LargeBinary)  # COSE
    sign_count: Mapped[int] = mapped_column(BigInteger)
    transports: Mapped[str] = mapped_column(String(200))  # hints for browsers, by spaces
    created_at: Mapped[datetime] = mapped_column(Timestamp)
    last_used_at: Mapped[datetime | None] = mapped_column(Timestamp)


class PendingSignIn(Base):
    """A sign-in after the right password that waits for the second factor. The browser's cookie
    holds the token, the row its hash; the row is deleted with its use."""

    __tablename__ = "pending_sign_ins"
    __table_args__ = (
        Index(None, "user_id"),
        Index(None, "current_account_id"),
        Index(None, "expires_at"),
    )

    token_hash: Mapped[str] = mapped_column(Hash, primary_key=True)
    user_id: Mapped[str] = foreign_key("users.id")
    # The account that the session will work in, if the person still belongs to it.
    current_account_id: Mapped[str | None] = mapped_column(
        Key, ForeignKey("accounts.id", ondelete="SET NULL")
    )
    target: Mapped[str] = mapped_column(Text)  # the path that follows
    created_at: Mapped[datetime] = mapped_column(Timestamp)
    expires_at: Mapped[datetime] = mapped_column(Timestamp)


class UsedChallenge(Base):
    """A challenge that a passkey has signed, which cannot be used again."""

    __tablename__ = "used_challenges"
    __table_args__ = (Index(None, "used_at"),)

    challenge_hash: Mapped[str] = mapped_column(Hash, primary_key=True)
    used_at: Mapped[datetime] = mapped_column(Timestamp)
