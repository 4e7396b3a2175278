"""Signatures with a time."""

from __future__ import annotations

import pytest
from itsdangerous import BadSignature, SignatureExpired, TimestampSigner

from app.security.timed_signer import TimedSigner

NOW = 1_800_000_000
signer = TimedSigner("a key")


@pytest.fixture
def signed(monkeypatch: pytest.MonkeyPatch) -> str:
    """A value that was signed at NOW."""
    monkeypatch.setattr(TimestampSigner, "get_timestamp", lambda _: NOW)
    return signer.sign("value").decode()


@pytest.mark.parametrize("later", [-5, 0, 60])
def test_a_valid_signature(signed: str, later: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TimestampSigner, "get_timestamp", lambda _: NOW + later)
    assert signer.unsign(signed, max_age=60) == b"value"
    assert signer.unsign(signed, return_timestamp=True)[1].timestamp() == NOW


def test_an_old_signature(signed: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TimestampSigner, "get_timestamp", lambda _: NOW + 61)
    with pytest.raises(SignatureExpired):
        signer.unsign(signed, max_age=60)


def test_a_forged_signature(signed: str) -> None:
    with pytest.raises(BadSignature):
        signer.unsign(signed.replace("value", "other"), max_age=60)
