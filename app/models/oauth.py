"""OAuth applications, consents, authorizations and tokens."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import JSON, CheckConstraint, ForeignKeyConstraint, Index, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from app.db.column_types import Base, Hash, Key, Timestamp, foreign_key, partial_index


class OAuthApplication(Base):
    """A client of the OAuth server, registered by an account. Its id is its ``client_id``."""

    __tablename__ = "oauth_applications"
    __table_args__ = (Index(None, "account_id", "id"),)

    id: Mapped[str] = mapped_column(Key, primary_key=True)
    account_id: Mapped[str] = foreign_key("accounts.id")
    name: Mapped[str] = mapped_column(String(200))
    redirect_uris: Mapped[list[str]] = mapped_column(JSON)
    scopes: Mapped[list[str]] = mapped_column(JSON)  # that it may request
    secret_hash: Mapped[str | None] = mapped_column(Hash)  # None: a public client
    # After a rotation, the one before is accepted until then.
    former_secret_hash: Mapped[str | None] = mapped_column(Hash)
    former_secret_until: Mapped[datetime | None] = mapped_column(Timestamp)
    created_at: Mapped[datetime] = mapped_column(Timestamp)
    updated_at: Mapped[datetime] = mapped_column(Timestamp)


class OAuthConsent(Base):
    """The scopes that a person has granted to an application in an account, until revoked."""

    __tablename__ = "oauth_consents"
    __table_args__ = (
        ForeignKeyConstraint(
            ["account_id", "user_id"],
            ["memberships.account_id", "memberships.user_id"],
            name="fk_oauth_consents_membership",
            ondelete="CASCADE",
        ),
        Index(None, "user_id"),
        Index(None, "application_id"),
    )

    account_id: Mapped[str] = mapped_column(Key, primary_key=True)
    user_id: Mapped[str] = mapped_column(Key, primary_key=True)
    application_id: Mapped[str] = foreign_key("oauth_applications.id", primary_key=True)
    scopes: Mapped[list[str]] = mapped_column(JSON)
    # The application's URIs that the person was asked about.
    redirect_uris: Mapped[list[str]] = mapped_column(JSON, default=list)
    created_at: Mapped[datetime] = mapped_column(Timestamp)
    updated_at: Mapped[datetime] = mapped_column(Timestamp)


class OAuthAuthorization(Base):
    """One grant: its code, and the family of all tokens issued from it.

    Setting ``revoked_at`` revokes the whole family.
    """

    __tablename__ = "oauth_authorizations"
    __table_args__ = (
        ForeignKeyConstraint(
            ["account_id", "user_id", "application_id"],
            [
                "oauth_consents.account_id",
                "oauth_consents.user_id",
                "oauth_consents.application_id",
            ],
            name="fk_oauth_authorizations_consent",
            ondelete="CASCADE",
        ),
        Index(None, "account_id", "user_id", "application_id"),
        Index(None, "ends_at"),
    )

    id: Mapped[str] = mapped_column(Key, primary_key=True)
    account_id: Mapped[str] = mapped_column(Key)
    user_id: Mapped[str] = mapped_column(Key)
    application_id: Mapped[str] = mapped_column(Key)
    scopes: Mapped[list[str]] = mapped_column(JSON)
    code_hash: Mapped[str] = mapped_column(Hash, unique=True)
    redirect_uri: Mapped[str] = mapped_column(Text)
    code_challenge: Mapped[str | None] = mapped_column(String(128))  # S256
    code_expires_at: Mapped[datetime] = mapped_column(Timestamp)
    code_used_at: Mapped[datetime | None] = mapped_column(Timestamp)
    last_used_at: Mapped[datetime | None] = mapped_column(Timestamp)
    ends_at: Mapped[datetime] = mapped_column(Timestamp)  # not extended by refreshing
    revoked_at: Mapped[datetime | None] = mapped_column(Timestamp)
    created_at: Mapped[datetime] = mapped_column(Timestamp)


class OAuthToken(Base):
    """An access token or a refresh token.

    It is looked up together with its authorization, and is invalid without it. A job deletes it
    then (``app.oauth.jobs``), not a foreign key, as a family can have very many tokens.
    """

    __tablename__ = "oauth_tokens"
    __table_args__ = (
        CheckConstraint("kind IN ('access', 'refresh')", name="kind"),
        Index(None, "authorization_id", "created_at"),
        # Stored responses are wiped after seconds, so there are few.
        partial_index(
            "ix_oauth_tokens_sealed",
            "authorization_id",
            "used_at",
            where="sealed_successor IS NOT NULL",
        ),
        Index(None, "expires_at"),
    )

    token_hash: Mapped[str] = mapped_column(Hash, primary_key=True)
    authorization_id: Mapped[str] = mapped_column(Key)
    kind: Mapped[str] = mapped_column(String(10))
    scopes: Mapped[list[str]] = mapped_column(JSON)
    created_at: Mapped[datetime] = mapped_column(Timestamp)
    expires_at: Mapped[datetime] = mapped_column(Timestamp)
    revoked_at: Mapped[datetime | None] = mapped_column(Timestamp)
    used_at: Mapped[datetime | None] = mapped_column(Timestamp)  # the first use of an access token
    # The encrypted response for repeats of a refresh within the grace period.
    sealed_successor: Mapped[str | None] = mapped_column(Text)
