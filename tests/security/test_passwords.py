"""Hashing passwords, a few at a time."""

from __future__ import annotations

from pathlib import Path
from threading import BoundedSemaphore, Thread

from app.security.passwords import Passwords
from config import load_settings


def test_who_waits_to_hash_holds_no_slot(tmp_path: Path) -> None:
    """Else two sign-ins with unknown addresses could wait for each other for ever: the first of a
    process makes the hash that their passwords are compared with."""
    cheap = {"PASSWORD_TIME_COST": "1", "PASSWORD_MEMORY_KIB": "8192"}
    passwords = Passwords(load_settings({"INSTANCE_PATH": str(tmp_path), **cheap}))
    passwords.slots = BoundedSemaphore(1)
    attempt = Thread(target=passwords.verify, args=(None, "wrong horse"), daemon=True)
    attempt.start()
    attempt.join(60)
    assert not attempt.is_alive()
    assert passwords.verify(passwords.hash("correct horse"), "correct horse")
