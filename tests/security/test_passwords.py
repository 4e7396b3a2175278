"""Hashing passwords in turns, and how easily one is guessed."""

from __future__ import annotations

from pathlib import Path
from threading import BoundedSemaphore, Thread

from app.security.passwords import Passwords, password_problem
from config import load_settings
from tests.processor_time import is_within, seconds_taken


def test_who_waits_to_hash_holds_no_turn(tmp_path: Path) -> None:
    """Else two sign-ins with unknown addresses could wait for each other for ever: the first of a
    process makes the hash that their passwords are compared with."""
    cheap = {"PASSWORD_TIME_COST": "1", "PASSWORD_MEMORY_KIB": "8192"}
    turns = BoundedSemaphore(1)
    settings = load_settings({"INSTANCE_PATH": str(tmp_path), **cheap})
    passwords = Passwords(settings)
    passwords.turn = lambda: turns
    attempt = Thread(target=passwords.verify, args=(None, "wrong horse"), daemon=True)
    attempt.start()
    attempt.join(60)
    assert not attempt.is_alive()
    assert passwords.verify(passwords.hash("correct horse"), "correct horse")


def test_no_password_takes_long_to_score() -> None:
    password = "($+23%@4|!81056[!m{7k<9b"
    assert password_problem(password) is None
    assert is_within(seconds_taken(lambda: password_problem(password)), 0.1)


def test_a_known_password_with_other_signs_is_easy_to_guess() -> None:
    for password in ("p4$$w0rd1234", "1qaz2wsx3edc", "aaaaaaaaaaaa"):
        assert password_problem(password) is not None, password
