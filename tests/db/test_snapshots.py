"""What is shown of the address of a database."""

from __future__ import annotations

from sqlalchemy import make_url

from app.db.snapshots import shown_url


def test_no_password_is_shown() -> None:
    url = make_url(
        "postgresql://woods:one@db.example/w?password=two&sslpassword=three&sslmode=require"
    )
    assert shown_url(url) == "postgresql://woods:***@db.example/w?sslmode=require"
